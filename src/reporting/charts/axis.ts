import { scaleLinear, scaleLog } from 'd3-scale';
import { aroundValue, powerOfTen } from '../../math/format-number.ts';
import type { Point } from './quantities.ts';

export interface Axis {
  readonly label: string;
  /** Whether equal distances on the axis are equal factors; default false. */
  readonly log?: boolean;
  /** Whether a linear axis begins at 0, always or unless its values are far from it. */
  readonly zero?: boolean | 'near';
  /** Whether the axis ends with its values, without room around them; default false. */
  readonly tight?: boolean;
  /** Whether values are seconds, shown in s, min or h, whichever suits. */
  readonly time?: boolean;
  /** The values to show; lines are clipped beyond. Default: all. */
  readonly focus?: Range | undefined;
}

export type Range = readonly [low: number, high: number];

export interface Tick {
  readonly value: number;
  readonly label: string;
}

/** A tick and its position on a scale. */
export interface ScaleTick extends Tick {
  readonly position: number;
}

interface TickOptions {
  readonly log: boolean;
  /** About how many. */
  readonly count: number;
  /** Default: as many digits as distinguish neighbours. */
  readonly format?: ((value: number) => string) | undefined;
  /** Powers of ten beyond four digits; default 10⁻⁶. */
  readonly power?: ((exponent: number) => string) | undefined;
}

/** An axis laid out: where a value is, and which values are marked. */
export interface Scale {
  /** The unit of a time, otherwise the label of the axis. */
  readonly unit: string;
  /** NaN for what the axis cannot show. */
  position(value: number): number;
  ticks(count: number, options?: Pick<TickOptions, 'format' | 'power'>): ScaleTick[];
}

/** Whether an axis can show a value. */
export function isShown(value: number | null | undefined, log: boolean): value is number {
  return typeof value === 'number' && Number.isFinite(value) && (!log || value > 0);
}

/** The scale of an axis for these values, laid out from range[0] to range[1]. */
export function scaleOf(axis: Axis, values: readonly number[], range: Range): Scale {
  const { log = false, time = false } = axis;
  const extent = extentOf([axis.focus ?? values], log);
  const domain = log ? logDomain(axis, extent) : linearDomain(axis, extent);
  const scale = (log ? scaleLog : scaleLinear)(domain, range);
  const unit = time ? timeUnit(domain[1]) : { name: axis.label, seconds: 1 };
  return {
    unit: unit.name,
    position: (value) => (isShown(value, log) ? scale(value) : Number.NaN),
    ticks(count, options = {}) {
      const ends: Range = [domain[0] / unit.seconds, domain[1] / unit.seconds];
      return ticksOf(ends, { log, count, ...options }).map(({ value, label }) => ({
        value: value * unit.seconds,
        label,
        position: scale(value * unit.seconds),
      }));
    },
  };
}

/** Seconds, minutes or hours, whichever gives small numbers up to this time. */
export function timeUnit(longest: number): { readonly name: string; readonly seconds: number } {
  if (longest < 180) return { name: 's', seconds: 1 };
  return longest < 3 * 3600 ? { name: 'min', seconds: 60 } : { name: 'h', seconds: 3600 };
}

const niceCount = 6;

function linearDomain({ zero, tight }: Axis, extent: Range = [0, 1]): [number, number] {
  const [least, high] = extent;
  const fromZero = zero === 'near' ? least > 0 && least < high / 2 : zero;
  const low = fromZero ? 0 : least;
  const [start, end] = high > low ? [low, high] : aroundValue(high, 0.1);
  const scale = scaleLinear([zero === true ? 0 : start, end], [0, 1]);
  const [first, last] = (tight ? scale : scale.nice(niceCount)).domain();
  return [first, last];
}

/** Empty room at both ends of a logarithmic axis, as a part of its length. */
const logRoom = 0.03;

function logDomain({ tight }: Axis, [low, high]: Range = [1, 10]): [number, number] {
  if (low === high) return [low / 2, high * 2];
  const room = tight ? 1 : (high / low) ** logRoom;
  return [low / room, high * room];
}

type Values = readonly (number | null)[];

/** The least and the largest value that an axis can show, of more than a call may have arguments. */
export function extentOf(columns: readonly Values[], log = false): Range | undefined {
  let [least, most] = [Infinity, -Infinity];
  for (const column of columns) {
    for (const value of column) {
      if (!isShown(value, log)) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  return least <= most ? [least, most] : undefined;
}

/** Round values within a range. */
export function ticksOf(range: Range, options: TickOptions): Tick[] {
  return options.log ? logTicks(range, options) : linearTicks(range, options);
}

function linearTicks(range: Range, { count, format }: TickOptions): Tick[] {
  if (!(range[1] > range[0])) return [];
  const values = scaleLinear(range, [0, 1]).ticks(Math.max(1, count));
  const [length, steps] =
    values.length > 1 ? [values.at(-1)! - values[0], values.length - 1] : [range[1] - range[0], 1];
  const step = Number((length / steps).toPrecision(3));
  return values.map((value) => ({ value, label: format?.(value) ?? fixedLabel(value, step) }));
}

/** With as many digits as distinguish a tick from the next. */
function fixedLabel(value: number, step: number): string {
  const power = Math.floor(Math.log10(step) + 1e-9);
  if (power >= -9 && Math.abs(value) < 1e7 && step < 1e7) {
    const digits = Math.max(0, -power);
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return value.toLocaleString('en-US', options);
  }
  if (value === 0) return '0';
  const digits = Math.floor(Math.log10(Math.abs(value)) + 1e-9) - power;
  return value.toExponential(Math.min(12, Math.max(0, digits))).replace('e+', 'e');
}

/** Powers of ten; multiples by 2 and 5 as well where few of them fit; round values within one. */
function logTicks([low, high]: Range, options: TickOptions): Tick[] {
  const { count, format = shortNumber, power = powerOfTen } = options;
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const powers = Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => first + k);
  const multiples = [first - 1, ...powers]
    .flatMap((exponent) => [1, 2, 5].map((factor) => Number(`${factor}e${exponent}`)))
    .filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  if (powers.length < 3 && multiples.length >= 3 && multiples.length <= count) {
    return multiples.map((value) => ({ value, label: format(value) }));
  }
  if (powers.length < 2) {
    return linearTicks([low, high], { ...options, format: options.format ?? shortNumber });
  }
  const stride = Math.ceil(powers.length / Math.max(2, count));
  const chosen = powers.filter((exponent) => exponent % stride === 0);
  const isPlain = chosen.every((exponent) => exponent >= -3 && exponent <= 4);
  return chosen.map((exponent) => {
    const value = Number(`1e${exponent}`);
    return { value, label: isPlain ? format(value) : power(exponent) };
  });
}

function shortNumber(value: number): string {
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  if (exponent >= -4 && exponent <= 4) return String(Number(value.toPrecision(6)));
  const factor = Number((value / 10 ** exponent).toPrecision(3));
  return factor === 1 ? powerOfTen(exponent) : `${factor}×${powerOfTen(exponent)}`;
}

/**
 * The values that a y axis must show; undefined if there are none. `bounds` are curves that start
 * far below and rise: they get at most half as much room as the others on a linear axis, and a
 * factor of ten on a logarithmic one, so that the others stay readable.
 */
export function visibleRange(
  columns: readonly Values[],
  bounds: readonly Values[],
  log: boolean,
): Range | undefined {
  const main = extentOf(columns, log);
  const lower = extentOf(bounds, log);
  if (!main || !lower) return main ?? lower;
  const [least, most] = main;
  const floor = log ? least / 10 : least - Math.max((most - least) / 2, Math.abs(most) * 1e-3);
  if (lower[1] > floor) return [Math.min(least, Math.max(lower[0], floor)), most];
  // Bounds that are out of reach altogether get no room at all, unless the others need none.
  const isNear = least === most && lower[1] >= least - Math.abs(most);
  return [isNear ? lower[1] : least, most];
}

/** A part of the height that stays empty above and below. */
const margin = 0.04;

/** The same with some empty room around it, and a range for an axis without values. */
export function paddedRange(
  columns: readonly Values[],
  bounds: readonly Values[],
  log: boolean,
): Range {
  const seen = visibleRange(columns, bounds, log);
  if (!seen) return log ? [0.1, 1] : [0, 1];
  const [least, most] = seen;
  if (log) {
    const ratio = Math.max((most / least) ** margin, 1.05);
    return [least / ratio, most * ratio];
  }
  const [low, high] = most > least ? [least, most] : aroundValue(most, 0.05);
  const empty = (high - low) * margin;
  return [low - empty, high + empty];
}

/** A value of y to compare with, such as a tolerance. */
export interface Rule {
  readonly y: number;
  readonly label: string;
}

/** A rectangle, in the units of its reader. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The part of a segment inside a box, [s, t]: from a + s(b − a) to a + t(b − a), if there is one. */
export function clip(a: Point, b: Point, { left, right, top, bottom }: Box): Range | undefined {
  let [s, t] = [0, 1];
  for (const [from, to, low, high] of [
    [a[0], b[0], left, right],
    [a[1], b[1], top, bottom],
  ]) {
    const slope = to - from;
    if (slope === 0 && (from < low || from > high)) return undefined;
    if (slope === 0) continue;
    const [one, other] = [(low - from) / slope, (high - from) / slope];
    s = Math.max(s, Math.min(one, other));
    t = Math.min(t, Math.max(one, other));
  }
  return s <= t ? [s, t] : undefined;
}
