import {
  dataName,
  newestFirst,
  solverName,
  statusText,
} from '../../../src/reporting/records/labels.ts';
import {
  endOf,
  type RunLine,
  type RunSummary,
  withLine,
} from '../../../src/reporting/records/record.ts';

/** The default limit on epochs. */
export const defaultEpochs = 10_000;

/** going: not yet; good: it ended as it was meant to; cut: a limit or a person ended it; bad. */
export type Tone = 'going' | 'good' | 'cut' | 'bad';

export function toneOf({ status, result }: RunSummary): Tone {
  if (status !== 'done') return status === 'running' ? 'going' : 'bad';
  const stopped = result?.stopped;
  return stopped === 'converged' || stopped === 'early-stop' || stopped === 'stream'
    ? 'good'
    : 'cut';
}

/** The summary after some more lines; some may have come before. */
export function withLines(summary: RunSummary, lines: readonly RunLine[]): RunSummary {
  const after = lines.reduce(
    (before, line) => (isNews(before, line) ? withLine(before, line) : before),
    summary,
  );
  const status = endOf(after) ?? after.status;
  return status === after.status ? after : { ...after, status };
}

/** Vectors may be trained in parallel. */
function isNews({ latest }: RunSummary, line: RunLine): boolean {
  if (line.event !== 'epoch' || !latest) return true;
  return (line.vector ?? 0) !== (latest.vector ?? 0) || line.epoch > latest.epoch;
}

/** Vectors of weights: 1, or one for each class. */
export function vectorsOf({ begin }: RunSummary): number {
  return begin?.vectors ?? 1;
}

/** Whether rows arrive one after the other: there are reports, and no epochs. */
export function isStream({ start, report, latest }: RunSummary): boolean {
  return start.options.progressive === true || (report !== undefined && latest === undefined);
}

/** The gap of a run; of several vectors only at the end, as none of them represents the others. */
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
    .concat(solverName(summary), statusText(summary), lambda === undefined ? '' : String(lambda))
    .join(' ')
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The heading of a run: its name, the data, or the solver if that is all. */
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
  const index = runs.findIndex(({ id }) => id === run.id);
  if (index >= 0) return runs.with(index, run);
  const after = runs.findIndex((other) => newestFirst(other, run) > 0);
  return runs.toSpliced(after < 0 ? runs.length : after, 0, run);
}

/** A class by its name, which is known at the end of a run, or by its number: "3 of 20". */
export function classNameOf(run: RunSummary | undefined, vector: number, vectors: number): string {
  const names = run?.result?.classes;
  return names?.length === vectors ? String(names[vector]) : `${vector + 1} of ${vectors}`;
}
