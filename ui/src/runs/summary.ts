import { describeEnd } from '../../../src/cli/run-words.ts';
import { dataName, solverName } from '../../../src/reporting/records/labels.ts';
import type { RunLine, RunStatus, RunSummary } from '../../../src/reporting/records/record.ts';
import { newestFirst } from '../../../src/runs/order.ts';

/** The limit on epochs that holds when nobody has set one. */
export const usualEpochs = 10_000;

/** How a run stands, in the words that the terminal has too. */
export function standingOf(run: RunSummary): string {
  return describeEnd(run);
}

/** going: not yet; good: it ended as it was meant to; cut: a limit or a person ended it; bad. */
export type Tone = 'going' | 'good' | 'cut' | 'bad';

export function toneOf({ status, result }: RunSummary): Tone {
  if (status !== 'done') return status === 'running' ? 'going' : 'bad';
  const stopped = result?.stopped;
  return stopped === 'converged' || stopped === 'early-stop' || stopped === 'stream'
    ? 'good'
    : 'cut';
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

/** Vectors of weights: 1, or one for each class. */
export function vectorsOf({ begin }: RunSummary): number {
  return begin?.vectors ?? 1;
}

/** Whether rows arrive one after the other: there are reports, and no epochs. */
export function isStream({ start, report, latest }: RunSummary): boolean {
  return start.options.progressive === true || (report !== undefined && latest === undefined);
}

/** The gap of a run; of several vectors only at the end, as none of them stands for the others. */
export function gapOf(run: RunSummary): number | undefined {
  const { latest, result } = run;
  if (result && 'relativeGap' in result) return result.relativeGap ?? undefined;
  return vectorsOf(run) > 1 ? undefined : (latest?.relativeGap ?? undefined);
}

export function lambdaOf({ begin, result }: RunSummary): number | undefined {
  return begin?.lambda ?? result?.lambda;
}

/** Whether all words of a filter occur in what a list shows of a run. */
export function matches(summary: RunSummary, filter: string): boolean {
  const { id, start } = summary;
  const lambda = lambdaOf(summary);
  const text = [id, start.name ?? '', start.data, start.model, start.loss, start.penalty]
    .concat(solverName(summary), standingOf(summary), lambda === undefined ? '' : String(lambda))
    .join(' ')
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** What stands for a run in a list of its own: its name, the data, or the solver if that is all. */
export function nameOf(run: RunSummary, isSameData = false): string {
  return run.start.name ?? (isSameData ? solverName(run) : dataName(run));
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

/** Inserts or replaces; newest first. */
export function withRun(runs: readonly RunSummary[], run: RunSummary): RunSummary[] {
  const place = runs.findIndex(({ id }) => id === run.id);
  if (place >= 0) return runs.with(place, run);
  const after = runs.findIndex((other) => newestFirst(other, run) > 0);
  return runs.toSpliced(after < 0 ? runs.length : after, 0, run);
}
