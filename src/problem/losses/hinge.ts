/**
 * Hinge loss, the support vector machine (Cortes and Vapnik 1995).
 *
 *   ℓ(u)  = max(0, 1 − y u),            y ∈ {−1, +1}
 *   ℓ*(s) = y s                         for −1 ≤ y s ≤ 0
 *
 * In terms of α = −s the domain is 0 ≤ y α ≤ 1. Not smooth: curvature 0.
 */
import { clamp } from '../../math/scalars.ts';

export function value(u: number, y: number, _parameter: number): number {
  const z = y * u;
  return z < 1 ? 1 - z : 0;
}

export function derivative(u: number, y: number, _parameter: number): number {
  return y * u < 1 ? -y : 0;
}

export function curvature(_u: number, _y: number, _parameter: number, _slope: number): number {
  return 0;
}

export function conjugate(s: number, y: number, _parameter: number): number {
  return y * s;
}

export function conjugateDerivative(_s: number, y: number, _parameter: number): number {
  return y;
}

export function conjugateCurvature(_s: number, _y: number, _parameter: number): number {
  return 0;
}

export function conjugateLow(y: number, _parameter: number): number {
  return y > 0 ? -1 : 0;
}

export function conjugateHigh(y: number, _parameter: number): number {
  return y > 0 ? 0 : 1;
}

/**
 * With β = y a the objective is β − y u (β − β₀) − (q/2)(β − β₀)², whose maximiser is
 * (1 − y u + q β₀)/q, cut to [0, 1]. Where the numerator is positive a quotient by q = 0 is
 * infinite and the cut gives the right end.
 */
export function dualStep(
  alpha: number,
  u: number,
  q: number,
  y: number,
  _parameter: number,
): number {
  const pull = 1 - y * u + q * (y * alpha);
  return pull > 0 ? y * clamp(pull / q, 0, 1) : 0;
}
