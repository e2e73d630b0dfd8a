import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { allocateGenerators, BlockState, reserve } from '../block-state.ts';
import { type ColumnState, type MarginState, type Pending, stat } from '../kernels/kernels.ts';
import { Batches } from '../orders.ts';
import type { SolverContext } from '../solver.ts';
import { allocatePackedBatches, type Batch } from './packed-batches.ts';

/** Columns lie in the order of their frequency, which no batch should know of. */
const columnsTogether = 1;

export type RingColumnsMemory = ReturnType<typeof allocateRingColumns>;

export function allocateRingColumns(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  const columns = partition.columnOrder.length;
  const { bufferLength } = partition;
  return {
    ...reserve(arena, 'float64', rows, ['margins', 'marginStart', 'marginPrevious']),
    ...reserve(arena, 'float64', rows, ['slopes', 'curvatures', 'density']),
    dirty: arena.uint8(rows),
    ...reserve(arena, 'float64', bufferLength, ['weights', 'weightPrevious']),
    ...reserve(arena, 'float64', bufferLength, ['gradients', 'hessians', 'pendingDeltas']),
    ...reserve(arena, 'int32', bufferLength, ['active', 'pendingUnits']),
    weightStart: arena.float64(columns),
    ...reserve(arena, 'int32', columns, ['counts', 'runs']),
    ...reserve(arena, 'uint8', columns, ['level', 'skip']),
    ranges: arena.int32(2 * partition.size),
    ...reserve(arena, 'int32', partition.size, ['activeCounts', 'pendingCounts']),
    generators: allocateGenerators(arena, partition),
    stats: arena.float64(stat.length * partition.size),
    packed: allocatePackedBatches(arena, partition),
  };
}

interface WorkerMargins {
  readonly rows: MarginState;
  readonly start: Float64Array;
  readonly previous: Float64Array;
}

/** A block travels with its batch and the changes of its last batch. */
interface Block extends Batch {
  readonly columns: Pick<ColumnState, 'gradients' | 'hessians'>;
  readonly pending: Pending;
}

/** What stays where a block is at home, where its steps are taken. */
interface HomeBlock extends Block {
  readonly columns: ColumnState;
  readonly start: Float64Array;
  readonly previous: Float64Array;
  readonly batches: Batches;
  readonly stats: Float64Array;
}

/** The variables of column mode: margins by rows, and by columns the weights and their steps. */
export class ColumnModeState extends BlockState {
  readonly memory: RingColumnsMemory;
  readonly workers: readonly WorkerMargins[];
  readonly blocks: readonly Block[];
  /** The workers this thread runs and the blocks it is home to. */
  readonly mine: readonly WorkerMargins[];
  readonly home: readonly HomeBlock[];

  constructor(context: SolverContext, memory: RingColumnsMemory) {
    super(context, memory.generators);
    this.memory = memory;
    this.workers = this.forAll((worker) => this.#viewWorker(worker));
    this.blocks = this.forAll((block) => this.#viewBlock(block));
    this.mine = this.parts.map((worker) => this.workers[worker]);
    this.home = this.parts.map((block) => this.#viewHome(block));
  }

  #viewWorker(worker: number): WorkerMargins {
    const { labels, rowWeights } = this.context.problem;
    const { margins, slopes, curvatures, dirty, density } = this.memory;
    const { marginStart: start, marginPrevious: previous } = this.memory;
    const variables = { margins, slopes, curvatures, dirty, density };
    return {
      rows: this.rowsOf(worker, { labels, rowWeights, ...variables }),
      ...this.rowsOf(worker, { start, previous }),
    };
  }

  #viewBlock(block: number): Block {
    const { gradients, hessians, active: units, ranges, pendingCounts } = this.memory;
    const { pendingUnits, pendingDeltas } = this.memory;
    const columns = this.columnsOf(block, { gradients, hessians });
    const pending = this.columnsOf(block, { units: pendingUnits, deltas: pendingDeltas });
    return {
      ...columns,
      columns,
      ...this.columnsOf(block, { units }),
      range: this.partOf(ranges, block),
      count: this.partOf(pendingCounts, block),
      changed: pending.units,
      deltas: pending.deltas,
      pending,
    };
  }

  #viewHome(block: number): HomeBlock {
    const { l1, l2, box } = this.context.problem;
    const { weights, counts, level, skip, activeCounts, stats } = this.memory;
    const { weightStart: start, weightPrevious: previous } = this.memory;
    const common = this.blocks[block];
    return {
      ...common,
      columns: {
        ...common.columns,
        ...this.columnsOf(block, { weights, l1, l2 }),
        ...(box && { box: this.columnsOf(block, { ...box }) }),
        ...this.columnsOf(block, { counts, level, skip }),
      },
      ...this.columnsOf(block, { start, previous }),
      batches: new Batches({
        active: common.units,
        count: this.partOf(activeCounts, block),
        ...this.columnsOf(block, { runs: this.memory.runs }),
        run: columnsTogether,
        random: this.random(block),
      }),
      stats: this.partOf(stats, block),
    };
  }

  /** A block that this thread is home to. */
  homeOf(block: number): HomeBlock {
    return this.home[block - this.context.team.first];
  }

  /** To start + η (now − start). */
  moveTo(eta: number): void {
    if (eta === 1) return;
    const { objective, team } = this.context;
    const { weightStart, marginStart } = this.memory;
    const start = { weights: weightStart, margins: marginStart };
    objective.interpolate(this.memory, start, this.memory, eta);
    objective.keepInBox(this.memory.weights);
    team.barrier();
  }

  override arrays(): StateArray[] {
    const { margins, marginPrevious, weights, weightPrevious, level, skip } = this.memory;
    const { runs, generators } = this.memory;
    return stateArrays({
      row: { margins, marginPrevious },
      column: { weights, weightPrevious, level, skip, runs },
      worker: { generators },
    });
  }

  override resume(): void {
    super.resume();
    for (const { batches } of this.home) batches.resume();
  }
}
