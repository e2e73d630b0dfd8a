/**
 * Squared hinge loss, without a factor ½, as LIBLINEAR has it (Fan et al. 2008, "L2-loss").
 *
 *   ℓ(u)  = max(0, 1 − y u)²,           y ∈ {−1, +1}
 *   ℓ*(s) = y s + s²/4                  for y s ≤ 0
 *
 * In terms of α = −s the domain is y α ≥ 0, without an upper end.
 */

/** A thousandth of the largest second derivative. */
const LEAST_CURVATURE = 2e-3;

export function value(u: number, y: number, _parameter: number): number {
  const violation = 1 - y * u;
  return violation > 0 ? violation * violation : 0;
}

export function derivative(u: number, y: number, _parameter: number): number {
  const violation = 1 - y * u;
  return violation > 0 ? -2 * y * violation : 0;
}

/**
 * The generalised second derivative: 2 where the row violates its margin, where it is also the
 * curvature of a quadratic above ℓ. A row on the flat side adds nothing to the gradient, so the
 * size of a step does not depend on it; it gets the least curvature, as a quadratic above ℓ would
 * need the full 2 there and make every column with few violations crawl. The line search handles
 * rows that a step pushes over the margin.
 */
export function curvature(u: number, y: number, _parameter: number, _slope: number): number {
  return y * u < 1 ? 2 : LEAST_CURVATURE;
}

export function conjugate(s: number, y: number, _parameter: number): number {
  return y * s + 0.25 * s * s;
}

export function conjugateDerivative(s: number, y: number, _parameter: number): number {
  return y + 0.5 * s;
}

export function conjugateCurvature(_s: number, _y: number, _parameter: number): number {
  return 0.5;
}

export function conjugateLow(y: number, _parameter: number): number {
  return y > 0 ? -Infinity : 0;
}

export function conjugateHigh(y: number, _parameter: number): number {
  return y > 0 ? 0 : Infinity;
}

/** With β = y a: 1 − β/2 − y u − q (β − β₀) = 0, cut to β ≥ 0. */
export function dualStep(
  alpha: number,
  u: number,
  q: number,
  y: number,
  _parameter: number,
): number {
  const old = y * alpha;
  const beta = old + (1 - y * u - 0.5 * old) / (0.5 + q);
  return beta > 0 ? y * beta : 0;
}
