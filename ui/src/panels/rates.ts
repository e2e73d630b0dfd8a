import type { BeginLine, RunSeries, SampleLine } from '../../../src/reporting/records/record.ts';
import type { SparkPoint } from './spark.ts';

/** An amount per second over the run. */
export interface Rate {
  /** At each epoch, over a window that ends there. */
  readonly points: readonly SparkPoint[];
  readonly now: number | null;
  /** Of the whole run. */
  readonly mean: number | null;
}

/** The window is this part of the run: short enough to show a change, long enough to be calm. */
const windowPart = 1 / 30;

/** Growth of an amount per second; null where the clock stood still or began anew. */
export function rateOf(seconds: readonly number[], amounts: readonly number[]): Rate {
  const last = seconds.length - 1;
  if (last < 1) return { points: [], now: null, mean: null };
  const window = (seconds[last] - seconds[0]) * windowPart;
  const growth = (from: number, to: number) => {
    const time = seconds[to] - seconds[from];
    const amount = amounts[to] - amounts[from];
    return time > 0 && amount >= 0 ? amount / time : null;
  };
  let from = 0;
  const points: SparkPoint[] = [];
  for (let to = 1; to <= last; to++) {
    while (from + 1 < to && seconds[from + 1] <= seconds[to] - window) from++;
    points.push({ x: seconds[to], y: growth(from, to) });
  }
  return { points, now: points[last - 1].y, mean: growth(0, last) };
}

/** Where the first epoch is there, so is the beginning: nothing had been done at second 0. */
function fromTheBeginning(series: RunSeries, amounts: readonly number[]) {
  return series.epoch[0] === 1
    ? { seconds: [0, ...series.seconds], amounts: [0, ...amounts] }
    : { seconds: series.seconds, amounts };
}

/** Updates per second: non-zeros touched. */
export function updateRate({ nonzeros }: Pick<BeginLine, 'nonzeros'>, series: RunSeries): Rate {
  const touched = series.passes.map((passes) => passes * nonzeros);
  const { seconds, amounts } = fromTheBeginning(series, touched);
  return rateOf(seconds, amounts);
}

/** Bytes per second from process to process; undefined where none are counted. */
export function byteRate(series: RunSeries): Rate | undefined {
  if (!series.bytes) return undefined;
  const { seconds, amounts } = fromTheBeginning(series, series.bytes);
  return rateOf(seconds, amounts);
}

/**
 * Memory of all processes over the samples. Every vector has a clock of its own: of several, the
 * samples are numbered.
 */
export function memoryUse(samples: readonly SampleLine[]) {
  const isOne = samples.every(({ vector }) => vector === samples[0].vector);
  const points = samples.map(({ seconds, memory }, index) => ({
    x: isOne ? seconds : index,
    y: memory,
  }));
  const most = points.length > 0 ? Math.max(...points.map(({ y }) => y)) : null;
  return { points, now: points.at(-1)?.y ?? null, most };
}
