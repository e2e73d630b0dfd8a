import { log } from '../math/elementary.ts';

/**
 * When to pay for a whole evaluation. The gap falls about geometrically, so the epochs that remain
 * can be foretold from two evaluations; the next one is due when a third of them have passed,
 * or when the epochs since have done as much work as it takes. A function of gaps and work alone, hence the same on any number of threads.
 */
export class Schedule {
  readonly #tolerance: number;
  #due = 1;
  #epoch = 0;
  #gap = Infinity;
  #passes = 0;

  constructor(tolerance: number) {
    this.#tolerance = tolerance;
  }

  isDue(epoch: number): boolean {
    return epoch >= this.#due;
  }

  /** After an evaluation; `passes` is the work done so far. */
  note(epoch: number, gap: number, passes: number): void {
    const work = (passes - this.#passes) / (epoch - this.#epoch);
    // An evaluation is a pass: where an epoch is less, so many of them cost no more.
    const least = work > 0 ? Math.round(1 / work) : 1;
    const wait = Math.max(least, Math.floor(this.#remaining(epoch, gap) / 3));
    this.#due = epoch + Math.max(1, Math.min(longestWait, wait, Math.floor(epoch / 2)));
    this.#passes = passes;
    this.#epoch = epoch;
    this.#gap = gap;
  }

  save() {
    return { due: this.#due, epoch: this.#epoch, gap: this.#gap, passes: this.#passes };
  }

  restore(saved: ReturnType<Schedule['save']>): void {
    this.#due = saved.due;
    this.#epoch = saved.epoch;
    this.#gap = saved.gap;
    this.#passes = saved.passes;
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
