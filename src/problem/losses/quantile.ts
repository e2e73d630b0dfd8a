/**
 * Quantile loss, also called pinball loss (Koenker and Bassett 1978); τ is the parameter,
 * 0 < τ < 1. The best constant is the τ-quantile of the labels; τ = ½ is half the absolute loss.
 *
 *   ℓ(u)  = max(τ (y − u), (1 − τ)(u − y)),   y any real
 *   ℓ*(s) = y s                               for −τ ≤ s ≤ 1 − τ
 *
 * Not smooth: curvature 0.
 */
import { clamp } from '../../math/scalars.ts';

export function value(u: number, y: number, quantile: number): number {
  const residual = u - y;
  return residual > 0 ? (1 - quantile) * residual : -quantile * residual;
}

export function derivative(u: number, y: number, quantile: number): number {
  if (u > y) return 1 - quantile;
  return u < y ? -quantile : 0;
}

export function curvature(_u: number, _y: number, _quantile: number, _slope: number): number {
  return 0;
}

export function conjugate(s: number, y: number, _quantile: number): number {
  return y * s;
}

export function conjugateDerivative(_s: number, y: number, _quantile: number): number {
  return y;
}

export function conjugateCurvature(_s: number, _y: number, _quantile: number): number {
  return 0;
}

export function conjugateLow(_y: number, quantile: number): number {
  return -quantile;
}

export function conjugateHigh(_y: number, quantile: number): number {
  return 1 - quantile;
}

/**
 * The objective is (y − u + q α) a − (q/2) a² up to a constant: divide by q, cut to [τ − 1, τ].
 * A quotient of a non-zero number by q = 0 is infinite and the cut gives the right end.
 */
export function dualStep(alpha: number, u: number, q: number, y: number, quantile: number): number {
  const pull = y - u + q * alpha;
  return pull === 0 ? 0 : clamp(pull / q, quantile - 1, quantile);
}
