/** Milliseconds from one redraw for new lines to the next: at least, and at most. */
const shortest = 250;
const longest = 5000;
/** The part of its time that a page may spend on redrawing: who trains needs the cores more. */
const share = 0.01;

/**
 * How often the page is brought up to date. Where drawing is slow, because there is no graphics card
 * or because all cores train, it is done less often.
 */
export class Pace {
  #interval = shortest;

  get interval(): number {
    return this.#interval;
  }

  /** A redraw took so many milliseconds; a slow one by chance is soon forgotten. */
  note(cost: number): void {
    const wanted = Math.min(longest, Math.max(shortest, cost / share));
    this.#interval = (this.#interval + wanted) / 2;
  }
}
