import { log } from '../math/elementary.ts';

/** Epochs from one evaluation to the next, at most. */
const longestWait = 5;
/** A gap is taken to be at most this share of the slack, more only of points that are far from the optimum. */
export const mostOfSlack = 0.5;

/**
 * When to pay for a whole evaluation. The gap falls about geometrically, so the epochs that remain
 * can be predicted from two evaluations; the next one is due when a third of them have passed, or
 * when the epochs since have done as much work as it takes. Where the method knows its slack, of which
 * the gap is a rather steady share, it waits until that promises the tolerance. A function of gaps,
 * slack and work alone, hence the same on any number of threads.
 */
export class EvaluationSchedule {
  readonly #tolerance: number;
  /**
   * The next evaluation; epoch, gap and work of the last one; and the gap as a share of the slack,
   * 0 where the gap has not fallen, since then it cannot be predicted.
   */
  #now = { due: 1, epoch: 0, gap: Infinity, passes: 0, ofSlack: mostOfSlack };

  constructor(tolerance: number) {
    this.#tolerance = tolerance;
  }

  /** `slack`: as a share of P, like gaps. */
  isDue(epoch: number, slack = 0): boolean {
    if (epoch < this.#now.due) return false;
    // Whoever watches learns soon what the weights are worth.
    if (this.#now.epoch === 0) return true;
    if (epoch >= this.#now.epoch + longestWait) return true;
    return this.#now.ofSlack * slack <= this.#tolerance;
  }

  /** After an evaluation; `passes` is the work done so far. */
  note(epoch: number, gap: number, passes: number, slack = 0): void {
    const work = (passes - this.#now.passes) / (epoch - this.#now.epoch);
    // An evaluation is a pass: where an epoch is less, several of them cost no more.
    const least = work > 0 ? Math.round(1 / work) : 1;
    const wait = Math.max(least, Math.floor(this.#remaining(epoch, gap) / 3));
    const due = epoch + Math.max(1, Math.min(longestWait, wait, Math.floor(epoch / 2)));
    const falls = gap < this.#now.gap;
    // Of rows that are at their optimum the slack is 0 but for rounding, which may be below.
    const share = slack > 0 ? Math.min(mostOfSlack, gap / slack) : mostOfSlack;
    const ofSlack = falls ? share : 0;
    this.#now = { due, epoch, gap, passes, ofSlack };
  }

  save() {
    return this.#now;
  }

  restore(saved: ReturnType<EvaluationSchedule['save']>): void {
    this.#now = saved;
  }

  /** Epochs until the gap meets the tolerance, at the rate since the last evaluation. */
  #remaining(epoch: number, gap: number): number {
    const ratio = gap / this.#now.gap;
    if (!(ratio > 0 && ratio < 1)) return 0;
    const rate = -log(ratio) / (epoch - this.#now.epoch);
    return gap > this.#tolerance ? log(gap / this.#tolerance) / rate : 0;
  }
}
