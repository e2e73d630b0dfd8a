import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { stream } from '../../math/random.ts';
import { sum } from '../../math/vectors.ts';
import { type Cell, stat } from '../kernels/kernels.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns, blockAmongAll, everywhere, partOfWorker, wholeRows } from '../whole.ts';

/** Rows per call of the kernel: short calls let the engine replace it by a faster one. */
const chunk = 1024;

export type LocalDescentMemory = ReturnType<typeof allocateLocalDescent>;

/** Every worker has its own weights: 8 bytes per column and worker that the process runs. */
export function allocateLocalDescent(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  const all = allColumns(partition);
  return {
    norms: arena.float64(rows),
    spare: arena.float64(rows),
    counts: arena.int32(rows),
    order: arena.int32(rows),
    inverse: arena.float64(partition.bufferLength),
    /** That of all columns. */
    inverses: arena.float64(all),
    weights: arena.float64((partition.end - partition.first) * all),
    starts: arena.int32(partition.size + 1),
    stats: arena.float64(stat.length * partition.size),
  };
}

/**
 * The appendix's starting point: every worker solves its own rows' problem by `passes` passes of
 * dual coordinate descent (Hsieh et al. 2008); α stays as it is there, and w is the mean of the
 * workers' weights. Only the quadratic part of the penalty counts, and columns without one stay
 * at 0: it is a start, not a result.
 */
export function localDualDescent(
  context: SolverContext,
  memory: LocalDescentMemory,
  passes: number,
  alpha: Float64Array,
  weights: Float64Array,
): void {
  const { problem, objective, ring, team } = context;
  const { partition } = problem.grid;
  const { columnStarts, columnBounds } = partition;
  if (team.index === 0) memory.starts.set(columnBounds);
  for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
    memory.inverse[j] = problem.l2[j] > 0 ? 1 / problem.l2[j] : 0;
  }
  everywhere(context, memory.inverse, memory.inverses);
  const local = new Map<number, Float64Array>();
  for (let worker = team.first; worker < team.end; worker++) {
    local.set(worker, solveLocally(context, memory, passes, alpha, worker));
  }
  const share = 1 / problem.grid.size;
  ring.rotate(objective.fieldsOf(weights), (worker, block, iteration) => {
    const target = objective.columnsOf(weights, block);
    const mine = blockAmongAll(partition, local.get(worker) as Float64Array, block);
    if (iteration === 0) target.fill(0);
    for (let j = 0; j < target.length; j++) target[j] += share * mine[j];
  });
  team.barrier();
}

function solveLocally(
  { problem, objective, kernels, seed }: SolverContext,
  memory: LocalDescentMemory,
  passes: number,
  alpha: Float64Array,
  worker: number,
): Float64Array {
  const { grid } = problem;
  const { rowStarts, rowCounts } = grid.partition;
  const [from, to] = [rowStarts[worker], rowStarts[worker + 1]];
  const own = partOfWorker(grid.partition, memory.weights, worker);
  const counts = memory.counts.subarray(from, to);
  counts.set(rowCounts.subarray(from, to));
  const rows = {
    labels: objective.rowsOf(problem.labels, worker),
    rowWeights: objective.rowsOf(problem.rowWeights, worker),
    alpha: objective.rowsOf(alpha, worker),
    norms: objective.rowsOf(memory.norms, worker),
    counts,
  };
  const totalWeight = sum(rows.rowWeights);
  const share = 1 / (totalWeight > 0 ? totalWeight : 1);
  for (let block = 0; block < grid.size; block++) {
    const cell = grid.cells[worker * grid.size + block];
    const inverse = blockAmongAll(grid.partition, memory.inverses, block);
    const spare = objective.rowsOf(memory.spare, worker);
    kernels.rowNorms(cell, to - from, inverse, inverse, rows.norms, spare);
    addImage(cell, rows.alpha, share, inverse, blockAmongAll(grid.partition, own, block));
  }
  const whole = wholeRows(problem, worker, memory.starts);
  const stats = memory.stats.subarray(worker * stat.length, (worker + 1) * stat.length);
  const order = memory.order.subarray(from, to);
  for (let i = 0; i < order.length; i++) order[i] = i;
  const random = stream(seed, 1 + grid.size + worker);
  for (let pass = 0; pass < passes; pass++) {
    random.shuffle(order, order.length);
    for (let begin = 0; begin < order.length; begin += chunk) {
      const end = Math.min(order.length, begin + chunk);
      kernels.sweepWholeRows(whole, order, begin, end, rows, share, memory.inverses, own, stats);
    }
  }
  return own;
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
