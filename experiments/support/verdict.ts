import type { Run } from '../../src/train/compare/comparison.ts';
import type { Round } from './contest.ts';
import { duration } from './duration.ts';
import type { Verdict } from './experiment.ts';
import { type Cost, costUntilError, costUntilPrimal, errorAt, lastEvent } from './progress.ts';

/** True in every case, in some, in none; undefined cases do not count. */
export function combine(cases: readonly (boolean | undefined)[]): Verdict {
  const known = cases.filter((one) => one !== undefined);
  if (known.length === 0) return 'not measured';
  if (known.every(Boolean)) return 'holds';
  return known.some(Boolean) ? 'partly holds' : 'does not hold';
}

export function runOf({ problem }: Round, solver: string): Run | undefined {
  return problem.runs.find((run) => run.solver === solver && run.events.length > 0);
}

/** Two solvers on their way to the same goal. */
export interface Race {
  readonly text: string;
  /** Cost of the first over that of the second; 0 or Infinity if only one reached it. */
  readonly epochs: number;
  readonly seconds: number;
}

function ratio(a: number | undefined, b: number | undefined): number {
  if (a === undefined) return b === undefined ? Number.NaN : Infinity;
  return b === undefined ? 0 : a / b;
}

function costText(solver: string, cost: Cost | undefined): string {
  if (!cost) return `${solver} did not reach it in time`;
  return `${solver} ${cost.epochs} epochs, ${duration(cost.seconds)}`;
}

/** Undefined if one of them did not run or neither reached it. */
export function race(
  round: Round,
  first: string,
  second: string,
  goal: 'primal' | 'error',
): Race | undefined {
  const runs = [runOf(round, first), runOf(round, second)];
  if (!runs[0] || !runs[1]) return undefined;
  const until = goal === 'primal' ? costUntilPrimal : costUntilError;
  const a = until(runs[0], round.goals);
  const b = until(runs[1], round.goals);
  const problem = `${round.sample}, ${round.title}`;
  const text = `${problem}: ${costText(first, a)}; ${costText(second, b)}`;
  if (!a && !b) return undefined;
  return { text, epochs: ratio(a?.epochs, b?.epochs), seconds: ratio(a?.seconds, b?.seconds) };
}

/** Iterations that the paper's figure shows. */
const shownIterations = 40;

/** Two curves of test error, compared by their means over the same moments. */
export interface Duel {
  readonly text: string;
  /** Mean error of the first over that of the second. */
  readonly epochs: number;
  readonly seconds: number;
}

/** Over iterations 1 to 40, and over as many moments of the time that both were running. */
export function duel(round: Round, first: string, second: string): Duel | undefined {
  const [a, b] = [runOf(round, first), runOf(round, second)];
  if (!a || !b) return undefined;
  const count = Math.min(shownIterations, Math.max(a.events.length, b.events.length));
  const iterations = Array.from({ length: count }, (_, k) => k + 1);
  const from = Math.max(a.events[0].seconds, b.events[0].seconds);
  const to = Math.max(from, Math.min(lastEvent(a)!.seconds, lastEvent(b)!.seconds));
  const times = iterations.map((k) => from + ((to - from) * k) / count);
  const mean = (run: Run, by: 'epoch' | 'seconds', moments: readonly number[]) =>
    moments.reduce((sum, moment) => sum + (errorAt(run, by, moment) ?? 1), 0) / moments.length;
  const means = [a, b].map((run) => [mean(run, 'epoch', iterations), mean(run, 'seconds', times)]);
  const per = (value: number) => `${(100 * value).toFixed(2)} %`;
  return {
    text:
      `${round.sample}, ${round.title}: ${per(means[0][0])} / ${per(means[1][0])} by iterations, ` +
      `${per(means[0][1])} / ${per(means[1][1])} by time`,
    epochs: means[0][0] / means[1][0],
    seconds: means[0][1] / means[1][1],
  };
}

/** Where a solver ended: P above the best in per cent, and the test error. */
export function endText(round: Round, solver: string): string {
  const run = runOf(round, solver);
  const last = run && lastEvent(run);
  if (!last) return `${solver} did not run`;
  const error =
    last.testError === undefined ? '' : `, error ${(100 * last.testError).toFixed(2)} %`;
  return `${solver} P +${(100 * excess(round, solver)!).toFixed(2)} %${error}`;
}

/** P of a solver's end over the best P, minus 1. */
export function excess(round: Round, solver: string): number | undefined {
  const run = runOf(round, solver);
  const last = run && lastEvent(run);
  return last && last.primal / round.goals.best - 1;
}
