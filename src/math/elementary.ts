/**
 * exp, log and log1p from + − × ÷, comparisons and bits.ts alone. The built-in ones differ between
 * engines and between JavaScript and WebAssembly; these give the same bits everywhere, which the
 * promise "same options, same model" needs. Errors stay below one unit in the last place (ulp)
 * for exp and log, two for log1p. The source compiles as AssemblyScript too.
 */
import { exponentOf, mantissaOf, scaleByPowerOfTwo } from './bits.ts';

/** ln 2 = LN2_HIGH + LN2_LOW; the high part has 32 bits, so that k · LN2_HIGH is exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/** e^x is finite up to 709.7827… and at least the smallest double from −745.1332… on. */
const EXP_HIGHEST = 709.7827128933841;
const EXP_LOWEST = -745.1332191019412;

const SMALLEST_NORMAL = 2.2250738585072014e-308;
/** 2^54 and 2^53 */
const LIFT = 18014398509481984.0;
const INTEGERS_END = 9007199254740992.0;

/**
 * Coefficients of (e^r − 1 − r)/r² for |r| ≤ ln(2)/2, from a Remez exchange in 50 digits that
 * minimises the relative error of e^r: 3.6e-18 before rounding.
 */
const E0 = 0.5000000000000011;
const E1 = 0.16666666666666413;
const E2 = 0.04166666666653016;
const E3 = 0.008333333333494446;
const E4 = 0.0013888888943629925;
const E5 = 0.0001984126950660702;
const E6 = 2.480149309902565e-5;
const E7 = 2.7557586353522276e-6;
const E8 = 2.7630248368472557e-7;
const E9 = 2.5000066626478164e-8;

/**
 * Coefficients of (2 artanh(s)/s − 2)/z with z = s², for 1 + f = (1 + s)/(1 − s) between √½ and
 * √2, from a Remez exchange in 50 digits: relative error of the logarithm 1.2e-18.
 */
const L0 = 0.6666666666666734;
const L1 = 0.399999999994143;
const L2 = 0.28571428742479216;
const L3 = 0.2222219856310676;
const L4 = 0.1818356488429394;
const L5 = 0.15314035416702834;
const L6 = 0.14796109431185328;

/** e^x: x = k ln 2 + r with |r| ≤ ln(2)/2, then e^r by its polynomial, then the factor 2^k. */
export function exp(x: number): number {
  if (!(x <= EXP_HIGHEST)) return x > 0 ? Infinity : x;
  if (x < EXP_LOWEST) return 0;
  const k = Math.floor(x * Math.LOG2E + 0.5);
  const high = x - k * LN2_HIGH;
  const low = k * LN2_LOW;
  const r = high - low;
  const lost = high - r - low;
  const r2 = r * r;
  const r4 = r2 * r2;
  const head = E0 + E1 * r + r2 * (E2 + E3 * r);
  const tail = E4 + E5 * r + r2 * (E6 + E7 * r) + r4 * (E8 + E9 * r);
  return scaleByPowerOfTwo(1 + (r + (r2 * (head + r4 * tail) + lost)), k);
}

/**
 * f − ln(1 + f) for √½ − 1 ≤ f ≤ √2 − 1. With s = f/(2 + f), ln(1 + f) = 2s + s R(s²) and
 * 2s = f − s f, so the difference is s (f − R): small compared with f, which keeps f's exactness.
 */
function logDeficit(f: number): number {
  const s = f / (2 + f);
  const z = s * s;
  const z2 = z * z;
  const z4 = z2 * z2;
  const series = L0 + L1 * z + z2 * (L2 + L3 * z) + z4 * (L4 + L5 * z + z2 * L6);
  return s * (f - z * series);
}

/** ln x; −Infinity at 0, NaN below. */
export function log(x: number): number {
  if (!(x >= SMALLEST_NORMAL)) {
    if (x === 0) return -Infinity;
    return x > 0 ? logOfNormal(x * LIFT, -54) : NaN;
  }
  return x === Infinity ? x : logOfNormal(x, 0);
}

/** ln(x · 2^shift) for a positive normal x. */
function logOfNormal(x: number, shift: number): number {
  const mantissa = mantissaOf(x);
  const upperHalf = mantissa > Math.SQRT2;
  const k = exponentOf(x) + (upperHalf ? shift + 1 : shift);
  const f = (upperHalf ? 0.5 * mantissa : mantissa) - 1;
  return k * LN2_HIGH - (logDeficit(f) - k * LN2_LOW - f);
}

/** ln(1 + x), also for x so small that 1 + x loses it; −Infinity at −1, NaN below. */
export function log1p(x: number): number {
  if (x > -0.29 && x < 0.41) return x - logDeficit(x);
  if (x > INTEGERS_END) return log(x);
  const sum = 1 + x;
  // What the rounding of 1 + x lost, to first order.
  return sum > 0 ? log(sum) + (x - (sum - 1)) / sum : log(sum);
}

/**
 * ln(x / (1 − x)), ∓Infinity from 0 down and from 1 up. With both mantissas scaled so that their
 * quotient is between √½ and √2, its logarithm is 2 artanh(s), s = (a − b)/(a + b): one division
 * instead of two in a row.
 */
export function logit(x: number): number {
  const rest = 1 - x;
  if (!(x > 0)) return -Infinity;
  if (!(rest > 0)) return Infinity;
  if (x < SMALLEST_NORMAL) return log(x);
  let a = mantissaOf(x);
  const b = mantissaOf(rest);
  let k = exponentOf(x) - exponentOf(rest);
  if (a > Math.SQRT2 * b) {
    a *= 0.5;
    k += 1;
  } else if (a < Math.SQRT1_2 * b) {
    a *= 2;
    k -= 1;
  }
  const s = (a - b) / (a + b);
  const z = s * s;
  const z2 = z * z;
  const z4 = z2 * z2;
  const series = L0 + L1 * z + z2 * (L2 + L3 * z) + z4 * (L4 + L5 * z + z2 * L6);
  return k * LN2_HIGH + (2 * s + (s * z * series + k * LN2_LOW));
}
