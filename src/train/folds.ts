import type { Dataset } from '../data/dataset.ts';
import { DataError, UsageError } from '../errors.ts';
import { stream } from '../math/random.ts';

/** Tells this use of a seed from every other. */
const foldStream = 0xf01d;

/**
 * Which fold holds each row out. Every class is dealt out evenly, one row to each fold in turn and
 * the next class where the last one ended, so that folds differ by one row at most, and by one row
 * of any class. Which rows they are depends on the classes, the number of folds and the seed alone.
 */
export function dealFolds(
  rows: number,
  /** Of each row its class; without classes all rows are of one. */
  codes: Int32Array | undefined,
  folds: number,
  seed: number,
): Int32Array {
  checkFolds(folds, rows);
  const random = stream(seed, foldStream);
  const order = Int32Array.from({ length: rows }, (_, row) => row);
  random.shuffle(order, rows);
  // Sorting is stable: inside a class the order stays that of the shuffle.
  if (codes) order.sort((left, right) => codes[left] - codes[right]);
  const fold = new Int32Array(rows);
  for (let place = 0; place < rows; place += 1) fold[order[place]] = place % folds;
  return fold;
}

/** Every fold gets a row, and leaves some. */
export function checkFolds(folds: number, rows: number): void {
  if (!(Number.isInteger(folds) && folds >= 2)) {
    throw new UsageError(`folds is ${folds}; it must be a whole number of at least 2`);
  }
  if (rows < folds) throw new DataError(`${rows} rows cannot be dealt to ${folds} folds`);
}

/** Scores of the rows of a fold, in their order; `weights` by column, an intercept last. */
export function scoresOfFold(
  { parts, columns }: Dataset,
  weights: Float64Array = new Float64Array(0),
  fold: Int32Array,
  which: number,
): Float64Array {
  const intercept = weights.length > columns ? weights[columns] : 0;
  const scores: number[] = [];
  let row = 0;
  for (const { rowOffsets, labels, indices, values } of parts) {
    for (let local = 0; local < labels.length; local += 1) {
      if (fold[row++] !== which) continue;
      let sum = 0;
      for (let k = rowOffsets[local]; k < rowOffsets[local + 1]; k += 1) {
        sum += weights[indices[k]] * values[k];
      }
      scores.push(sum + intercept);
    }
  }
  return Float64Array.from(scores);
}
