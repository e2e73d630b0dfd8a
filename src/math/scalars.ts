/** Scalars that stay accurate where textbook forms overflow or cancel. Also AssemblyScript. */
import { exp, log, log1p } from './elementary.ts';

/** ln(1 + e^x) = max(x, 0) + ln(1 + e^−|x|) */
export function log1pExp(x: number): number {
  const rest = log1p(exp(-Math.abs(x)));
  return x > 0 ? x + rest : rest;
}

/** 1 / (1 + e^−x), with full relative accuracy also where it is nearly 0. */
export function sigmoid(x: number): number {
  const e = exp(-Math.abs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}

/** x ln x, continued by its limit 0 at x = 0 (and 0 below, where rounding may lead). */
export function xlogx(x: number): number {
  return x > 0 ? x * log(x) : 0;
}

/** sign(x) · max(|x| − t, 0), t ≥ 0 */
export function softThreshold(x: number, t: number): number {
  if (x > t) return x - t;
  return x < -t ? x + t : 0;
}

/** The point of [low, high] nearest to x. */
export function clamp(x: number, low: number, high: number): number {
  return Math.min(Math.max(x, low), high);
}
