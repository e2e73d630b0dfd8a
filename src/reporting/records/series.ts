import { everySecond } from './downsampling.ts';
import type { EpochLine, RunSeries } from './record.ts';

type Columns = { -readonly [Name in keyof RunSeries]: (number | null)[] };

const required = ['epoch', 'seconds', 'passes', 'primal', 'dual', 'relativeGap'] as const;
/** What an epoch without the value has: unknown, or for a running sum the sum so far. */
const optional = ['testError', 'testAuprc', 'bytes'] as const;

export type SeriesPoint = Pick<EpochLine, (typeof required)[number] | (typeof optional)[number]>;

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
      const missing = name === 'bytes' ? 0 : null;
      if (value === undefined && !columns[name]) continue;
      const column = columns[name] ?? Array<number | null>(length).fill(missing);
      columns[name] = column;
      column.push(value ?? (name === 'bytes' ? (column.at(-1) ?? 0) : null));
    }
    if (length >= 2 * this.#most) this.#replace(columns as RunSeries, everySecond);
  }

  #replace(series: RunSeries, change: (column: readonly (number | null)[]) => (number | null)[]) {
    const present = Object.entries(series).filter(([, column]) => column !== undefined);
    this.#columns = Object.fromEntries(
      present.map(([name, column]) => [name, change(column)]),
    ) as Columns;
  }
}

export function seriesOf(points: readonly SeriesPoint[]): RunSeries {
  const series = new GrowingSeries();
  for (const point of points) series.add(point);
  return series.columns;
}
