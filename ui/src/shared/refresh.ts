/** Milliseconds from one redraw for new lines to the next: at least, and at most. */
const shortest = 250;
const longest = 5000;
/** The part of one core that the page's own thread may spend on redrawing. */
const share = 0.01;
/**
 * While all cores train and nobody touches the page: the part of all cores, and how much a redraw
 * costs in all threads of a browser without a graphics card, as a multiple of the page's own.
 */
const calmShare = 0.002;
const whole = 2;

/**
 * How often the page is brought up to date. Where drawing is slow, because there is no graphics card
 * or because all cores train, it is done less often.
 */
export class Pace {
  readonly #cores: number;
  #cost = 0;

  /** Of the machine that the page is on. */
  constructor(cores: number) {
    this.#cores = cores;
  }

  /** A redraw took so many milliseconds; a slow one by chance is soon forgotten. */
  note(cost: number): void {
    this.#cost = (this.#cost + Math.min(cost, longest * share)) / 2;
  }

  /** Milliseconds to the next redraw; calm: every core trains, and nobody waits for news. */
  interval(calm: boolean): number {
    const wanted = calm ? (whole * this.#cost) / (calmShare * this.#cores) : this.#cost / share;
    return Math.min(longest, Math.max(shortest, wanted));
  }
}
