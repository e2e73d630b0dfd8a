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
  if (!(Number.isInteger(folds) && folds >= 2)) {
    throw new UsageError(`folds is ${folds}; it must be a whole number of at least 2`);
  }
  if (rows < folds) throw new DataError(`${rows} rows cannot be dealt to ${folds} folds`);
  const random = stream(seed, foldStream);
  const order = Int32Array.from({ length: rows }, (_, row) => row);
  random.shuffle(order, rows);
  // Sorting is stable: inside a class the order stays that of the shuffle.
  if (codes) order.sort((left, right) => codes[left] - codes[right]);
  const fold = new Int32Array(rows);
  for (let place = 0; place < rows; place += 1) fold[order[place]] = place % folds;
  return fold;
}
