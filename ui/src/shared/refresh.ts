/** Milliseconds without input after which the user counts as away. */
const idleTime = 10_000;

/** Whether a person is at the page, which counts from its opening. Times are in milliseconds. */
export class VisibilityWatch {
  #last: number;

  constructor(now: number) {
    this.#last = now;
  }

  isThere(now: number): boolean {
    return now - this.#last <= idleTime;
  }

  /** There was input; returns whether the page was idle before. */
  touch(now: number): boolean {
    const isNew = !this.isThere(now);
    this.#last = now;
    return isNew;
  }
}

/** Runs tasks in order, a limited number at the same time. */
export class Throttle {
  readonly #most: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The task reports its failures itself. */
  add(task: () => Promise<void>): void {
    this.#waiting.push(task);
    this.#next();
  }

  #next(): void {
    while (this.#running < this.#most) {
      const task = this.#waiting.shift();
      if (!task) return;
      this.#running++;
      void task().finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }
}

/** Milliseconds from one redraw for new lines to the next: at least, and at most. */
const shortest = 250;
const longest = 5000;
/** The part of one core that the page's own thread may spend on redrawing. */
const share = 0.01;
/**
 * While all cores train and the user is away: the part of all cores, and the time of a redraw
 * in all threads of a browser without a graphics card, as a multiple of that of the page's thread.
 */
const calmShare = 0.002;
const allThreads = 2;

/**
 * How often the page is brought up to date. Where drawing is slow, because there is no graphics card
 * or because all cores train, it is done less often.
 */
export class Rate {
  readonly #cores: number;
  #cost = 0;

  /** Of the machine that the page is on. */
  constructor(cores: number) {
    this.#cores = cores;
  }

  /** Records the milliseconds of a redraw; the effect of one slow redraw fades soon. */
  note(cost: number): void {
    this.#cost = (this.#cost + Math.min(cost, longest * share)) / 2;
  }

  /** Milliseconds to the next redraw; calm: every core trains, and the user is away. */
  interval(calm: boolean): number {
    const pause = calm ? (allThreads * this.#cost) / (calmShare * this.#cores) : this.#cost / share;
    return Math.min(longest, Math.max(shortest, pause));
  }
}
