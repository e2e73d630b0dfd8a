import type { RunLine, RunStatus, RunSummary } from '../../src/runs/record.ts';

/** How a run stands, in one word. */
export type Standing = 'running' | 'converged' | 'stopped' | 'done' | 'failed' | 'lost';

export function standingOf({ status, result }: RunSummary): Standing {
  if (status !== 'done') return status;
  if (result?.stopped === 'converged') return 'converged';
  return result?.stopped === undefined || result.stopped === 'stream' ? 'done' : 'stopped';
}

/** The summary after some lines more. */
export function withLines(summary: RunSummary, lines: readonly RunLine[]): RunSummary {
  return lines.reduce(withLine, summary);
}

function withLine(summary: RunSummary, line: RunLine): RunSummary {
  switch (line.event) {
    case 'begin':
      return { ...summary, begin: line };
    case 'epoch':
      return isNewer(summary, line.vector, line.epoch) ? { ...summary, latest: line } : summary;
    case 'report':
      return { ...summary, report: line };
    case 'result':
      return { ...summary, result: line, status: 'done' satisfies RunStatus };
    case 'failure':
      return { ...summary, failure: line, status: 'failed' satisfies RunStatus };
    default:
      return summary;
  }
}

/** Vectors may be trained side by side. */
function isNewer({ latest }: RunSummary, vector = 0, epoch: number): boolean {
  return !latest || vector !== (latest.vector ?? 0) || epoch > latest.epoch;
}

/** The gap of a run: at its end that of all its vectors, which none of them can stand in for. */
export function gapOf({ latest, result }: RunSummary): number | undefined {
  return (result && 'relativeGap' in result ? result : latest)?.relativeGap ?? undefined;
}

export function solverOf({ begin, result, start }: RunSummary): string {
  const asked = start.options.solver;
  return begin?.solver ?? result?.solver ?? (typeof asked === 'string' ? asked : 'auto');
}

export function lambdaOf({ begin, result }: RunSummary): number | undefined {
  return begin?.lambda ?? result?.lambda;
}

/** The last part of a path, without what a file name adds. */
export function dataName({ start }: RunSummary): string {
  return (
    start.data
      .replace(/[\\/]+$/, '')
      .split(/[\\/]/)
      .at(-1) || start.data
  );
}

/** The end of an ID, which tells runs apart that are alike otherwise. */
export function shortId(id: string): string {
  return id.split('-').at(-1)!;
}

/** Whether all words of a filter occur in what a list shows of a run. */
export function matches(summary: RunSummary, filter: string): boolean {
  const { id, start } = summary;
  const lambda = lambdaOf(summary);
  const text = [id, start.data, start.model, start.loss, start.penalty, solverOf(summary)]
    .concat(standingOf(summary), lambda === undefined ? '' : String(lambda))
    .join(' ')
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The run to begin with: the one of the server's process, a running one, or the newest. */
export function firstChoice(
  runs: readonly RunSummary[],
  own: string | undefined,
): string | undefined {
  const chosen =
    runs.find(({ id }) => id === own) ?? runs.find(({ status }) => status === 'running') ?? runs[0];
  return chosen?.id;
}

/** Inserts or replaces; newest first, as IDs sort by time. */
export function withRun(runs: readonly RunSummary[], run: RunSummary): RunSummary[] {
  const place = runs.findIndex(({ id }) => id === run.id);
  if (place >= 0) return runs.with(place, run);
  const after = runs.findIndex(({ id }) => id < run.id);
  return runs.toSpliced(after < 0 ? runs.length : after, 0, run);
}
