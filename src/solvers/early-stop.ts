import type { Workplace } from './method.ts';
import type { Measured } from './test-error.ts';

/**
 * Keeps the point that did best on the test rows, of equals the first, and counts measurements
 * since. A function of numbers alone, never of time: the same on any machine.
 */
export class EarlyStop {
  /** Where the best point is kept, laid out like all weights. */
  readonly weights: Float64Array;
  readonly #patience: number;
  readonly #place: Pick<Workplace, 'objective' | 'team'>;
  #best: Measured | undefined;
  #since = 0;

  constructor(
    patience: number,
    weights: Float64Array,
    place: Pick<Workplace, 'objective' | 'team'>,
  ) {
    this.#patience = patience;
    this.weights = weights;
    this.#place = place;
  }

  /** What was measured at the best point, once there is one. */
  get best(): Measured | undefined {
    return this.#best;
  }

  /** Whether so many measurements in a row were no better than the best one. */
  get exhausted(): boolean {
    return this.#since >= this.#patience;
  }

  /** Takes what was measured at a point that nobody measured before. */
  note(measured: Measured, weights: Float64Array): void {
    if (this.#best && !(measured.error < this.#best.error)) {
      this.#since++;
      return;
    }
    this.#best = measured;
    this.#since = 0;
    const { objective, team } = this.#place;
    for (let block = team.first; block < team.end; block++) {
      objective.columnsOf(this.weights, block).set(objective.columnsOf(weights, block));
    }
  }

  save() {
    return { best: this.#best ?? null, since: this.#since };
  }

  restore(saved: ReturnType<EarlyStop['save']>): void {
    this.#best = saved.best ?? undefined;
    this.#since = saved.since;
  }
}
