import type { Problem, Run } from '../../src/train/compare/comparison.ts';
import type { EpochEvent } from '../../src/train/events.ts';

/** What it took to get somewhere; undefined: never seen there. */
export interface Cost {
  readonly epochs: number;
  readonly passes: number;
  readonly seconds: number;
}

/** The cost at the first event that is good enough. */
export function costUntil(run: Run, isEnough: (event: EpochEvent) => boolean): Cost | undefined {
  const found = run.events.find(isEnough);
  return found && { epochs: found.epoch, passes: found.passes, seconds: found.seconds };
}

export function lastEvent(run: Run): EpochEvent | undefined {
  return run.events.at(-1);
}

/** What the solvers of one problem are measured against. */
export interface Goals {
  /** The least P that any of them has found. */
  readonly best: number;
  /** Within one per cent of it. */
  readonly primal: number;
  /** The test error of whoever has that P; undefined without test rows. */
  readonly bestError: number | undefined;
  /** Within two per cent, and one row, of it. */
  readonly error: number | undefined;
}

const primalSlack = 1.01;
const errorSlack = 1.02;

export function goalsOf({ runs }: Problem, testRows: number): Goals | undefined {
  const ends = runs.flatMap((run) => lastEvent(run) ?? []);
  if (ends.length === 0) return undefined;
  const { primal: best, testError } = ends.reduce((a, b) => (b.primal < a.primal ? b : a));
  const error = testError === undefined ? undefined : testError * errorSlack + 1 / testRows;
  return { best, primal: best * primalSlack, bestError: testError, error };
}

/** The test error that a run had at a moment: that of its last event until then. */
export function errorAt(run: Run, by: 'epoch' | 'seconds', moment: number): number | undefined {
  return run.events.findLast((event) => event[by] <= moment)?.testError;
}

export function costUntilPrimal(run: Run, goals: Goals): Cost | undefined {
  return costUntil(run, ({ primal }) => primal <= goals.primal);
}

export function costUntilError(run: Run, { error }: Goals): Cost | undefined {
  if (error === undefined) return undefined;
  return costUntil(run, ({ testError }) => testError !== undefined && testError <= error);
}
