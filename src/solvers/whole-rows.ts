import type { WholeRows } from '../kernels/kernels.ts';
import type { Problem } from '../objective/problem.ts';
import { workerOffsets } from '../parallel/grid.ts';

/**
 * The rows of a worker as one piece, for solvers that work on rows by themselves. `starts` is a
 * copy of the partition's column starts that kernels can reach.
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
