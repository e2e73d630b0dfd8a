/**
 * Logistic loss, logistic regression.
 *
 *   ℓ(u)  = log(1 + e^(−y u)),          y ∈ {−1, +1}
 *   ℓ*(s) = β log β + (1 − β) log(1 − β)  for 0 ≤ β ≤ 1, where β = −y s
 *
 * In terms of α = −s, β = y α. The dual step follows Yu, Huang and Lin (2011, "Dual coordinate
 * descent methods for logistic regression and maximum entropy models") in working on the side
 * where β or 1 − β is small, and is solved in the logit of β.
 */
import { exp, log1p, logit } from '../../math/elementary.ts';
import { log1pExp, sigmoid, xlogx } from '../../math/scalars.ts';

/** Far from the boundary ℓ'' vanishes and a Newton step with it would be wild. */
const LEAST_CURVATURE = 1e-3;

/**
 * Where the infinite slope of ℓ* at β = 0 and β = 1 is read instead: 1e-300 and 1 − 2^−53, the
 * last double below 1. So its size stays below 691 and 37.
 */
const LEAST_BETA = 1e-300;
const GREATEST_BETA = 0.9999999999999999;

export function value(u: number, y: number, _parameter: number): number {
  return log1pExp(-y * u);
}

export function derivative(u: number, y: number, _parameter: number): number {
  return -y * sigmoid(-y * u);
}

/** With d = |ℓ'| the second derivative is d (1 − d); the floor covers what cancels near d = 1. */
export function curvature(_u: number, _y: number, _parameter: number, slope: number): number {
  const d = Math.abs(slope);
  const bend = d * (1 - d);
  return bend > LEAST_CURVATURE ? bend : LEAST_CURVATURE;
}

export function conjugate(s: number, y: number, _parameter: number): number {
  const beta = -y * s;
  return beta < 1 ? xlogx(beta) + (1 - beta) * log1p(-beta) : 0;
}

export function conjugateDerivative(s: number, y: number, _parameter: number): number {
  let beta = -y * s;
  if (beta < LEAST_BETA) beta = LEAST_BETA;
  if (beta > GREATEST_BETA) beta = GREATEST_BETA;
  return -y * logit(beta);
}

/** 1 / (β (1 − β)), at the ends of the domain a large number. */
export function conjugateCurvature(s: number, y: number, _parameter: number): number {
  const beta = -y * s;
  return 1 / Math.max(beta * (1 - beta), LEAST_BETA);
}

export function conjugateLow(y: number, _parameter: number): number {
  return y > 0 ? -1 : 0;
}

export function conjugateHigh(y: number, _parameter: number): number {
  return y > 0 ? 0 : 1;
}

/**
 * With β = y a the maximiser solves log(β/(1 − β)) + y u + q (β − β₀) = 0. Reflected to 1 − β
 * where that is the smaller one, so that the small one keeps its relative accuracy.
 */
export function dualStep(
  alpha: number,
  u: number,
  q: number,
  y: number,
  _parameter: number,
): number {
  const old = y * alpha;
  const margin = y * u;
  const atHalf = margin + q * (0.5 - old);
  if (atHalf >= 0) return y * smallerHalf(margin - q * old, q, old);
  return y * (1 - smallerHalf(q * (old - 1) - margin, q, 1 - old));
}

/**
 * The root β ≤ ½ of log(β/(1 − β)) + shift + q β = 0, given that the left side is ≥ 0 at ½;
 * `guess` is where β was before. In the logit t, f(t) = t + shift + q σ(t) is increasing with
 * slope ≥ 1 and the root is in [−shift − q/2, min(0, −shift)]: Halley's method, which takes the
 * curvature of σ into account, limited to that bracket. It takes two to four rounds. Its error
 * is below half the cube of the one before, so that after a step of 1e-5 nothing is left to do,
 * and σ there needs two terms of its Taylor series rather than another exponential.
 */
function smallerHalf(shift: number, q: number, guess: number): number {
  let high: number = shift > 0 ? -shift : 0;
  let low: number = -shift - 0.5 * q;
  if (low > high) low = high;
  let t = firstLogit(shift, q, guess);
  if (t < low) t = low;
  if (t > high) t = high;
  let beta: number = 0;
  for (let round = 0; round < 30; round += 1) {
    const e = exp(t);
    beta = e / (1 + e);
    const spread = beta * (1 - beta);
    const f = t + shift + q * beta;
    const slope = 1 + q * spread;
    const bend = q * spread * (1 - 2 * beta);
    if (f > 0) high = t;
    else low = t;
    let next = t - (2 * f * slope) / (2 * slope * slope - f * bend);
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    const step = next - t;
    if (Math.abs(step) <= 1e-5) return beta + spread * step * (1 + (0.5 - beta) * step);
    t = next;
  }
  return beta;
}

/** Where to start: the old logit, or one Newton step from 0 when there was none. */
function firstLogit(shift: number, q: number, guess: number): number {
  if (guess > 0 && guess < 1) return logit(guess);
  return -(shift + 0.5 * q) / (1 + 0.25 * q);
}
