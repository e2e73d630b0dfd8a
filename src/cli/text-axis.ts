import { aroundValue } from '../math/format-number.ts';

export interface TextAxis {
  readonly label: string;
  readonly scale: 'linear' | 'log';
  /** Values are seconds: they are shown in s, min or h, whichever suits, in place of the label. */
  readonly time?: boolean;
  /** A linear axis of values that do not lie far from 0 begins there. */
  readonly zero?: boolean;
  /** The values that have to be seen; lines are cut off beyond. Default: all. */
  readonly focus?: readonly [low: number, high: number] | undefined;
}

export interface TextTick {
  /** 0 … 1 along the axis. */
  readonly place: number;
  readonly label: string;
}

/** An axis made definite. */
export interface TextScale {
  /** The label, or the unit of a time. */
  readonly unit: string;
  /** 0 … 1 for what the axis shows, NaN for what it never can. */
  place(value: number): number;
  /** Round values, this many at most. */
  ticks(most: number): TextTick[];
}

/** The scale of an axis that has to show these values; undefined if there are none it can show. */
export function textScale(axis: TextAxis, values: readonly number[]): TextScale | undefined {
  const log = axis.scale === 'log';
  const shown = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  if (shown.length === 0) return undefined;
  const [low, high] = roomy(log, axis.focus ?? extent(axis, shown));
  return log ? logScale(axis, low, high) : linearScale(axis, low, high);
}

/** Not Math.min(...values): a long run has more values than a call may have arguments. */
function extent(axis: TextAxis, values: readonly number[]): [number, number] {
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const fromZero = axis.zero && low > 0 && low < high / 2;
  return [fromZero ? 0 : low, high];
}

/** Some room around a single value. */
function roomy(log: boolean, [low, high]: readonly [number, number]): readonly [number, number] {
  if (high > low) return [low, high];
  return log ? [low / 2, 2 * low] : aroundValue(low, 0.1);
}

const minute = 60;
const hour = 3600;

function linearScale(axis: TextAxis, low: number, high: number): TextScale {
  const [unit, divisor] = axis.time ? timeUnit(high) : [axis.label, 1];
  return {
    unit,
    place: (value) => (Number.isFinite(value) ? (value - low) / (high - low) : Number.NaN),
    ticks: (most) =>
      linearTicks(low / divisor, high / divisor, most).map(({ value, label }) => ({
        place: Math.min(1, Math.max(0, (value * divisor - low) / (high - low))),
        label,
      })),
  };
}

function timeUnit(longest: number): [unit: string, divisor: number] {
  if (longest < 3 * minute) return ['s', 1];
  return longest < 3 * hour ? ['min', minute] : ['h', hour];
}

interface Value {
  readonly value: number;
  readonly label: string;
}

/** Multiples of 1, 2 or 5 times a power of ten, the smallest of these that gives few enough. */
function linearTicks(low: number, high: number, most: number): Value[] {
  for (let exponent = Math.floor(Math.log10((high - low) / most)); ; exponent++) {
    for (const factor of [1, 2, 5]) {
      const step = Number(`${factor}e${exponent}`);
      const values = multiples(step, low, high);
      if (values.length > most) continue;
      return values.map((value) => ({ value, label: tickLabel(value, step, high) }));
    }
  }
}

/** What rounding may take a tick at the very end of the axis away by. */
const slack = 1e-9;

function multiples(step: number, low: number, high: number): number[] {
  const first = Math.ceil(low / step - slack);
  const last = Math.floor(high / step + slack);
  // The number that is written with the fewest digits, not 3 · 0.1 = 0.30000000000000004.
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** With as many digits as tell a tick from the next. */
function tickLabel(value: number, step: number, high: number): string {
  const places = Math.max(0, -Math.floor(Math.log10(step) + slack));
  const size = Math.max(Math.abs(value), Math.abs(high));
  if (places <= 9 && size < 1e7) return (value === 0 ? 0 : value).toFixed(places);
  if (value === 0) return '0';
  const digits = Math.floor(Math.log10(Math.abs(value)) + slack) - Math.floor(Math.log10(step));
  return value.toExponential(Math.min(12, Math.max(0, digits))).replace('e+', 'e');
}

function logScale(axis: TextAxis, low: number, high: number): TextScale {
  const [start, length] = [Math.log10(low), Math.log10(high) - Math.log10(low)];
  const place = (value: number): number =>
    value > 0 && value < Infinity ? (Math.log10(value) - start) / length : Number.NaN;
  return {
    unit: axis.time ? 's' : axis.label,
    place,
    ticks: (most) =>
      logTicks(low, high, most).map(({ value, label }) => ({
        place: Math.min(1, Math.max(0, place(value))),
        label,
      })),
  };
}

/** Powers of ten; where the axis holds fewer than two of them, what else is round. */
function logTicks(low: number, high: number, most: number): Value[] {
  const first = Math.ceil(Math.log10(low) - slack);
  const last = Math.floor(Math.log10(high) + slack);
  const count = last - first + 1;
  if (count < 2) return linearTicks(low, high, most);
  const step = Math.ceil(count / Math.max(1, most));
  return Array.from({ length: count }, (_, index) => first + index)
    .filter((exponent) => exponent % step === 0)
    .map((exponent) => ({ value: Number(`1e${exponent}`), label: powerLabel(exponent) }));
}

function powerLabel(exponent: number): string {
  if (exponent === 0) return '1';
  return exponent === 1 ? '10' : `1e${exponent}`;
}
