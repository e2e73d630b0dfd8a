/** Shares a limit on time out evenly among the fits that are left, on so many lanes. */
export class Allowance {
  readonly #seconds: number;
  readonly #lanes: number;
  readonly #started = performance.now();
  #left: number;

  constructor(seconds: number, fits: number, lanes: number) {
    this.#seconds = seconds;
    this.#left = fits;
    this.#lanes = lanes;
  }

  /** Seconds for the next fit; none are left if that is not above 0. */
  next(): number {
    const spent = (performance.now() - this.#started) / 1000;
    const share = ((this.#seconds - spent) * Math.min(this.#left, this.#lanes)) / this.#left;
    this.#left -= 1;
    return share;
  }
}
