import { CompensatedSum } from '../../math/vectors.ts';

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
  const absolute = new CompensatedSum();
  let largest = 0;
  let nonzero = 0;
  for (const weight of weights) {
    const size = Math.abs(weight);
    absolute.add(size);
    if (size > largest) largest = size;
    if (size > 0) nonzero++;
  }
  // Scaled by the largest, so that no square overflows or vanishes.
  const squares = new CompensatedSum();
  if (largest > 0) for (const weight of weights) squares.add((weight / largest) ** 2);
  return { nonzero, l1Norm: absolute.total, l2Norm: largest * Math.sqrt(squares.total), largest };
}

/** Which weights count: all by their size, the positive ones, or the negative ones. */
export type Side = 'both' | 'positive' | 'negative';

/** The columns with the largest |weight| that is not 0, largest first, ties by column. */
export function largestColumns(
  weights: Float64Array,
  count: number,
  side: Side = 'both',
): number[] {
  const columns: number[] = [];
  let threshold = 0;
  for (let column = 0; column < weights.length; column++) {
    const weight = weights[column];
    const size = side === 'both' ? Math.abs(weight) : side === 'positive' ? weight : -weight;
    if (size <= threshold) continue;
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
