/**
 * Absolute loss with an insensitive zone, support vector regression (Vapnik 1995); ε ≥ 0 is the
 * parameter, and ε = 0 gives least absolute deviations.
 *
 *   ℓ(u)  = max(0, |u − y| − ε),        y any real
 *   ℓ*(s) = y s + ε |s|                 for |s| ≤ 1
 *
 * Not smooth: curvature 0.
 */
import { clamp, softThreshold } from '../../math/scalars.ts';

export function value(u: number, y: number, epsilon: number): number {
  return Math.max(0, Math.abs(u - y) - epsilon);
}

export function derivative(u: number, y: number, epsilon: number): number {
  const residual = u - y;
  if (residual > epsilon) return 1;
  return residual < -epsilon ? -1 : 0;
}

export function curvature(_u: number, _y: number, _epsilon: number, _slope: number): number {
  return 0;
}

export function conjugate(s: number, y: number, epsilon: number): number {
  return y * s + epsilon * Math.abs(s);
}

export function conjugateDerivative(s: number, y: number, epsilon: number): number {
  if (s > 0) return y + epsilon;
  return s < 0 ? y - epsilon : y;
}

export function conjugateCurvature(_s: number, _y: number, _epsilon: number): number {
  return 0;
}

export function conjugateLow(_y: number, _epsilon: number): number {
  return -1;
}

export function conjugateHigh(_y: number, _epsilon: number): number {
  return 1;
}

/**
 * The objective is (y − u + q α) a − ε |a| − (q/2) a² up to a constant: soft threshold by ε,
 * divide by q, cut to [−1, 1]. A quotient of a non-zero number by q = 0 is infinite and the cut
 * gives the right end.
 */
export function dualStep(alpha: number, u: number, q: number, y: number, epsilon: number): number {
  const pull = softThreshold(y - u + q * alpha, epsilon);
  return pull === 0 ? 0 : clamp(pull / q, -1, 1);
}
