/** Milliseconds without a touch of pointer or keyboard after which nobody waits for news. */
const span = 10_000;

/** Whether somebody is at the page; who has just opened it is. Times are in milliseconds. */
export class Attention {
  #last: number;

  constructor(now: number) {
    this.#last = now;
  }

  isThere(now: number): boolean {
    return now - this.#last <= span;
  }

  /** Somebody has touched the page; says whether that is news. */
  touch(now: number): boolean {
    const isNew = !this.isThere(now);
    this.#last = now;
    return isNew;
  }
}
