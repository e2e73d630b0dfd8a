import type { Run } from './comparison.ts';

/** A run and its place among those on the same problem. */
export interface Standing {
  readonly run: Run;
  /** From 1; none for a run that was refused, failed or was interrupted. */
  readonly rank?: number;
  /** Seconds of training until the tolerance was reached, if it was. */
  readonly reached?: number;
}

/** The rule of `rankRuns`, for whoever shows its result. */
export const rankingRule =
  'Solvers that reached the tolerance come first, the quickest at the top; the others follow by ' +
  'their objective, the least first.';

export function rankRuns(runs: readonly Run[], tolerance: number): Standing[] {
  const standings = runs.map((run): Standing => {
    const reached = secondsToTolerance(run, tolerance);
    return reached === undefined ? { run } : { run, reached };
  });
  const isRanked = ({ run }: Standing) => run.state === 'finished';
  const ranked = standings.filter(isRanked).toSorted(byMerit);
  const others = standings.filter((standing) => !isRanked(standing));
  return [...ranked.map((standing, index) => ({ ...standing, rank: index + 1 })), ...others];
}

/** The first event within the tolerance, of a run whose final certificate is within it too. */
function secondsToTolerance({ report, events }: Run, tolerance: number): number | undefined {
  if (report === undefined || !(report.relativeGap <= tolerance)) return undefined;
  return events.find((event) => event.relativeGap <= tolerance)?.seconds;
}

function byMerit(a: Standing, b: Standing): number {
  if (a.reached !== undefined || b.reached !== undefined) {
    return compareNumbers(a.reached ?? Infinity, b.reached ?? Infinity);
  }
  const [first, second] = [a.run.report!, b.run.report!];
  // Each has proved a bound of its own; what they reached is what can be compared.
  return (
    compareNumbers(first.primal, second.primal) ||
    compareNumbers(first.relativeGap, second.relativeGap)
  );
}

/** Also for infinities, whose difference is not a number. */
function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
