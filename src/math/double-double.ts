/**
 * Numbers of about 106 bits, the exact sum of two doubles (Dekker 1971; Li et al. 2002, "Design,
 * implementation and testing of extended and mixed precision BLAS"). One operation is wrong by at
 * most a few times 2⁻¹⁰⁴ of its result. For checks, where doubles would leave a doubt.
 */
import { exponentOf, scaleByPowerOfTwo } from './bits.ts';
import * as doubles from './elementary.ts';

export interface DoubleDouble {
  readonly hi: number;
  readonly lo: number;
}

export function exact(x: number): DoubleDouble {
  return { hi: x, lo: 0 };
}

export const zero = exact(0);
export const one = exact(1);
export const infinity = exact(Infinity);

/** a + b for |a| ≥ |b|. */
function ordered(a: number, b: number): DoubleDouble {
  const hi = a + b;
  // Past the largest double there is no rest.
  return { hi, lo: Number.isFinite(hi) ? b - (hi - a) : 0 };
}

/** a + b without an error. */
function sumOf(a: number, b: number): DoubleDouble {
  const hi = a + b;
  if (!Number.isFinite(hi)) return { hi, lo: 0 };
  const part = hi - a;
  return { hi, lo: a - (hi - part) + (b - part) };
}

const splitter = 2 ** 27 + 1;
const splitLimit = 2 ** 996;

/** a · b without an error, but for underflow. */
export function product(a: number, b: number): DoubleDouble {
  const hi = a * b;
  if (!Number.isFinite(hi)) return { hi, lo: 0 };
  if (Math.abs(a) > splitLimit) return scaled(product(a * 2 ** -53, b), 53);
  if (Math.abs(b) > splitLimit) return scaled(product(a, b * 2 ** -53), 53);
  const [aHigh, bHigh] = [highPart(a), highPart(b)];
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  const lo = aLow * bLow - (hi - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
  return { hi, lo };
}

/** The upper 26 bits. */
function highPart(a: number): number {
  const c = splitter * a;
  return c - (c - a);
}

/** x · 2ᵏ */
function scaled({ hi, lo }: DoubleDouble, k: number): DoubleDouble {
  return { hi: scaleByPowerOfTwo(hi, k), lo: scaleByPowerOfTwo(lo, k) };
}

export function add(x: DoubleDouble, y: DoubleDouble): DoubleDouble {
  const high = sumOf(x.hi, y.hi);
  const low = sumOf(x.lo, y.lo);
  const middle = ordered(high.hi, high.lo + low.hi);
  return ordered(middle.hi, middle.lo + low.lo);
}

export function negate({ hi, lo }: DoubleDouble): DoubleDouble {
  return { hi: -hi, lo: -lo };
}

export function subtract(x: DoubleDouble, y: DoubleDouble): DoubleDouble {
  return add(x, negate(y));
}

export function multiply(x: DoubleDouble, y: DoubleDouble): DoubleDouble {
  const { hi, lo } = product(x.hi, y.hi);
  if (!Number.isFinite(hi)) return { hi, lo: 0 };
  return ordered(hi, lo + (x.hi * y.lo + x.lo * y.hi));
}

export function divide(x: DoubleDouble, y: DoubleDouble): DoubleDouble {
  const first = x.hi / y.hi;
  if (!Number.isFinite(first) || first === 0) return exact(first);
  const rest = subtract(x, multiply(exact(first), y));
  const second = rest.hi / y.hi;
  const third = subtract(rest, multiply(exact(second), y)).hi / y.hi;
  return add(ordered(first, second), exact(third));
}

/** Negative where x < y, positive where x > y. */
export function compare(x: DoubleDouble, y: DoubleDouble): number {
  return x.hi === y.hi ? x.lo - y.lo : x.hi - y.hi;
}

export function least(x: DoubleDouble, y: DoubleDouble): DoubleDouble {
  return compare(x, y) <= 0 ? x : y;
}

export function greatest(x: DoubleDouble, y: DoubleDouble): DoubleDouble {
  return compare(x, y) >= 0 ? x : y;
}

export function absolute(x: DoubleDouble): DoubleDouble {
  return x.hi < 0 ? negate(x) : x;
}

export function toNumber({ hi, lo }: DoubleDouble): number {
  return hi + lo;
}

/** log 2 */
const logOfTwo: DoubleDouble = { hi: Math.LN2, lo: 2.3190468138462996e-17 };
const halvings = 9;
/** Terms of the Taylor series at |r| ≤ 2⁻¹⁰: the first one left out is below 2⁻¹¹⁰ of the result. */
const terms = 9;

/** eˣ */
export function exp(x: DoubleDouble): DoubleDouble {
  if (x.hi > 709.7) return infinity;
  if (x.hi < -745) return zero;
  const power = Math.round(x.hi / logOfTwo.hi);
  const rest = subtract(x, multiply(exact(power), logOfTwo));
  return scaled(add(one, exponentialLessOne(rest)), power);
}

/** eˣ − 1 for |x| ≤ ½, by the series at x / 2⁹ and (eʳ)² − 1 = 2 (eʳ − 1) + (eʳ − 1)². */
function exponentialLessOne(x: DoubleDouble): DoubleDouble {
  const rest = scaled(x, -halvings);
  let sum = zero;
  for (let n = terms; n >= 1; n--) sum = divide(multiply(rest, add(one, sum)), exact(n));
  for (let n = 0; n < halvings; n++) sum = add(add(sum, sum), multiply(sum, sum));
  return sum;
}

/** Below, a number may be without some of its bits. */
const tiny = 2 ** -960;

/** log x for x > 0 */
export function log(x: DoubleDouble): DoubleDouble {
  if (!(x.hi > 0)) return exact(x.hi === 0 ? -Infinity : Number.NaN);
  if (x.hi === Infinity) return x;
  if (x.hi < tiny) return subtract(log(scaled(x, 128)), multiply(exact(128), logOfTwo));
  const power = exponentOf(x.hi);
  const mantissa = scaled(x, -power);
  // One Newton step on eʸ = mantissa doubles the digits of a double.
  const start = exact(doubles.log(mantissa.hi));
  const found = add(start, subtract(multiply(mantissa, exp(negate(start))), one));
  return add(found, multiply(exact(power), logOfTwo));
}

/** log (1 + x) for x > −1, with all digits where x is small */
export function log1p(x: DoubleDouble): DoubleDouble {
  if (!(Math.abs(x.hi) < 0.25)) return log(add(one, x));
  const start = exact(doubles.log1p(x.hi));
  const rest = subtract(x, exponentialLessOne(start));
  return add(start, multiply(rest, exp(negate(start))));
}

/** Sums that many terms are added to, by position. */
export class DoubleDoubleSums {
  readonly #hi: Float64Array;
  readonly #lo: Float64Array;

  constructor(length: number) {
    this.#hi = new Float64Array(length);
    this.#lo = new Float64Array(length);
  }

  add(at: number, x: DoubleDouble): void {
    const { hi, lo } = add(this.at(at), x);
    this.#hi[at] = hi;
    this.#lo[at] = lo;
  }

  at(position: number): DoubleDouble {
    return { hi: this.#hi[position], lo: this.#lo[position] };
  }
}
