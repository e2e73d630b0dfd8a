import type { Arena } from '../engine/arena.ts';
import { workerOffsets } from '../engine/grid.ts';
import type { Partition } from '../engine/partition.ts';
import type { Random } from '../math/random.ts';
import { type BlockState, reserve } from './block-state.ts';
import {
  type Cell,
  type Kernels,
  type LocalRows,
  stat,
  type WholeRows,
} from './kernels/kernels.ts';
import type { Problem } from './objective/problem.ts';
import { inChunks } from './orders.ts';
import type { SolverContext } from './solver.ts';

/**
 * A number for every column in every process, for solvers whose workers have weights of their own
 * for all columns. Columns are there by their positions in the whole order.
 */
export function allColumns({ columnPosition }: Partition): number {
  return columnPosition.length;
}

/** The columns of a block among all columns. */
export function blockAmongAll(
  { columnBounds }: Partition,
  array: Float64Array,
  block: number,
): Float64Array {
  return array.subarray(columnBounds[block], columnBounds[block + 1]);
}

/** The part of one worker in an array with the same number of elements for each that runs here. */
export function partOfWorker<Numbers extends Float64Array | Float32Array | Int32Array>(
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
  { objective, problem, ring, team }: SolverContext,
  home: Float64Array,
  whole: Float64Array,
): void {
  const { partition } = problem.grid;
  ring.rotate(objective.fields.read(home), (worker, block) => {
    // Every worker meets every block: one of those that run here copies for all of them.
    if (worker !== team.shared.first) return;
    blockAmongAll(partition, whole, block).set(objective.columnsOf(home, block));
  });
  team.barrier();
}

/** Position of the intercept's column among all columns, −1 without one: it is the last original. */
export function interceptAmongAll({ intercept, grid }: Problem): number {
  return intercept ? (grid.partition.columnPosition.at(-1) as number) : -1;
}

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

/** The columns that occur in a worker's rows, by position among all; those of block b from listed[b] on. */
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

/** The most columns that can occur in a worker's rows. */
export function mostHeld(partition: Partition, worker: number): number {
  return Math.min(allColumns(partition), partition.workerNonzeros[worker]);
}

/** What descent on workers' own rows needs; every process has a number for all columns. */
export function allocateLocalProblems(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  return {
    norms: arena.float64(rows),
    ...reserve(arena, 'int32', rows, ['counts', 'order']),
    /** 1/μ_j of the columns at home, and of all columns. */
    inverse: arena.float64(partition.bufferLength),
    inverses: arena.float64(allColumns(partition)),
    starts: arena.int32(partition.size + 1),
    stats: arena.float64(stat.length * partition.size),
  };
}

/** The problem of a worker's own rows, with weights of its own and curvature μ_j per column. */
export interface LocalProblem {
  readonly whole: WholeRows;
  readonly rows: LocalRows;
  readonly order: Int32Array;
  readonly inverses: Float64Array;
  readonly stats: Float64Array;
}

export function localProblem(
  state: BlockState,
  memory: ReturnType<typeof allocateLocalProblems>,
  alpha: Float64Array,
  worker: number,
): LocalProblem {
  const { problem } = state.context;
  const { labels, rowWeights, grid } = problem;
  const { norms, counts, starts, inverses, stats } = memory;
  const rows = state.rowsOf(worker, { labels, rowWeights, alpha, norms, counts });
  rows.counts.set(state.rowsOf(worker, { counts: grid.partition.rowCounts }).counts);
  const { order } = state.rowsOf(worker, { order: memory.order });
  for (let i = 0; i < order.length; i++) order[i] = i;
  const whole = wholeRows(problem, worker, starts);
  return { whole, rows, order, inverses, stats: state.partOf(stats, worker) };
}

/** Passes of dual coordinate descent on a local problem, whose losses are divided by 1/`share`. */
export function descend(
  kernels: Kernels,
  { whole, rows, order, inverses, stats }: LocalProblem,
  weights: Float64Array,
  random: Random,
  { passes, share }: { readonly passes: number; readonly share: number },
): void {
  for (let pass = 0; pass < passes; pass++) {
    random.shuffle(order, order.length);
    inChunks(0, order.length, (begin, end) => {
      kernels.sweepWholeRows(whole, order, begin, end, rows, share, inverses, weights, stats);
    });
  }
}

/** weights += share · Σ_i α_i x_i ∘ inverse. */
export function addImage(
  { offsets, indices, values }: Cell,
  alpha: Float64Array,
  share: number,
  inverse: Float64Array,
  weights: Float64Array,
): void {
  for (let i = 0; i < alpha.length; i++) {
    const scaled = alpha[i] * share;
    if (scaled === 0) continue;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) {
      weights[indices[k]] += scaled * values[k] * inverse[indices[k]];
    }
  }
}
