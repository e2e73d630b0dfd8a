import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { exp, log1p } from '../../math/elementary.ts';
import { reserve } from '../block-state.ts';
import { pendingPart, type RowStep, type WholeRows } from '../kernels/kernels.ts';
import { inChunks } from '../orders.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns, everywhere, partOfWorker, wholeRows } from '../whole.ts';
import type { WorkerRows } from './rows-state.ts';

export type LocalUpdatesMemory = ReturnType<typeof allocateLocalUpdates>;

/** Where they are tracked, 8 bytes per column and worker and 32 per column and process. */
export function allocateLocalUpdates(arena: Arena, partition: Partition, tracked: boolean) {
  const all = tracked ? allColumns(partition) : 0;
  return {
    overlap: arena.float64(tracked ? partition.bufferLength : 0),
    ...reserve(arena, 'float64', all, ['allOverlaps', 'inverses', 'pull']),
    drifts: arena.float64((partition.end - partition.first) * all),
    starts: arena.int32(tracked ? partition.size + 1 : 0),
  };
}

/**
 * c = (p − 1) (1 − (1 − 1/(B p))^(n − 1)), for a column that n ≥ 1 rows have: how many other workers
 * can be expected to move it in the same batch as a worker that does. Each of the n − 1 other rows
 * is in the present batch of a certain worker with probability 1/(B p).
 */
export function expectedOverlap(count: number, rotations: number, size: number): number {
  const spared = exp((Math.max(1, count) - 1) * log1p(-1 / (rotations * size)));
  return (size - 1) * (1 - spared);
}

/**
 * Long batches taken at once would need steps as short as they are long. A worker knows its own
 * changes, though: it takes the steps of a batch one after the other, and keeps by column what they
 * add up to. The changes of others come round with the ring only later. They are taken to be like
 * its own where columns are shared: its own count 1 + s c_j times in column j, which c_j other
 * workers move meanwhile. The share s is measured, see Damping. With s = 1 and c_j = p − 1 that is
 * the safe sum of local solutions of Ma et al. 2015 (CoCoA+).
 */
export class LocalUpdates {
  readonly #context: SolverContext;
  readonly #memory: LocalUpdatesMemory;
  readonly #whole: readonly WholeRows[];
  #share = -1;

  constructor(context: SolverContext, memory: LocalUpdatesMemory) {
    this.#context = context;
    this.#memory = memory;
    const { problem, team } = context;
    if (team.index === 0) memory.starts.set(problem.grid.partition.columnBounds);
    const mine = Array.from({ length: team.end - team.first }, (_, k) => team.first + k);
    this.#whole = mine.map((worker) => wholeRows(problem, worker, memory.starts));
    everywhere(context, memory.overlap, memory.allOverlaps);
  }

  /** Sends all workers 1/μ_j, which is known where a column is at home. */
  learnCurvature(inverse: Float64Array): void {
    everywhere(this.#context, inverse, this.#memory.inverses);
    this.#share = -1;
  }

  /** pull_j = (1 + s c_j) / μ_j, by the threads of the process together. */
  assume(share: number): void {
    if (share === this.#share) return;
    this.#share = share;
    const { team } = this.#context;
    const { allOverlaps, inverses, pull } = this.#memory;
    const { threads } = team.shared;
    const end = Math.floor(((team.index + 1) * pull.length) / threads);
    for (let j = Math.floor((team.index * pull.length) / threads); j < end; j++) {
      pull[j] = (1 + share * allOverlaps[j]) * inverses[j];
    }
    team.barrier();
  }

  /** The steps of a batch, which is active[begin … end-1]. Returns the number of pending changes. */
  step(worker: number, own: WorkerRows, begin: number, end: number, step: RowStep): number {
    const { kernels, problem, team } = this.#context;
    const { pull } = this.#memory;
    const whole = this.#whole[worker - team.first];
    const drift = partOfWorker(problem.grid.partition, this.#memory.drifts, worker).fill(0);
    const { batches, margins, rows, pending, stats } = own;
    let count = 0;
    inChunks(begin, end, (from, to) => {
      const left = pendingPart(pending, count, pending.units.length);
      const row = [margins, rows, step, pull, drift, left, stats] as const;
      count += kernels.stepWholeRows(whole, batches.active, from, to, ...row);
    });
    return count;
  }
}
