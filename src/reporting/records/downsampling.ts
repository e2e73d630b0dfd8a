/**
 * Chooses which lines of an unbounded sequence to keep: the first ones all, then every `factor`-th
 * until there have been `factor` times as many, then every `factor`²-th, and so on. Of N lines it
 * keeps about first · (1 + log N). With a factor of Infinity only the first ones are kept.
 */
export class Downsampling {
  readonly #factor: number;
  #count = 0;
  #every = 1;
  #until: number;

  constructor(first: number, factor: number) {
    this.#factor = factor;
    this.#until = first;
  }

  /** Whether to keep the next line, whose number may not be its count, such as after a resume. */
  next(number?: number): boolean {
    this.#count++;
    if (this.#count > this.#until) {
      this.#every *= this.#factor;
      this.#until *= this.#factor;
    }
    return (number ?? this.#count) % this.#every === 0;
  }
}

/** Every k-th index from 0, with the smallest k that leaves room for the last one. */
export function spreadIndices(count: number, most: number): number[] {
  if (count === 0) return [];
  const last = count - 1;
  if (!(most >= 2)) return [last];
  const step = Math.max(1, Math.ceil(last / (Math.floor(most) - 1)));
  return [...Array.from({ length: Math.ceil(last / step) }, (_, index) => index * step), last];
}

/** Leaves out every second item, never the newest. */
export function everySecond<Item>(items: readonly Item[]): Item[] {
  const parity = (items.length - 1) % 2;
  return items.filter((_, index) => index % 2 === parity);
}
