/** Bounds on what rounding does to sums and products of doubles. Also AssemblyScript. */
import { clamp, softThreshold } from './scalars.ts';

/** The largest relative error of one operation in double precision, 2⁻⁵³. */
export const UNIT = 1.1102230246251565e-16;
/** Operations that one value of a loss, a conjugate or a penalty takes, at most. */
export const OPERATIONS = 16.0;
/** The bounds are computed with rounding errors, too; this covers them, and what is of second order. */
export const SECURE = 1.01;
/** 2⁻¹⁰⁷² */
const SUBNORMAL = 2e-323;

/** A product of positive numbers less its rounding errors, also those of numbers that are not normal. */
export function atLeast(x: number, error: number): number {
  return error === 0 ? x : Math.max(0, x * (1 - error) - SUBNORMAL);
}

/** How far off a sum of `count` products may be; `size`: of its terms. */
export function sumError(count: number, size: number): number {
  return SECURE * (UNIT * count * size);
}

/** The same of a sum v that was rounded as if all had been added without errors. */
export function exactSumError(count: number, v: number, size: number): number {
  const plain = UNIT * count;
  return SECURE * (4 * UNIT * Math.abs(v) + 4 * plain * plain * size);
}

/**
 * The conjugate at v of l1 |w| + (l2/2) w² in [low, high], with l1 and l2 smaller by a relative error, which
 * makes it larger.
 */
export function penaltyConjugate(
  v: number,
  l1: number,
  l2: number,
  low: number,
  high: number,
  error: number,
): number {
  const excess = softThreshold(v, atLeast(l1, error));
  if (excess === 0) return 0;
  const bend = atLeast(l2, error);
  const end = excess > 0 ? high : low;
  const w = bend > 0 ? clamp(excess / bend, low, high) : end;
  if (w === 0) return 0;
  const value = w * (bend > 0 ? excess - 0.5 * bend * w : excess);
  // Where w overflows, the difference above is −∞ or no number; a conjugate is never below 0.
  return value >= 0 ? value : Infinity;
}
