import { relativeGap } from '../objective/objective.ts';
import type { Method, Workplace } from './method.ts';
import { Schedule } from './schedule.ts';

export interface Limits {
  readonly tolerance: number;
  readonly epochs: number;
  /** Seconds, Infinity for none. */
  readonly time: number;
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
  readonly testError?: number;
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
 * point in `best` and the best lower bound: neither solver improves both in every epoch, and each
 * of the two is valid on its own. Called by every thread of the team.
 */
export function drive(
  place: Workplace,
  method: Method,
  limits: Limits,
  best: Float64Array,
  measureTest: ((weights: Float64Array) => number) | undefined,
  report: (progress: Progress) => void,
): Outcome {
  const { team, objective } = place;
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const schedule = new Schedule(limits.tolerance);
  let primal = Infinity;
  let dual = -Infinity;
  let testError: number | undefined;
  const atZero = objective.primalAtZero();
  const gap = () => relativeGap({ primal, dual }, atZero);
  const evaluate = (epoch: number, whole: boolean) => {
    const found = method.evaluate(whole);
    if (Number.isNaN(found.primal) || (whole && found.primal === Infinity)) {
      throw new Error(
        `the objective is no longer finite after epoch ${epoch}: a smaller step size (dso) or features of a smaller scale may help`,
      );
    }
    dual = Math.max(dual, found.dual);
    if (found.primal < primal) {
      primal = found.primal;
      keepBest(place, method, best);
      testError = measureTest?.(best);
    }
    if (whole) schedule.note(epoch, gap());
  };
  /** Only a gap that is recomputed from scratch may go into a certificate. */
  const certify = () => {
    primal = objective.primalOf(best);
    dual = method.certify(dual);
  };
  for (let epoch = 1; ; epoch++) {
    method.epoch();
    evaluate(epoch, schedule.isDue(epoch));
    if (gap() <= limits.tolerance) certify();
    const converged = gap() <= limits.tolerance;
    const decision = team.fromFirst(() => {
      report({
        epoch,
        seconds: seconds(),
        passes: method.passes,
        primal,
        dual,
        relativeGap: gap(),
        ...(testError !== undefined && { testError }),
      });
      if (converged) return 0;
      if (team.interrupted) return 3;
      if (epoch >= limits.epochs) return 1;
      return seconds() >= limits.time ? 2 : goOn;
    });
    if (decision === goOn) continue;
    if (!converged) {
      evaluate(epoch, true);
      certify();
    }
    return {
      epochs: epoch,
      passes: method.passes,
      primal,
      dual,
      relativeGap: gap(),
      stopped: stops[decision],
      seconds: seconds(),
    };
  }
}

function keepBest({ team, objective }: Workplace, method: Method, best: Float64Array): void {
  for (let block = team.first; block < team.end; block++) {
    objective.columnsOf(best, block).set(objective.columnsOf(method.weights, block));
  }
  team.barrier();
}
