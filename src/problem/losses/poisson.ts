/**
 * Poisson loss, regression of counts with the mean e^u: half the deviance.
 *
 *   ℓ(u)  = e^u − y − y (u − log y),    y ≥ 0
 *   ℓ*(s) = β log β − β − (y log y − y)   for β ≥ 0, where β = s + y
 *
 * That is e^u − y u, the negative logarithm of the likelihood, plus what makes its minimum 0, with
 * 0 log 0 = 0: the same weights are best, and a gap relative to P means something. In terms of
 * α = −s, β = y − α, which at the optimum is the mean e^u.
 *
 * The second derivative e^u is bounded on every bounded set of scores, but not on the line. Beyond
 * u = 200 (means of 10^86) ℓ continues as its tangent, so that no score can overflow; β ≤ e^200.
 */
import { exp, log } from '../../math/elementary.ts';
import { xlogx } from '../../math/scalars.ts';

const FARTHEST_SCORE = 200.0;
/** e^200 */
const GREATEST_BETA = 7.22597376812575e86;

/** Where the infinite slope of ℓ* at β = 0 is read instead; so its size stays below 691. */
const LEAST_BETA = 1e-300;

/** Columns of rows whose mean is zero would otherwise take infinite steps. */
const LEAST_CURVATURE = 1e-9;

/** How far beyond its bounds the root of the dual step is searched, in case rounding put it there. */
const ROOM = 0.125;

export function value(u: number, y: number, _parameter: number): number {
  const mean = u <= FARTHEST_SCORE ? exp(u) : GREATEST_BETA * (u - FARTHEST_SCORE + 1);
  if (y === 0) return mean;
  const found = mean - y - y * (u - log(y));
  // What rounding leaves at the minimum.
  return found < 0 ? 0 : found;
}

export function derivative(u: number, y: number, _parameter: number): number {
  return (u < FARTHEST_SCORE ? exp(u) : GREATEST_BETA) - y;
}

/**
 * The second derivative e^u, which is ℓ' + y, from half the label on. Below, where it fades while
 * the slope does not, a Newton step would leap far beyond log y; half the label makes it one of at
 * most 2.
 */
export function curvature(_u: number, y: number, _parameter: number, slope: number): number {
  return Math.max(Math.max(slope + y, 0.5 * y), LEAST_CURVATURE);
}

export function conjugate(s: number, y: number, _parameter: number): number {
  return xlogx(s + y) - xlogx(y) - s;
}

export function conjugateDerivative(s: number, y: number, _parameter: number): number {
  const beta = s + y;
  return log(beta > LEAST_BETA ? beta : LEAST_BETA);
}

/** 1/β, at the end of the domain a large number. */
export function conjugateCurvature(s: number, y: number, _parameter: number): number {
  return 1 / Math.max(s + y, LEAST_BETA);
}

export function conjugateLow(y: number, _parameter: number): number {
  return -y;
}

export function conjugateHigh(y: number, _parameter: number): number {
  return GREATEST_BETA - y;
}

/**
 * With β = y − a the maximiser solves log β + q β = c, where c = u + q (y − α). In t = log β the
 * left side f(t) = t + q e^t rises with slope ≥ 1 and is convex: Halley's method inside a
 * bracket of a width a little above 1. It starts from the old β; it takes two or three rounds. The error is
 * below half the cube of the one before, so that after a step of 1e-5 nothing is left to do, and
 * e^t there needs three terms of its Taylor series rather than another exponential.
 */
export function dualStep(
  alpha: number,
  u: number,
  q: number,
  y: number,
  _parameter: number,
): number {
  const c = u + q * (y - alpha);
  const most = highestLogarithm(c, q);
  let low = most - 1 - ROOM;
  let high = most + ROOM;
  if (high > FARTHEST_SCORE) {
    high = FARTHEST_SCORE;
    if (low > high) return y - GREATEST_BETA;
  }
  const old = y - alpha;
  let t = old > 0 ? log(old) : most;
  if (t < low) t = low;
  if (t > high) t = high;
  let beta: number = 0;
  for (let round = 0; round < 30; round += 1) {
    beta = exp(t);
    const part = q * beta;
    const f = t - c + part;
    const slope = 1 + part;
    if (f > 0) high = t;
    else low = t;
    let next = t - (2 * f * slope) / (2 * slope * slope - f * part);
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    const step = next - t;
    if (Math.abs(step) <= 1e-5) {
      beta += beta * step * (1 + 0.5 * step);
      break;
    }
    t = next;
  }
  return y - (beta < GREATEST_BETA ? beta : GREATEST_BETA);
}

/**
 * A t at or above the root of t + q e^t = c that exceeds it by 1 at most. With ω = q e^t and
 * z = c + log q the equation is ω + log ω = z. For z ≤ 1, ω = c − t is between 0 and 1; for z > 1
 * it is between z/2 and z.
 */
function highestLogarithm(c: number, q: number): number {
  if (!(q > 0)) return c;
  const shift = log(q);
  const z = c + shift;
  return z > 1 ? log(z) - shift : c;
}
