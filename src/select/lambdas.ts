import type { Dataset } from '../data/dataset.ts';
import { UsageError } from '../errors.ts';
import type { Loss } from '../losses/loss.ts';
import { exp, log } from '../math/elementary.ts';
import type { Penalty } from '../penalties/penalty.ts';

/** λ from `first` down to `last`, equal factors apart. */
export function lambdasBetween(first: number, last: number, count: number): number[] {
  if (count === 1) return [first];
  const step = log(last / first) / (count - 1);
  return Array.from({ length: count }, (_, k) => {
    if (k === 0) return first;
    return k === count - 1 ? last : first * exp(step * k);
  });
}

export function checkLambdas(lambdas: readonly number[]): void {
  if (lambdas.length === 0) throw new UsageError('no value of lambda; give at least one');
  for (const lambda of lambdas) {
    if (lambda > 0 && lambda < Infinity) continue;
    throw new UsageError(`lambda is ${lambda}; it must be a positive finite number`);
  }
}

/** What the gradient at w = 0 is computed from. */
export interface AtZero {
  readonly dataset: Pick<Dataset, 'parts' | 'columns'>;
  /** Of all rows, in their order. */
  readonly targets: Float64Array;
  readonly weights: Float64Array | undefined;
  readonly loss: Loss;
  readonly intercept: boolean;
  readonly factors: Float64Array | undefined;
}

/**
 * The smallest λ at which w = 0 is optimal: max_j |v_j| / (l1 f_j) with
 * v = −(1/Σc) Σ_i c_i ℓ'(b, y_i) x_i, b the best intercept. A penalty without an L1 part has no such
 * λ; for those, l1 = 1 gives the λ at which weights are about as large as the slopes allow.
 */
export function largestLambda(problem: AtZero, { l1 }: Pick<Penalty, 'l1'>): number {
  const { dataset, factors } = problem;
  const image = gradientAtZero(problem);
  let largest = 0;
  for (let column = 0; column < dataset.columns; column += 1) {
    const factor = (l1 > 0 ? l1 : 1) * (factors?.[column] ?? 1);
    largest = Math.max(largest, Math.abs(image[column]) / factor);
  }
  return largest;
}

function gradientAtZero(problem: AtZero): Float64Array {
  const { dataset, targets, weights, loss, intercept } = problem;
  const offset = intercept ? bestIntercept(problem) : 0;
  const image = new Float64Array(dataset.columns);
  let mass = 0;
  let row = 0;
  for (const { rowOffsets, labels, indices, values } of dataset.parts) {
    for (let local = 0; local < labels.length; local += 1) {
      const weight = weights?.[row] ?? 1;
      const slope = weight * loss.derivative(offset, targets[row], loss.parameter);
      mass += weight;
      for (let k = rowOffsets[local]; k < rowOffsets[local + 1]; k += 1) {
        image[indices[k]] += slope * values[k];
      }
      row += 1;
    }
  }
  return image.map((value) => value / mass);
}

/** Where Σ c_i ℓ'(b, y_i) changes its sign: the sum rises with b. */
function bestIntercept({ targets, weights, loss }: AtZero): number {
  const slope = (offset: number) => {
    let sum = 0;
    for (let row = 0; row < targets.length; row += 1) {
      sum += (weights?.[row] ?? 1) * loss.derivative(offset, targets[row], loss.parameter);
    }
    return sum;
  };
  const atZero = slope(0);
  if (atZero === 0) return 0;
  const side = atZero > 0 ? -1 : 1;
  let near = 0;
  let far = side;
  for (let k = 0; k < 60 && slope(far) * atZero > 0; k += 1) {
    near = far;
    far *= 2;
  }
  for (let k = 0; k < 100 && near !== far; k += 1) {
    const middle = (near + far) / 2;
    if (slope(middle) * atZero > 0) near = middle;
    else far = middle;
  }
  return (near + far) / 2;
}
