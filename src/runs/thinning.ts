/**
 * Which of ever more lines are kept: the first ones all, then every `factor`-th until there have
 * been `factor` times as many, then every `factor`²-th, and so on. So a record of N lines holds
 * about first · (1 + log N) of them. Infinity as the factor keeps the first ones alone.
 */
export class Thinning {
  readonly #factor: number;
  #count = 0;
  #every = 1;
  #until: number;

  constructor(first: number, factor: number) {
    this.#factor = factor;
    this.#until = first;
  }

  /** Whether the next line is one of those. */
  next(): boolean {
    this.#count++;
    if (this.#count > this.#until) {
      this.#every *= this.#factor;
      this.#until *= this.#factor;
    }
    return this.#count % this.#every === 0;
  }
}
