import type { Dataset } from '../../src/data/dataset.ts';
import { columnCounts, rowLengths } from '../../src/data/row-packing.ts';
import {
  localPartition,
  type NonzeroCounts,
  type Partition,
  placeRowsAndColumns,
} from '../../src/engine/partition.ts';

/** An intercept adds one to every row and a column of its own. */
export function countEntries(dataset: Dataset, intercept: boolean): NonzeroCounts {
  const rows = rowLengths(dataset);
  const columns = columnCounts(dataset, dataset.columns + (intercept ? 1 : 0));
  if (!intercept) return { rows, columns };
  columns[dataset.columns] = dataset.rows;
  return { rows: rows.map((length) => length + 1), columns };
}

/** The partition of a process that has all the data. */
export function partition(
  dataset: Dataset,
  size: number,
  seed: number,
  intercept: boolean,
): Partition {
  const counts = countEntries(dataset, intercept);
  return localPartition(placeRowsAndColumns(counts, size, seed), counts, 0, size);
}
