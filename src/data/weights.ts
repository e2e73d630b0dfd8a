import type { Dataset, DatasetPart } from './dataset.ts';

/** Whether any row may count other than 1. */
export function isWeighted({ parts = [] }: Partial<Pick<Dataset, 'parts'>>): boolean {
  return parts.some(({ weights }) => weights !== undefined);
}

/** How much each row counts, in order, in memory that threads share; undefined where all count 1. */
export function rowWeights(dataset: Pick<Dataset, 'parts' | 'rows'>): Float64Array | undefined {
  if (!isWeighted(dataset)) return undefined;
  const all = new Float64Array(new SharedArrayBuffer(8 * dataset.rows));
  let row = 0;
  for (const part of dataset.parts) {
    fillWeights(part, all.subarray(row, row + part.labels.length));
    row += part.labels.length;
  }
  return all;
}

function fillWeights({ weights }: DatasetPart, target: Float64Array): void {
  if (weights) target.set(weights);
  else target.fill(1);
}

/** The first row whose weight is not a finite number ≥ 0; −1 if there is none. */
export function badWeight(weights: ArrayLike<number>): number {
  for (let row = 0; row < weights.length; row += 1) {
    if (!(weights[row] >= 0 && weights[row] < Infinity)) return row;
  }
  return -1;
}
