import { CompensatedSum } from '../math/sum.ts';

/** How well rows were predicted before they were learned. */
export interface ProgressiveReport {
  readonly rows: number;
  /** Mean loss of all rows so far, and of those since the last report; rows count by weight. */
  readonly loss: number;
  readonly recentLoss: number;
  /**
   * Classification: the share of rows whose class was not told; a score of 0 tells none. Regression:
   * the mean squared error.
   */
  readonly error: number;
  readonly recentError: number;
}

/** Adds up losses and errors, and tells when to report: after 1, 2, 4, 8 … rows or at intervals. */
export class ProgressiveSums {
  readonly #every: number | undefined;
  readonly #all = { loss: new CompensatedSum(), error: new CompensatedSum(), mass: 0 };
  #recent = freshSums();
  #rows = 0;
  #reported = 0;
  #next: number;

  constructor(every?: number) {
    this.#every = every;
    this.#next = every ?? 1;
  }

  /** Whether a report is due after this row. */
  add(loss: number, error: number, weight: number): boolean {
    for (const sums of [this.#all, this.#recent]) {
      sums.loss.add(weight * loss);
      sums.error.add(weight * error);
      sums.mass += weight;
    }
    this.#rows += 1;
    return this.#rows === this.#next;
  }

  /** Whether rows have come since the last report. */
  get hasNews(): boolean {
    return this.#rows > this.#reported;
  }

  /** All that is known; what follows counts as recent in the next report. */
  report(): ProgressiveReport {
    const mean = (sum: CompensatedSum, mass: number) => (mass > 0 ? sum.total / mass : 0);
    const [all, recent] = [this.#all, this.#recent];
    this.#recent = freshSums();
    this.#reported = this.#rows;
    if (this.#rows === this.#next) this.#next += this.#every ?? this.#next;
    return {
      rows: this.#rows,
      loss: mean(all.loss, all.mass),
      recentLoss: mean(recent.loss, recent.mass),
      error: mean(all.error, all.mass),
      recentError: mean(recent.error, recent.mass),
    };
  }
}

function freshSums() {
  return { loss: new CompensatedSum(), error: new CompensatedSum(), mass: 0 };
}
