/**
 * Huber loss (Huber 1964): square near the label, straight beyond δ, the parameter, δ > 0. With
 * the residual r = u − y:
 *
 *   ℓ(u)  = ½ r²                        for |r| ≤ δ
 *           δ |r| − ½ δ²                beyond
 *   ℓ*(s) = y s + ½ s²                  for |s| ≤ δ
 */
import { clamp } from '../../math/scalars.ts';

export function value(u: number, y: number, delta: number): number {
  const size = Math.abs(u - y);
  return size <= delta ? 0.5 * size * size : delta * (size - 0.5 * delta);
}

export function derivative(u: number, y: number, delta: number): number {
  return clamp(u - y, -delta, delta);
}

/**
 * min(1, δ/|r|), the weight of Huber's reweighted least squares: the curvature of the lowest
 * quadratic that touches ℓ at u and is above it everywhere. The second derivative itself is 0
 * beyond δ, where the gradient is not, and would make steps wild.
 */
export function curvature(u: number, y: number, delta: number, _slope: number): number {
  const size = Math.abs(u - y);
  return size <= delta ? 1 : delta / size;
}

export function conjugate(s: number, y: number, _delta: number): number {
  return s * (y + 0.5 * s);
}

export function conjugateDerivative(s: number, y: number, _delta: number): number {
  return y + s;
}

export function conjugateCurvature(_s: number, _y: number, _delta: number): number {
  return 1;
}

export function conjugateLow(_y: number, delta: number): number {
  return -delta;
}

export function conjugateHigh(_y: number, delta: number): number {
  return delta;
}

/** y − a − u − q (a − α) = 0, cut to [−δ, δ]. */
export function dualStep(alpha: number, u: number, q: number, y: number, delta: number): number {
  return clamp(alpha + (y - u - alpha) / (1 + q), -delta, delta);
}
