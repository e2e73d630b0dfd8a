import type { EpochLine, RunSeries } from './record.ts';

/**
 * Chooses which lines of an unbounded sequence to keep: the first ones all, then every `factor`-th
 * until there have been `factor` times as many, then every `factor`²-th, and so on. Of N lines it
 * keeps about first · (1 + log N). A factor of Infinity keeps only the first ones.
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

type Values = (number | null)[];
type Columns = { -readonly [Name in keyof RunSeries]: Values };

const required = ['epoch', 'seconds', 'passes', 'primal', 'dual', 'relativeGap'] as const;
/** What an epoch without the value has: unknown, or for a running sum the sum so far. */
const optional = ['testError', 'testAuprc', 'bytes'] as const;

type SeriesPoint = Pick<EpochLine, (typeof required)[number] | (typeof optional)[number]>;

/** The curves of a vector as columns that grow by an epoch at a time. */
export class GrowingSeries {
  readonly #most: number;
  #columns = Object.fromEntries(required.map((name) => [name, []])) as unknown as Columns;

  /** Of more than 2 · `most` points every second one is left out, never the newest. */
  constructor(most = Infinity, series?: RunSeries) {
    this.#most = most;
    if (series) this.#replace(series, (column) => [...column]);
  }

  /** Grows in place. */
  get columns(): RunSeries {
    return this.#columns as RunSeries;
  }

  get length(): number {
    return this.#columns.epoch.length;
  }

  add(point: SeriesPoint): void {
    const columns = this.#columns;
    const { length } = this;
    for (const name of required) columns[name].push(point[name]);
    for (const name of optional) {
      const value = point[name];
      if (value === undefined && !columns[name]) continue;
      const isSum = name === 'bytes';
      columns[name] ??= Array<number | null>(length).fill(isSum ? 0 : null);
      columns[name].push(value ?? (isSum ? (columns[name].at(-1) ?? 0) : null));
    }
    if (length >= 2 * this.#most) this.#replace(columns as RunSeries, everySecond);
  }

  #replace(series: RunSeries, change: (column: Values) => Values): void {
    const present = Object.entries(series).filter(([, column]) => column !== undefined);
    const changed = present.map(([name, column]) => [name, change(column)]);
    this.#columns = Object.fromEntries(changed) as Columns;
  }
}

export function seriesOf(points: readonly SeriesPoint[]): RunSeries {
  const series = new GrowingSeries();
  for (const point of points) series.add(point);
  return series.columns;
}
