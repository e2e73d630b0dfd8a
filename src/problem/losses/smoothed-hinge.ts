/**
 * Smoothed hinge loss (Shalev-Shwartz and Zhang 2013): the hinge with its corner rounded over a
 * width γ, the parameter, 0 < γ ≤ 1. With z = y u, y ∈ {−1, +1}:
 *
 *   ℓ(u)  = 0                           for z ≥ 1
 *           (1 − z)²/(2γ)               for 1 − γ ≤ z ≤ 1
 *           1 − z − γ/2                 for z ≤ 1 − γ
 *   ℓ*(s) = y s + (γ/2) s²              for −1 ≤ y s ≤ 0
 *
 * In terms of α = −s the domain is 0 ≤ y α ≤ 1.
 */
import { clamp } from '../../math/scalars.ts';

/** The least curvature as a part of the largest, 1/γ. */
const LEAST_PART = 1e-3;

export function value(u: number, y: number, smoothing: number): number {
  const violation = 1 - y * u;
  if (violation <= 0) return 0;
  if (violation >= smoothing) return violation - 0.5 * smoothing;
  return (0.5 * violation * violation) / smoothing;
}

export function derivative(u: number, y: number, smoothing: number): number {
  const violation = 1 - y * u;
  if (violation <= 0) return 0;
  return violation >= smoothing ? -y : -y * (violation / smoothing);
}

/**
 * Inside the rounded corner the second derivative 1/γ. On the sloping side ℓ'' = 0 would make
 * steps wild, since such rows do add to the gradient: there it is the curvature of the lowest
 * quadratic that touches ℓ at u and is above it everywhere, 1/(2(1 − z) − γ). (ℓ is a straight
 * line plus a Huber function of 1 − z − γ/2; the quadratic is that of Huber's reweighting.) On the
 * flat side, where the gradient is 0, the least curvature, as for the squared hinge.
 */
export function curvature(u: number, y: number, smoothing: number, _slope: number): number {
  const violation = 1 - y * u;
  if (violation <= 0) return LEAST_PART / smoothing;
  return violation <= smoothing ? 1 / smoothing : 1 / (2 * violation - smoothing);
}

export function conjugate(s: number, y: number, smoothing: number): number {
  return y * s + 0.5 * smoothing * s * s;
}

export function conjugateDerivative(s: number, y: number, smoothing: number): number {
  return y + smoothing * s;
}

export function conjugateCurvature(_s: number, _y: number, smoothing: number): number {
  return smoothing;
}

export function conjugateLow(y: number, _smoothing: number): number {
  return y > 0 ? -1 : 0;
}

export function conjugateHigh(y: number, _smoothing: number): number {
  return y > 0 ? 0 : 1;
}

/** With β = y a: 1 − γ β − y u − q (β − β₀) = 0, cut to [0, 1]. */
export function dualStep(
  alpha: number,
  u: number,
  q: number,
  y: number,
  smoothing: number,
): number {
  const old = y * alpha;
  return y * clamp(old + (1 - y * u - smoothing * old) / (smoothing + q), 0, 1);
}
