import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields } from '../../engine/ring.ts';
import { allocateGenerators, BlockState, reserve } from '../block-state.ts';
import {
  type ColumnState,
  type ColumnSums,
  type Doubles,
  type MarginState,
  type Pending,
  stat,
} from '../kernels/kernels.ts';
import { Batches } from '../orders.ts';
import type { SolverContext } from '../solver.ts';

/** Columns are ordered by frequency, which must not decide the batches. */
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

/** Nothing where no block ever leaves. */
function allocatePackedBatches(arena: Arena, { slots, bufferLength, size }: Partition) {
  const length = slots > 0 ? bufferLength : 0;
  return {
    counts: arena.int32(slots > 0 ? 2 * size : 0),
    integers: arena.int32(2 * length),
    numbers: arena.float64(3 * length),
  };
}

interface WorkerMargins extends Doubles<'start' | 'previous'> {
  readonly rows: MarginState;
}

/** What travels of a block: its batch, and the changes of the one before. */
interface Block {
  /** The batch is units[range[0]] … units[range[1]-1]. */
  readonly units: Int32Array;
  readonly range: Int32Array;
  readonly columns: ColumnSums;
  /** Changes, of which there are count[0]. */
  readonly pending: Pending;
  readonly count: Int32Array;
}

/** What stays where a block is at home, where its steps are taken. */
interface HomeBlock extends Block, Doubles<'start' | 'previous' | 'stats'> {
  readonly columns: ColumnState;
  readonly batches: Batches;
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
    return {
      ...this.columnsOf(block, { units }),
      range: this.partOf(ranges, block),
      columns: this.columnsOf(block, { gradients, hessians }),
      pending: this.columnsOf(block, { units: pendingUnits, deltas: pendingDeltas }),
      count: this.partOf(pendingCounts, block),
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

/**
 * What of a block of column mode goes from one process to the next: a batch is a small part of the
 * block, and only it is sent, packed together when the block leaves and laid out again where it
 * arrives.
 */
export class PackedBatches {
  readonly #context: SolverContext;
  readonly #memory: RingColumnsMemory['packed'];
  readonly #longest: number;
  readonly #exchanges: boolean;
  readonly fields: BlockFields;

  /** `rotations`: batches per epoch, by which the length of a batch is bounded. */
  constructor(context: SolverContext, memory: RingColumnsMemory['packed'], rotations: number) {
    this.#context = context;
    this.#memory = memory;
    this.#exchanges = context.team.link.exchangesBlocks;
    const { blockLengths } = context.problem.grid.partition;
    const longest = blockLengths.reduce((most, length) => Math.max(most, length), 0);
    this.#longest = Math.min(longest, Math.ceil(longest / rotations) + 1);
    this.fields = context.ring.fields((block) => (this.#exchanges ? this.#views(block) : []));
  }

  /** Counts; units and changed units; gradients, hessians and deltas. */
  #views(block: number): [Int32Array, Int32Array, Float64Array] {
    const { counts, integers, numbers } = this.#memory;
    const { blockOffsets, blockLengths } = this.#context.problem.grid.partition;
    const at = blockOffsets[block];
    const length = Math.min(this.#longest, blockLengths[block]);
    return [
      counts.subarray(2 * block, 2 * block + 2),
      integers.subarray(2 * at, 2 * at + 2 * length),
      numbers.subarray(3 * at, 3 * at + 3 * length),
    ];
  }

  /** Before the visit of a worker: unpacks the block if it comes from another process. */
  arrive(worker: number, block: number, begun: boolean, batch: Block): void {
    const { shared } = this.#context.team;
    if (!this.#exchanges || worker !== shared.end - 1 || !begun) return;
    const [counts, integers, numbers] = this.#views(block);
    const length = integers.length / 2;
    const [units, changes] = counts;
    const { columns, pending } = batch;
    const isHome = block >= shared.first && block < shared.end;
    if (!isHome) {
      batch.units.set(integers.subarray(0, units));
      batch.range[0] = 0;
      batch.range[1] = units;
      batch.count[0] = changes;
      pending.units.set(integers.subarray(length, length + changes));
      pending.deltas.set(numbers.subarray(2 * length, 2 * length + changes));
    }
    for (let k = 0; k < units; k++) {
      columns.gradients[integers[k]] = numbers[k];
      columns.hessians[integers[k]] = numbers[length + k];
    }
  }

  /** After the visit of a worker: packs the block if it goes to another process. */
  leave(worker: number, block: number, batch: Block): void {
    if (!this.#exchanges || worker !== this.#context.team.shared.first) return;
    const [counts, integers, numbers] = this.#views(block);
    const length = integers.length / 2;
    const units = batch.units.subarray(batch.range[0], batch.range[1]);
    const changes = batch.count[0];
    counts[0] = units.length;
    counts[1] = changes;
    integers.set(units);
    integers.set(batch.pending.units.subarray(0, changes), length);
    numbers.set(batch.pending.deltas.subarray(0, changes), 2 * length);
    for (let k = 0; k < units.length; k++) {
      numbers[k] = batch.columns.gradients[units[k]];
      numbers[length + k] = batch.columns.hessians[units[k]];
    }
  }
}
