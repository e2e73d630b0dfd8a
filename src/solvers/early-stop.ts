import type { Objective } from './objective/objective.ts';
import type { Measured } from './test-error.ts';

/**
 * Saves the point that did best on the test rows, of equals the first, and counts measurements
 * since. A function of numbers alone, never of time: the same on any machine.
 */
export class EarlyStop {
  /** Where the best point is saved, laid out like all weights. */
  readonly weights: Float64Array;
  readonly #limit: number;
  readonly #objective: Objective;
  /** What was measured at the best point, once there is one. */
  best: Measured | undefined;
  #since = 0;

  /** `limit`: measurements in a row without progress after which the run ends. */
  constructor(limit: number, weights: Float64Array, objective: Objective) {
    this.#limit = limit;
    this.weights = weights;
    this.#objective = objective;
  }

  /** Whether the last N measurements were no better than the best one. */
  get exhausted(): boolean {
    return this.#since >= this.#limit;
  }

  /** Takes what was measured at a new point. */
  note(measured: Measured, weights: Float64Array): void {
    if (this.best && !(measured.error < this.best.error)) {
      this.#since++;
      return;
    }
    this.best = measured;
    this.#since = 0;
    this.#objective.copyColumns(weights, this.weights);
  }

  save() {
    return { best: this.best ?? null, since: this.#since };
  }

  restore(saved: ReturnType<EarlyStop['save']>): void {
    this.best = saved.best ?? undefined;
    this.#since = saved.since;
  }
}
