import type { Partition } from '../../engine/partition.ts';
import type { DataShape } from '../solver.ts';

/** Rules on the data alone for the coarse stages of row mode. Machine and threads must not change the model. */

/** Stages of an epoch for each worker. */
const stagesPerWorker = 4;
/** A column is brought together when it can be expected to have been met touches/(2p) to touches/p times. */
export const touches = 16;
/** Rows per column beyond which the workers move the same few columns all the time. */
const mostRowsPerColumn = 100;
/** Numbers in all copies of w that are affordable on any data. */
const fewNumbers = 1e6;
/** Non-zeros from which on 2, 4 and 8 workers pay: they cut rows into pieces and wait for one another. */
const worthWorkers = [2e6, 5e7, 5e8];
/** Non-zeros that pay for a number in a copy. */
const nonzerosPerNumber = 10;

function isTall(rows: number, columns: number): boolean {
  return rows > mostRowsPerColumn * columns;
}

/** Workers that pay if they go by stages, a power of two. */
export function stagedGrid({ rows, columns, nonzeros }: DataShape): number {
  if (isTall(rows, columns)) return 1;
  const copies = nonzeros / (nonzerosPerNumber * columns);
  let workers = 1;
  for (const least of worthWorkers) if (nonzeros >= least && 2 * workers <= copies) workers *= 2;
  return workers;
}

/** Whether the workers of a grid go by stages; else by the ring. */
export function usesStages(staged: boolean | undefined, partition: Partition): boolean {
  const { size, rowBounds, columnBounds, workerNonzeros } = partition;
  if (!staged || size === 1) return false;
  const columns = columnBounds[size];
  const nonzeros = workerNonzeros.reduce((sum, count) => sum + count, 0);
  return !isTall(rowBounds[size], columns) && size * columns <= Math.max(fewNumbers, nonzeros);
}

export function stagesOf(workers: number): number {
  return stagesPerWorker * workers;
}

/** A column that more rows have is brought together after every 2^level stages. */
export function rowsAbove(level: number, workers: number): number {
  return ((touches / workers) * stagesOf(workers)) / 2 ** (level + 1);
}
