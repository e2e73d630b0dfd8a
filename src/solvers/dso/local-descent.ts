import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { stream } from '../../math/random.ts';
import { sum } from '../../math/vectors.ts';
import {
  addImage,
  allColumns,
  allocateLocalProblems,
  blockAmongAll,
  descend,
  everywhere,
  localProblem,
  partOfWorker,
} from '../whole.ts';
import type { DsoState } from './state.ts';

export type LocalDescentMemory = ReturnType<typeof allocateLocalDescent>;

/** Every worker has its own weights: 8 bytes per column and worker that the process runs. */
export function allocateLocalDescent(arena: Arena, partition: Partition) {
  const { first, end, rowOrder } = partition;
  return {
    ...allocateLocalProblems(arena, partition),
    spare: arena.float64(rowOrder.length),
    weights: arena.float64((end - first) * allColumns(partition)),
  };
}

/**
 * The appendix's starting point: every worker solves its own rows' problem by passes of dual
 * coordinate descent (Hsieh et al. 2008); α stays as it is there, and w is the mean of the workers'
 * weights. Only the quadratic part of the penalty counts, and columns without one stay at 0: it is
 * a start, not a result.
 */
export function localDualDescent(state: DsoState, memory: LocalDescentMemory): void {
  const { problem, objective, ring, team } = state.context;
  const { weights } = state.memory;
  const { partition, size } = problem.grid;
  const [begin, end] = state.ownColumns;
  if (team.index === 0) memory.starts.set(partition.columnBounds);
  for (let j = begin; j < end; j++) {
    memory.inverse[j] = problem.l2[j] > 0 ? 1 / problem.l2[j] : 0;
  }
  everywhere(state.context, memory.inverse, memory.inverses);
  const local = new Map(state.parts.map((worker) => [worker, solveLocally(state, memory, worker)]));
  ring.rotate(objective.fieldsOf(weights), (worker, block, iteration) => {
    const target = objective.columnsOf(weights, block);
    const mine = blockAmongAll(partition, local.get(worker) as Float64Array, block);
    if (iteration === 0) target.fill(0);
    for (let j = 0; j < target.length; j++) target[j] += (1 / size) * mine[j];
  });
  team.barrier();
}

function solveLocally(state: DsoState, memory: LocalDescentMemory, worker: number): Float64Array {
  const { problem, objective, kernels, seed } = state.context;
  const { cells, partition, size } = problem.grid;
  const own = partOfWorker(partition, memory.weights, worker);
  const local = localProblem(state, memory, state.memory.alpha, worker);
  const { alpha, rowWeights, norms } = local.rows;
  const totalWeight = sum(rowWeights);
  const share = 1 / (totalWeight > 0 ? totalWeight : 1);
  const spare = objective.rowsOf(memory.spare, worker);
  for (let block = 0; block < size; block++) {
    const cell = cells[worker * size + block];
    const inverse = blockAmongAll(partition, memory.inverses, block);
    kernels.rowNorms(cell, norms.length, inverse, inverse, norms, spare);
    addImage(cell, alpha, share, inverse, blockAmongAll(partition, own, block));
  }
  const random = stream(seed, 1 + size + worker);
  descend(kernels, local, own, random, { passes: state.settings.initialize, share });
  return own;
}
