import type { Partition } from '../engine/partition.ts';
import type { Workplace } from './method.ts';

/**
 * A number for every column in every process, for solvers whose workers have weights of their own
 * for all columns. Columns lie by their places in the whole order there.
 */
export function allColumns({ columnPlace }: Partition): number {
  return columnPlace.length;
}

/** The columns of a block among all columns. */
export function blockAmongAll(
  { columnBounds }: Partition,
  array: Float64Array,
  block: number,
): Float64Array {
  return array.subarray(columnBounds[block], columnBounds[block + 1]);
}

/** The part of one worker in an array that holds so many numbers for each that is played here. */
export function partOfWorker<Numbers extends Float64Array | Int32Array>(
  { first, end }: Partition,
  array: Numbers,
  worker: number,
): Numbers {
  const length = array.length / (end - first);
  return array.subarray((worker - first) * length, (worker - first + 1) * length) as Numbers;
}

/**
 * Copies an array that travels, filled in where its columns are at home, to an array of all
 * columns in every process, by one rotation. Also a barrier.
 */
export function everywhere(
  { objective, problem, ring, team }: Workplace,
  home: Float64Array,
  whole: Float64Array,
): void {
  const { partition } = problem.grid;
  ring.rotate(objective.cargoOf(home), (worker, block) => {
    // Every worker meets every block: one of those that are played here does for all of them.
    if (worker !== team.shared.first) return;
    blockAmongAll(partition, whole, block).set(objective.columnsOf(home, block));
  });
  team.barrier();
}

/** Place of the intercept's column among all columns, −1 without one: it is the last original. */
export function interceptAmongAll({
  intercept,
  grid,
}: Pick<Workplace['problem'], 'intercept' | 'grid'>): number {
  const { columnPlace } = grid.partition;
  return intercept ? columnPlace[columnPlace.length - 1] : -1;
}
