import { workerOffsets } from '../engine/grid.ts';
import type { Partition } from '../engine/partition.ts';
import type { WholeRows } from './kernels/kernels.ts';
import type { Problem } from './objective/problem.ts';
import { allColumns } from './whole-columns.ts';

/**
 * The rows of a worker as one piece, for solvers that work on rows by themselves. `starts` is a
 * copy of the partition's column bounds that kernels can reach: columns count among all there are.
 */
export function wholeRows({ grid }: Problem, worker: number, starts: Int32Array): WholeRows {
  const { rowStarts } = grid.partition;
  const { indices, values } = grid.cells[worker * grid.size];
  return {
    rows: rowStarts[worker + 1] - rowStarts[worker],
    blocks: grid.size,
    offsets: workerOffsets(grid, worker),
    indices,
    values,
    starts,
  };
}

/**
 * The columns that occur in a worker's rows: `held` by place among all columns; those of block b from
 * listed[b] on.
 */
export interface HeldColumns {
  readonly held: Int32Array;
  readonly listed: Int32Array;
}

export function heldColumns({ grid, columns }: Problem, worker: number): HeldColumns {
  const { columnBounds } = grid.partition;
  const present = new Uint8Array(columns);
  const listed = new Int32Array(grid.size + 1);
  let count = 0;
  for (let block = 0; block < grid.size; block++) {
    const { offsets, indices } = grid.cells[worker * grid.size + block];
    const start = columnBounds[block];
    const last = offsets[offsets.length - 1];
    for (let k = offsets[0]; k < last; k++) {
      count += 1 - present[start + indices[k]];
      present[start + indices[k]] = 1;
    }
    listed[block + 1] = count;
  }
  const held = new Int32Array(count);
  for (let j = 0, k = 0; j < columns; j++) if (present[j] === 1) held[k++] = j;
  return { held, listed };
}

/** At most so many columns can occur in a worker's rows. */
export function mostHeld(partition: Partition, worker: number): number {
  return Math.min(allColumns(partition), partition.workerEntries[worker]);
}
