/** P and D as a textbook has them, on dense rows. */
import { referenceLoss } from '../../../reference/reference.ts';

export interface NaiveProblem {
  readonly rows: readonly (readonly number[])[];
  readonly labels: readonly number[];
  readonly loss: { readonly name: string; readonly parameter: number };
  readonly penalty: {
    readonly l1: number;
    readonly l2: number;
    readonly low?: number;
    readonly high?: number;
  };
  readonly lambda: number;
  readonly factors: readonly number[];
  readonly intercept: boolean;
}

const entropy = (b: number) => (b > 0 && b < 1 ? b * Math.log(b) + (1 - b) * Math.log(1 - b) : 0);

/** ℓ*(−α) for α in the domain. */
export function naiveConjugate(name: string, alpha: number, y: number, parameter: number): number {
  switch (name) {
    case 'hinge':
      return -y * alpha;
    case 'squared-hinge':
      return -y * alpha + alpha ** 2 / 4;
    case 'smoothed-hinge':
      return -y * alpha + (parameter * alpha ** 2) / 2;
    case 'logistic':
      return entropy(y * alpha);
    case 'square':
    case 'huber':
      return -y * alpha + alpha ** 2 / 2;
    case 'absolute':
      return -y * alpha + parameter * Math.abs(alpha);
    case 'squared-absolute':
      return -y * alpha + parameter * Math.abs(alpha) + alpha ** 2 / 4;
    case 'quantile':
      return -y * alpha;
    case 'poisson':
      return gross(y - alpha) - gross(y);
    default:
      throw new Error(`no formula for loss '${name}'`);
  }
}

const gross = (z: number) => (z > 0 ? z * Math.log(z) - z : 0);

/** The ends of α's domain. */
export function naiveDomain(name: string, y: number, parameter: number): [number, number] {
  if (name === 'square' || name === 'squared-absolute') return [-Infinity, Infinity];
  if (name === 'quantile') return [parameter - 1, parameter];
  if (name === 'poisson') return [-Infinity, y];
  if (name === 'huber') return [-parameter, parameter];
  if (name === 'absolute') return [-1, 1];
  const far = name === 'squared-hinge' ? Infinity : 1;
  return y > 0 ? [0, far] : [-far, 0];
}

export function naivePrimal(
  problem: NaiveProblem,
  weights: readonly number[],
  intercept: number,
): number {
  const { rows, labels, loss, penalty, lambda, factors } = problem;
  let penalties = 0;
  weights.forEach((w, j) => {
    penalties += lambda * factors[j] * (penalty.l1 * Math.abs(w) + (penalty.l2 / 2) * w * w);
  });
  let total = 0;
  rows.forEach((row, i) => {
    const score = row.reduce((sum, x, j) => sum + x * weights[j], intercept);
    total += referenceLoss(loss.name, score, labels[i], loss.parameter);
  });
  return penalties + total / rows.length;
}

export function naiveImage(problem: NaiveProblem, alpha: readonly number[]): number[] {
  const { rows } = problem;
  return rows[0].map(
    (_, j) => rows.reduce((sum, row, i) => sum + alpha[i] * row[j], 0) / rows.length,
  );
}

/** D(α); −Infinity where α is not feasible beyond rounding. */
export function naiveDual(problem: NaiveProblem, alpha: readonly number[]): number {
  const { rows, labels, loss, penalty, lambda, factors, intercept } = problem;
  const size = alpha.reduce((sum, a) => sum + Math.abs(a), 0);
  if (intercept && Math.abs(alpha.reduce((sum, a) => sum + a, 0)) > 1e-12 * size) return -Infinity;
  let penalties = 0;
  for (const [j, v] of naiveImage(problem, alpha).entries()) {
    const strength = lambda * factors[j];
    const excess = Math.max(0, Math.abs(v) - strength * penalty.l1);
    // The greatest excess · |w| − (strength l2/2) w² as far as the box lets w go towards v.
    const room = v > 0 ? (penalty.high ?? Infinity) : -(penalty.low ?? -Infinity);
    const expected = penalty.l2 > 0 ? excess / (strength * penalty.l2) : Infinity;
    const reach = Math.min(room, expected);
    if (reach < Infinity) penalties += reach * (excess - (strength * penalty.l2 * reach) / 2);
    else if (excess > 1e-12 * strength * penalty.l1) return -Infinity;
  }
  let conjugates = 0;
  for (let i = 0; i < rows.length; i++) {
    const [low, high] = naiveDomain(loss.name, labels[i], loss.parameter);
    if (alpha[i] < low || alpha[i] > high) return -Infinity;
    conjugates += naiveConjugate(loss.name, alpha[i], labels[i], loss.parameter);
  }
  return -penalties - conjugates / rows.length;
}
