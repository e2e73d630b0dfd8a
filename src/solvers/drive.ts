import type { Mixture } from '../objective/mixture.ts';
import { type Gap, relativeGap } from '../objective/objective.ts';
import type { Method, Workplace } from './method.ts';
import { Schedule } from './schedule.ts';
import type { Measured, TestMeasure } from './test-measure.ts';

export interface Limits {
  readonly tolerance: number;
  readonly epochs: number;
  /** Seconds, Infinity for none. */
  readonly time: number;
}

/** Limits, and the moment from which time counts. */
export interface Course extends Limits {
  readonly started: number;
}

export type Stop = 'converged' | 'epoch-limit' | 'time-limit' | 'interrupted';

/** What the first thread tells after every epoch. */
export interface Progress {
  readonly epoch: number;
  readonly seconds: number;
  readonly passes: number;
  readonly primal: number;
  readonly dual: number;
  readonly relativeGap: number;
  /** P and D of the last iterate that was evaluated, where primal and dual are the best so far. */
  readonly latest?: Gap;
  readonly testError?: number;
  readonly testAuprc?: number;
  /** Block visits in the order they began, worker · p + block, where a solver leaves it free. */
  readonly visits?: Int32Array;
}

export interface Outcome {
  readonly epochs: number;
  readonly passes: number;
  readonly primal: number;
  readonly dual: number;
  readonly relativeGap: number;
  readonly stopped: Stop;
  readonly seconds: number;
}

const stops: readonly Stop[] = ['converged', 'epoch-limit', 'time-limit', 'interrupted'];
const goOn = -1;

/**
 * Runs epochs until the certificate is good enough or a limit is reached. Keeps the best primal
 * point and the best lower bound: neither solver improves both in every epoch, and each of the two
 * is valid on its own. Called by every thread of the team.
 */
export function drive(
  place: Workplace,
  method: Method,
  limits: Course,
  best: Mixture,
  test: TestMeasure | undefined,
  report: (progress: Progress) => void,
): Outcome {
  const { team, objective } = place;
  // Nobody trains faster for being tested less often: the clock stands still meanwhile.
  let measuring = 0;
  const seconds = () => (performance.now() - limits.started - measuring) / 1000;
  const schedule = new Schedule(limits.tolerance);
  const atZero = objective.primalAtZero();
  let primal = atZero;
  let dual = -Infinity;
  let latest: Gap | undefined;
  let measured: Measured | undefined;
  const gap = () => relativeGap({ primal, dual }, atZero);
  const met = () => gap() <= limits.tolerance;
  const evaluate = (epoch: number, whole: boolean) => {
    const found = method.evaluate(whole);
    if (Number.isNaN(found.primal) || (whole && found.primal === Infinity)) {
      throw new Error(
        `the objective is no longer finite after epoch ${epoch}: a smaller step size (dso, sgd, psgd) or features of a smaller scale may help`,
      );
    }
    dual = Math.max(dual, found.dual);
    if (found.primal < Infinity) latest = found;
    const moved = found.primal < Infinity && keep(method, found.primal, primal, best);
    if (moved) primal = best.primal();
    if (test && (test.latest ? found.primal < Infinity : moved || !measured)) {
      const before = performance.now();
      measured = test.measure(test.latest ? method.weights : best.weights);
      measuring += performance.now() - before;
    }
    if (whole) schedule.note(epoch, gap(), method.passes);
  };
  /** Epochs to go when the tolerance has been met, −1 before. */
  let left = -1;
  for (let epoch = 1; ; epoch++) {
    method.epoch();
    const whole = left < 0 && schedule.isDue(epoch);
    evaluate(epoch, whole);
    if (left > 0) left--;
    else if (met()) left = method.polish;
    const limit = team.fromFirst(() => {
      if (team.interrupted) return 3;
      if (epoch >= limits.epochs) return 1;
      return seconds() >= limits.time ? 2 : goOn;
    });
    const ending = left === 0 || limit !== goOn;
    if (ending) {
      // Only a gap that is recomputed from scratch may go into a certificate.
      if (!whole) evaluate(epoch, true);
      primal = best.primalAfresh();
      dual = method.certify(dual);
      left = -1;
    }
    if (team.index === 0) {
      report({
        epoch,
        seconds: seconds(),
        passes: method.passes,
        primal,
        dual,
        relativeGap: gap(),
        ...(latest && { latest }),
        ...(measured && { testError: measured.error }),
        ...(measured?.auprc !== undefined && { testAuprc: measured.auprc }),
        ...(method.visits && { visits: method.visits.slice() }),
      });
    }
    if (ending && (met() || limit !== goOn)) {
      return {
        epochs: epoch,
        passes: method.passes,
        primal,
        dual,
        relativeGap: gap(),
        stopped: met() ? 'converged' : stops[limit],
        seconds: seconds(),
      };
    }
  }
}

/** Lets the best primal point profit from the current one; returns whether it has moved. */
function keep(method: Method, found: number, least: number, best: Mixture): boolean {
  if (method.mixes) return best.take(method.weights, method.margins) > 0;
  if (found >= least) return false;
  best.replace(method.weights, method.margins);
  return true;
}
