import { log } from '../math/elementary.ts';

/**
 * When to pay for a whole evaluation. The gap falls about geometrically, so the epochs that remain
 * can be foretold from two evaluations; the next one is due when a third of them have passed. A
 * function of the gaps alone, hence the same on any number of threads.
 */
export class Schedule {
  readonly #tolerance: number;
  #due = 1;
  #epoch = 0;
  #gap = Infinity;

  constructor(tolerance: number) {
    this.#tolerance = tolerance;
  }

  isDue(epoch: number): boolean {
    return epoch >= this.#due;
  }

  note(epoch: number, gap: number): void {
    const wait = Math.floor(Math.min(this.#remaining(epoch, gap) / 3, epoch / 2));
    this.#due = epoch + Math.max(1, Math.min(longestWait, wait));
    this.#epoch = epoch;
    this.#gap = gap;
  }

  /** Epochs until the gap meets the tolerance, at the rate since the last evaluation. */
  #remaining(epoch: number, gap: number): number {
    const ratio = gap / this.#gap;
    if (!(ratio > 0 && ratio < 1)) return 0;
    const rate = -log(ratio) / (epoch - this.#epoch);
    return gap > this.#tolerance ? log(gap / this.#tolerance) / rate : 0;
  }
}

const longestWait = 5;
