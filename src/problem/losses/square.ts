/**
 * Square loss, least squares and the LASSO.
 *
 *   ℓ(u)  = ½ (u − y)²,                 y any real
 *   ℓ*(s) = y s + ½ s²                  for every s
 */

export function value(u: number, y: number, _parameter: number): number {
  const residual = u - y;
  return 0.5 * residual * residual;
}

export function derivative(u: number, y: number, _parameter: number): number {
  return u - y;
}

export function curvature(_u: number, _y: number, _parameter: number, _slope: number): number {
  return 1;
}

export function conjugate(s: number, y: number, _parameter: number): number {
  return s * (y + 0.5 * s);
}

export function conjugateDerivative(s: number, y: number, _parameter: number): number {
  return y + s;
}

export function conjugateCurvature(_s: number, _y: number, _parameter: number): number {
  return 1;
}

export function conjugateLow(_y: number, _parameter: number): number {
  return -Infinity;
}

export function conjugateHigh(_y: number, _parameter: number): number {
  return Infinity;
}

/** y − a − u − q (a − α) = 0 */
export function dualStep(
  alpha: number,
  u: number,
  q: number,
  y: number,
  _parameter: number,
): number {
  return alpha + (y - u - alpha) / (1 + q);
}
