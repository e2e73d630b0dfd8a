/**
 * Squared absolute loss with an insensitive zone, without a factor ½, as LIBLINEAR has it for
 * regression (Ho and Lin 2012, "L2-loss support vector regression"); ε ≥ 0 is the parameter. With
 * the residual r = u − y, y any real:
 *
 *   ℓ(u)  = max(0, |r| − ε)²
 *   ℓ*(s) = y s + ε |s| + s²/4          for every s
 */
import { softThreshold } from '../../math/scalars.ts';

/** A thousandth of the largest second derivative. */
const LEAST_CURVATURE = 2e-3;

export function value(u: number, y: number, epsilon: number): number {
  const excess = softThreshold(u - y, epsilon);
  return excess * excess;
}

export function derivative(u: number, y: number, epsilon: number): number {
  return 2 * softThreshold(u - y, epsilon);
}

/**
 * 2 outside the zone, where it is also the curvature of a quadratic above ℓ. Inside it a row adds
 * nothing to the gradient and gets the least curvature, as on the flat side of the squared hinge.
 * Without a zone every row has 2.
 */
export function curvature(u: number, y: number, epsilon: number, _slope: number): number {
  return Math.abs(u - y) >= epsilon ? 2 : LEAST_CURVATURE;
}

export function conjugate(s: number, y: number, epsilon: number): number {
  return y * s + epsilon * Math.abs(s) + 0.25 * s * s;
}

export function conjugateDerivative(s: number, y: number, epsilon: number): number {
  const middle = y + 0.5 * s;
  if (s > 0) return middle + epsilon;
  return s < 0 ? middle - epsilon : middle;
}

export function conjugateCurvature(_s: number, _y: number, _epsilon: number): number {
  return 0.5;
}

export function conjugateLow(_y: number, _epsilon: number): number {
  return -Infinity;
}

export function conjugateHigh(_y: number, _epsilon: number): number {
  return Infinity;
}

/**
 * y − ε sign(a) − a/2 − u − q (a − α) = 0, or a = 0 between: the objective is
 * (y − u + q α) a − ε |a| − (q + ½)/2 · a² up to a constant.
 */
export function dualStep(alpha: number, u: number, q: number, y: number, epsilon: number): number {
  return softThreshold(y - u + q * alpha, epsilon) / (0.5 + q);
}
