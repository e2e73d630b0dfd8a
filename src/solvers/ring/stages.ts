import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields } from '../../engine/ring.ts';
import { exp } from '../../math/elementary.ts';
import { reserve } from '../block-state.ts';
import type { RowStep } from '../kernels/kernels.ts';
import { inChunks } from '../orders.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns, blockAmongAll, everywhere, partOfWorker } from '../whole.ts';
import { expectedOverlap } from './local-updates.ts';
import type { RowModeState } from './rows-state.ts';
import { allocateStageRows, StageRows } from './stage-rows.ts';
import { rowsAbove, stagesOf, touches } from './stage-rules.ts';

/** The share of their crowds that columns are taken to move with until a better one is learnt. */
export const firstShare = 0.5;

export type StagesMemory = ReturnType<typeof allocateStages>;

/** 8 bytes per column and worker, and 24 to 32 per column and process. */
export function allocateStages(
  arena: Arena,
  partition: Partition,
  staged: boolean,
  stored: boolean,
) {
  const all = staged ? allColumns(partition) : 0;
  const here = partition.end - partition.first;
  return {
    homeCrowds: arena.float64(staged ? partition.bufferLength : 0),
    ...reserve(arena, 'float64', all, ['crowds', 'pulls', 'shares']),
    /** Of several processes each knows w as it was before the stage. */
    before: arena.float64(here < partition.size ? all : 0),
    copies: arena.float64(here * all),
    stageStarts: arena.int32(staged ? partition.size + 1 : 0),
    hot: arena.int32(staged ? partition.size : 0),
    ...allocateStageRows(arena, partition, staged && stored),
  };
}

/**
 * c: how many other workers can be expected to move a column, which `rows` rows have, before it is
 * brought together. All rare columns have the same.
 */
export function expectedCrowd(rows: number, workers: number): number {
  return rows > rowsAbove(0, workers)
    ? expectedOverlap(rows, stagesOf(workers), workers)
    : (workers - 1) * (1 - exp((-0.7 * touches) / workers ** 2));
}

/**
 * Epochs of coarse stages. A worker takes the dual steps of a stage one after the other, on a copy of
 * w of its own; then the changes of all workers are added, in a fixed order. Changes of others are
 * taken to be like its own in columns that they share: its own count 1 + s c_j times in its copy, with
 * c_j the expected crowd and s the share that is learnt. Frequent columns are brought together after
 * every stage, rarer ones less often: a column waits until it has been met some times.
 *
 * The order in which changes are added is that of the ring, in which one process after another can
 * add its own.
 */
export class Stages {
  /** Of an epoch. */
  readonly count: number;
  readonly #state: RowModeState;
  readonly #context: SolverContext;
  readonly #memory: StagesMemory;
  readonly #rows: StageRows;
  /** ends[level][block]: columns that are brought together after every 2^level stages. */
  readonly #ends: readonly Int32Array[];
  /** Of each level, among several processes: what is sent to add changes, and to spread the sums. */
  readonly #collected: readonly BlockFields[];
  readonly #spread: readonly BlockFields[];
  #share = -1;

  constructor(state: RowModeState, memory: StagesMemory) {
    const { context } = state;
    const { problem, team, ring } = context;
    const { partition, size } = problem.grid;
    this.#state = state;
    this.#context = context;
    this.#memory = memory;
    this.count = stagesOf(size);
    if (team.index === 0) memory.stageStarts.set(partition.columnBounds);
    this.#rows = new StageRows(context.objective, memory, memory.stageStarts);
    this.#ends = this.#findEnds();
    this.#learnCrowds();
    const views = (ends: Int32Array) => (block: number) => [
      state.blocks[block].weights.subarray(0, ends[block]),
    ];
    this.#collected = this.#ends.map((ends) => ring.fields(views(ends)));
    this.#spread = this.#ends.map((ends) => ring.readFields(views(ends)));
  }

  #findEnds(): Int32Array[] {
    const { problem, team } = this.#context;
    const { columnCounts, columnStarts, columnBounds } = problem.grid.partition;
    const { size } = problem.grid;
    const levels = Math.ceil(Math.log2(this.count));
    const table = team.table(levels, (block, ends) => {
      const [from, to] = [columnStarts[block], columnStarts[block + 1]];
      for (let level = 0; level < levels; level++) {
        const least = rowsAbove(level, size);
        while (from + ends[level] < to && columnCounts[from + ends[level]] > least) ends[level]++;
      }
    });
    const width = table.length / size;
    const all = Int32Array.from({ length: size }, (_, b) => columnBounds[b + 1] - columnBounds[b]);
    const endsOf = (level: number) => all.map((_, block) => table[block * width + level]);
    return [...Array.from({ length: levels }, (_, level) => endsOf(level)), all];
  }

  /** c_j of all columns, in every process. */
  #learnCrowds(): void {
    const { problem, team } = this.#context;
    const { columnCounts } = problem.grid.partition;
    const { homeCrowds, crowds, hot } = this.#memory;
    const [from, to] = this.#state.ownColumns;
    for (let j = from; j < to; j++) {
      homeCrowds[j] = expectedCrowd(columnCounts[j], problem.grid.size);
    }
    team.barrier();
    everywhere(this.#context, homeCrowds, crowds);
    const [first, all] = [this.#ends[0], this.#ends[this.#ends.length - 1]];
    if (team.index === 0) hot.set(first.map((end, block) => Math.min(end, all[block] - 1)));
    team.barrier();
  }

  /** Pulls 1 + s c_j of the frequent columns, and of one rare one, by the threads together. */
  #assume(share: number): void {
    if (share === this.#share) return;
    this.#share = share;
    const { problem, team } = this.#context;
    const { columnBounds } = problem.grid.partition;
    const { crowds, pulls, shares, hot } = this.#memory;
    for (let block = team.index; block < hot.length; block += team.shared.threads) {
      const from = columnBounds[block];
      for (let j = from; j <= from + hot[block]; j++) {
        pulls[j] = 1 + share * crowds[j];
        shares[j] = 1 / pulls[j];
      }
    }
  }

  /** The steps of an epoch. Every thread has prepared its workers and blocks. */
  sweep(step: RowStep): void {
    const { team } = this.#context;
    const last = this.#ends.length - 1;
    this.#assume(step.damping);
    team.barrier();
    let level = last;
    for (let stage = 1; stage <= this.count; stage++) {
      const isFresh = !this.#isEmpty(level);
      this.#step(stage, isFresh ? level : -1, step);
      level = stage === this.count ? last : trailingZeros(stage);
      if (this.#isEmpty(level)) continue;
      if (this.#isShared) this.#collect(level);
      else this.#bringTogether(level);
    }
  }

  /** A stage of every worker, once the columns of a level are fresh. */
  #step(stage: number, level: number, step: RowStep): void {
    if (!this.#isShared) {
      this.#context.team.phase((worker) => {
        if (level >= 0) this.#refresh(worker, level);
        this.#sweepStage(worker, stage, step);
      });
      return;
    }
    if (level >= 0) this.#distribute(level);
    for (const worker of this.#state.parts) this.#sweepStage(worker, stage, step);
  }

  get #isShared(): boolean {
    return this.#memory.before.length > 0;
  }

  #isEmpty(level: number): boolean {
    return this.#ends[level].every((end) => end === 0);
  }

  #sweepStage(worker: number, stage: number, step: RowStep): void {
    const { kernels } = this.#context;
    const { pulls, hot } = this.#memory;
    const { batches, rows, stats } = this.#state.workers[worker];
    const begin = batches.begin(stage - 1, this.count);
    const end = batches.begin(stage, this.count);
    const copy = this.#copyOf(worker);
    const { active } = batches;
    this.#rows.over(worker, active, begin, end, (whole, first, last) => {
      inChunks(first, last, (from, to) => {
        kernels.sweepStage(whole, active, from, to, rows, step, pulls, hot, copy, stats);
      });
    });
  }

  #copyOf(worker: number): Float64Array {
    return partOfWorker(this.#context.problem.grid.partition, this.#memory.copies, worker);
  }

  #refresh(worker: number, level: number): void {
    const copy = this.#copyOf(worker);
    for (let block = 0; block < this.#state.blocks.length; block++) {
      this.#copyPrefix(level, block, copy);
    }
  }

  /** w of the block's columns of this level, to an array of all columns. */
  #copyPrefix(level: number, block: number, target: Float64Array): void {
    const { partition } = this.#context.problem.grid;
    const { weights } = this.#state.blocks[block];
    const end = this.#ends[level][block];
    target.set(weights.subarray(0, end), partition.columnBounds[block]);
  }

  /** In one process. */
  #bringTogether(level: number): void {
    const { team, problem } = this.#context;
    const { partition, size } = problem.grid;
    const { copies } = this.#memory;
    team.phase((block) => {
      const { weights } = this.#state.blocks[block];
      const from = copies.subarray(partition.columnBounds[block]);
      this.#add(level, block, weights, weights, from, size, block);
    });
  }

  /** Among several, by a rotation; another spreads the result when the next stage begins. */
  #collect(level: number): void {
    const { ring, problem } = this.#context;
    const { partition } = problem.grid;
    ring.rotate(this.#collected[level], (worker, block) => {
      const { weights } = this.#state.blocks[block];
      const before = blockAmongAll(partition, this.#memory.before, block);
      const copy = blockAmongAll(partition, this.#copyOf(worker), block);
      this.#add(level, block, weights, before, copy, 1, 0);
    });
  }

  #distribute(level: number): void {
    const { ring, team } = this.#context;
    ring.rotate(this.#spread[level], (worker, block) => {
      this.#copyPrefix(level, block, this.#copyOf(worker));
      if (worker === team.shared.first) this.#copyPrefix(level, block, this.#memory.before);
    });
  }

  #add(
    level: number,
    block: number,
    target: Float64Array,
    before: Float64Array,
    copies: Float64Array,
    workers: number,
    first: number,
  ): void {
    const { kernels, problem } = this.#context;
    const { shares, hot } = this.#memory;
    const { partition } = problem.grid;
    const stride = allColumns(partition);
    const end = this.#ends[level][block];
    const share = blockAmongAll(partition, shares, block);
    const last = hot[block];
    kernels.addChanges(target, before, copies, stride, workers, first, end, share, last);
  }
}

function trailingZeros(count: number): number {
  return 31 - Math.clz32(count & -count);
}
