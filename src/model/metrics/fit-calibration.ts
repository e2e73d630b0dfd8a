/**
 * Turns scores of rows whose class is known into a calibration: what the probability of the
 * positive class is at a score. Rows may have weights; a weight k counts like k rows.
 */
import { exp, log, log1p } from '../../math/elementary.ts';
import { intervalOf } from '../../math/vectors.ts';
import type { Calibration } from '../model.ts';

type Platt = Extract<Calibration, { method: 'platt' }>;
type Isotonic = Extract<Calibration, { method: 'isotonic' }>;

/** Newton's method ends when its gradient, per unit of weight, is at most this. */
const flat = 1e-10;
const mostSteps = 100;
/** Keeps the Hessian regular where scores do not vary. */
const ridge = 1e-12;
/** The least decrease of the objective in a step, as a share of what its slope predicts. */
const sufficient = 1e-4;
/** Shorter steps than this change nothing. */
const shortest = 1e-10;
/** How far rounding may raise the objective, relative to itself. */
const rounding = 1e-12;

/**
 * Platt scaling (Platt 1999): P(+1 | score) = 1 / (1 + exp(slope · score + offset)), fitted by
 * maximum likelihood to the targets (N₊ + 1)/(N₊ + 2) for positive rows and 1/(N₋ + 2) for the
 * others, whose distance from 1 and 0 keeps the slope finite. Newton's method with backtracking as
 * in Lin, Lin and Weng (2007, "A note on Platt's probabilistic outputs for support vector
 * machines"), on scores of mean 0 and spread 1.
 */
export function fitPlatt(
  scores: Float64Array,
  positives: Uint8Array,
  weights?: Float64Array,
): Platt {
  const fit = plattFit(scores, positives, weights);
  let here = fit.at(0, log((fit.negative + 1) / (fit.positive + 1)));
  const enough = flat * (fit.positive + fit.negative);
  for (let step = 0; step < mostSteps && here.steepest > enough; step += 1) {
    const next = advance(fit, here);
    if (next === undefined) break;
    here = next;
  }
  const slope = here.slope / fit.spread;
  return { method: 'platt', slope, offset: here.offset - slope * fit.centre };
}

/** The objective and its derivatives at a slope and an offset for standardised scores. */
interface PlattPoint {
  readonly slope: number;
  readonly offset: number;
  readonly value: number;
  readonly gradient: readonly [slope: number, offset: number];
  readonly hessian: readonly [slope: number, mixed: number, offset: number];
  readonly steepest: number;
}

/** The first of the Newton step, its half, its quarter … that lowers the objective enough. */
function advance(fit: PlattFit, here: PlattPoint): PlattPoint | undefined {
  const [first, second] = here.gradient;
  const [a, b, c] = here.hessian;
  const determinant = a * c - b * b;
  const slopeStep = -(c * first - b * second) / determinant;
  const offsetStep = -(a * second - b * first) / determinant;
  const predicted = first * slopeStep + second * offsetStep;
  for (let share = 1; share >= shortest; share *= 0.5) {
    const next = fit.at(here.slope + share * slopeStep, here.offset + share * offsetStep);
    if (next.value < here.value + sufficient * share * predicted) return next;
    // Near the minimum rounding hides changes of the objective, but not of the gradient.
    const level = next.value <= here.value + rounding * Math.abs(here.value);
    if (level && next.steepest < 0.5 * here.steepest) return next;
  }
  return undefined;
}

type PlattFit = ReturnType<typeof plattFit>;

/** Sums of the rows, and the objective at a slope and an offset. */
function plattFit(scores: Float64Array, positives: Uint8Array, weights: Float64Array | undefined) {
  let positive = 0;
  let all = 0;
  let sum = 0;
  for (let row = 0; row < scores.length; row += 1) {
    const weight = weights ? weights[row] : 1;
    if (positives[row] !== 0) positive += weight;
    all += weight;
    sum += weight * scores[row];
  }
  const negative = all - positive;
  const centre = all > 0 ? sum / all : 0;
  let squares = 0;
  for (let row = 0; row < scores.length; row += 1) {
    const away = scores[row] - centre;
    squares += (weights ? weights[row] : 1) * away * away;
  }
  const spread = squares > 0 ? Math.sqrt(squares / all) : 1;
  const high = (positive + 1) / (positive + 2);
  const low = 1 / (negative + 2);
  const inverse = 1 / spread;

  /** Σ weight · (target · f + log(1 + e^−f)), f = slope · z + offset, z the standardised score. */
  const at = (slope: number, offset: number): PlattPoint => {
    let value = 0;
    let first = 0;
    let second = 0;
    let a = ridge;
    let b = 0;
    let c = ridge;
    for (let row = 0; row < scores.length; row += 1) {
      const weight = weights ? weights[row] : 1;
      const target = positives[row] !== 0 ? high : low;
      const z = (scores[row] - centre) * inverse;
      const f = slope * z + offset;
      const e = exp(-Math.abs(f));
      const p = (f >= 0 ? e : 1) / (1 + e);
      const missing = weight * (target - p);
      const curvature = weight * p * (1 - p);
      value += weight * ((f >= 0 ? target : target - 1) * f + log1p(e));
      first += missing * z;
      second += missing;
      a += curvature * z * z;
      b += curvature * z;
      c += curvature;
    }
    const steepest = Math.max(Math.abs(first), Math.abs(second));
    return { slope, offset, value, gradient: [first, second], hessian: [a, b, c], steepest };
  };
  return { positive, negative, centre, spread, at };
}

/**
 * Isotonic regression: the rising function of the score that is nearest, in least squares, to 1 for
 * positive rows and 0 for the others. Rows with equal scores get one value, so they are pooled
 * first; then neighbours that do not rise are pooled until all do. Between the pools, whose values
 * hold from their first score to their last, the function runs in straight lines. Rows without
 * weight do not count.
 */
export function fitIsotonic(
  scores: Float64Array,
  positives: Uint8Array,
  weights?: Float64Array,
): Isotonic {
  const { count, firsts, lasts, hits, totals } = poolScores(scores, positives, weights);
  const points: [score: number, probability: number][] = [];
  for (let pool = 0; pool < count; pool += 1) {
    const probability = hits[pool] / totals[pool];
    points.push([firsts[pool], probability]);
    if (lasts[pool] > firsts[pool]) points.push([lasts[pool], probability]);
  }
  // Nothing is known without rows.
  if (points.length === 0) points.push([0, 0.5]);
  return {
    method: 'isotonic',
    scores: points.map(([score]) => score),
    probabilities: points.map(([, probability]) => probability),
  };
}

/** Neighbouring scores with one value each, `hits / totals`, which rises from pool to pool. */
function poolScores(
  scores: Float64Array,
  positives: Uint8Array,
  weights: Float64Array | undefined,
) {
  const firsts = distinct(scores);
  const lasts = firsts.slice();
  const hits = new Float64Array(firsts.length);
  const totals = new Float64Array(firsts.length);
  for (let row = 0; row < scores.length; row += 1) {
    const level = intervalOf(firsts, scores[row], 0, firsts.length);
    const weight = weights ? weights[row] : 1;
    totals[level] += weight;
    if (positives[row] !== 0) hits[level] += weight;
  }
  let count = 0;
  for (let level = 0; level < firsts.length; level += 1) {
    if (!(totals[level] > 0)) continue;
    // The level becomes the last pool; those before whose value is no lower join it.
    let first = firsts[level];
    let hit = hits[level];
    let total = totals[level];
    while (count > 0 && hits[count - 1] * total >= hit * totals[count - 1]) {
      count -= 1;
      first = firsts[count];
      hit += hits[count];
      total += totals[count];
    }
    // There are at most as many pools as levels read: none is overwritten before it is read.
    firsts[count] = first;
    lasts[count] = lasts[level];
    hits[count] = hit;
    totals[count] = total;
    count += 1;
  }
  return { count, firsts, lasts, hits, totals };
}

/** The different values, ascending; −0 and 0 are one value, and that is 0. */
function distinct(values: Float64Array): Float64Array {
  const sorted = values.map((value) => value + 0).sort();
  return sorted.filter((value, k) => k === 0 || value !== sorted[k - 1]);
}
