import { sum } from '../math/sum.ts';

export interface WeightSummary {
  /** Weights that are not 0. */
  readonly nonzero: number;
  /** Σ |w_j| */
  readonly l1Norm: number;
  /** √(Σ w_j²) */
  readonly l2Norm: number;
  /** max |w_j| */
  readonly largest: number;
}

export function summarizeWeights(weights: Float64Array): WeightSummary {
  const absolute = weights.map(Math.abs);
  const largest = absolute.reduce((most, value) => Math.max(most, value), 0);
  // Scaled by the largest, so that no square overflows or vanishes.
  const scaled = largest === 0 ? 0 : sum(absolute.map((value) => (value / largest) ** 2));
  let nonzero = 0;
  for (const value of absolute) if (value !== 0) nonzero++;
  return { nonzero, l1Norm: sum(absolute), l2Norm: largest * Math.sqrt(scaled), largest };
}

/** The columns with the largest |weight| that is not 0, largest first, ties by column. */
export function largestColumns(weights: Float64Array, count: number): number[] {
  const columns: number[] = [];
  let threshold = 0;
  for (let column = 0; column < weights.length; column++) {
    if (Math.abs(weights[column]) <= threshold) continue;
    columns.push(column);
    // Sorting now and then keeps the list short without sorting millions of weights.
    if (columns.length >= 2 * count + 1024) threshold = keepLargest(columns, weights, count);
  }
  keepLargest(columns, weights, count);
  return columns;
}

/** Shortens the list in place; returns what a later column must exceed to matter. */
function keepLargest(columns: number[], weights: Float64Array, count: number): number {
  columns.sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]) || a - b);
  if (columns.length < count) return 0;
  columns.length = count;
  return count === 0 ? Infinity : Math.abs(weights[columns[count - 1]]);
}
