import { scaleLinear, scaleLog } from 'd3-scale';
import { aroundValue, powerOfTen } from '../math/format-number.ts';

export interface Axis {
  readonly label: string;
  /** Whether a distance on the axis stands for a factor; default false. */
  readonly log?: boolean;
  /** Whether a linear axis begins at 0; default false. */
  readonly zero?: boolean;
  /** Whether a linear axis ends with its values rather than at a round number; default false. */
  readonly tight?: boolean;
  /** The values that have to be seen; lines are cut off beyond. Default: all. */
  readonly focus?: readonly [number, number];
}

export interface Tick {
  readonly value: number;
  readonly label: string;
}

/** An axis made definite: where a value lies, and which values are marked. */
export interface Scale {
  readonly ticks: readonly Tick[];
  /** NaN for what the axis cannot show. */
  place(value: number): number;
}

/** The scale of an axis that has to show the values, laid out from range[0] to range[1]. */
export function scaleOf(
  axis: Axis,
  values: readonly number[],
  range: readonly [number, number],
): Scale {
  const seen = axis.focus ?? values;
  return axis.log ? logScale(seen, range) : linearScale(axis, seen, range);
}

function linearScale(
  axis: Axis,
  values: readonly number[],
  range: readonly [number, number],
): Scale {
  const shown = values.filter(Number.isFinite);
  const low = axis.zero ? 0 : least(shown, 0);
  const high = greatest(shown, 1);
  const [start, end] = high > low ? [low, high] : aroundValue(high, 0.1);
  const exact = scaleLinear([axis.zero ? 0 : start, end], range);
  const scale = axis.tight ? exact : exact.nice(6);
  const format = scale.tickFormat(6);
  return {
    ticks: scale.ticks(6).map((value) => ({ value, label: format(value) })),
    place: (value) => (Number.isFinite(value) ? scale(value) : Number.NaN),
  };
}

/** Room on both ends of a logarithmic axis, as a part of its length. */
const logRoom = 0.03;

function logScale(values: readonly number[], range: readonly [number, number]): Scale {
  const shown = values.filter((value) => value > 0 && value < Infinity);
  const low = least(shown, 1);
  const high = greatest(shown, 10);
  const room = high > low ? (high / low) ** logRoom : 2;
  const domain: [number, number] = [low / room, high * room];
  const scale = scaleLog(domain, range);
  return {
    ticks: logTicks(domain),
    place: (value) => (value > 0 && value < Infinity ? scale(value) : Number.NaN),
  };
}

const mostPowers = 7;

/** Powers of ten; where the axis holds fewer than three of them, multiples by 2 and 5 as well. */
function logTicks([low, high]: readonly [number, number]): Tick[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const count = last - first + 1;
  if (count >= 3) {
    const step = Math.ceil(count / mostPowers);
    const exponents = Array.from({ length: count }, (_, index) => first + index);
    const chosen = exponents.filter((exponent) => exponent % step === 0);
    const plain = chosen.every((exponent) => exponent >= -3 && exponent <= 4);
    return chosen.map((exponent) => ({
      value: 10 ** exponent,
      label: plain ? plainPower(exponent) : powerOfTen(exponent),
    }));
  }
  const multiples = [first - 1, first, last, last + 1].flatMap((exponent) =>
    [1, 2, 5].map((factor) => factor * 10 ** exponent),
  );
  const inside = [...new Set(multiples)].filter((value) => value >= low && value <= high);
  const ticks = inside.length >= 3 ? inside : scaleLinear([low, high], [0, 1]).ticks(5);
  return ticks.map((value) => ({ value, label: shortNumber(value) }));
}

function plainPower(exponent: number): string {
  return exponent < 0 ? (10 ** exponent).toFixed(-exponent) : String(10 ** exponent);
}

function shortNumber(value: number): string {
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  if (exponent >= -4 && exponent <= 4) return String(Number(value.toPrecision(6)));
  const factor = Number((value / 10 ** exponent).toPrecision(3));
  return factor === 1 ? powerOfTen(exponent) : `${factor}×${powerOfTen(exponent)}`;
}

/** Not Math.min(...values): a long run has more values than a call may have arguments. */
function least(values: readonly number[], none: number): number {
  return values.length === 0 ? none : values.reduce((a, b) => Math.min(a, b));
}

function greatest(values: readonly number[], none: number): number {
  return values.length === 0 ? none : values.reduce((a, b) => Math.max(a, b));
}
