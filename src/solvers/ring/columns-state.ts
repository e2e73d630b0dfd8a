import type { Arena } from '../../engine/arena.ts';
import { VisitSlots } from '../../engine/block-layout.ts';
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

/** Of a packed batch: gradients, hessians and deltas; and two integers. */
const numbersPerColumn = 4;

/** Nothing where no block ever leaves; one more number for each block. */
function allocatePackedBatches(arena: Arena, { slots, bufferLength, size }: Partition) {
  return arena.float64(slots > 0 ? numbersPerColumn * bufferLength + size : 0);
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

/** A packed batch: all of it, and its parts. */
interface Message {
  readonly all: Float64Array;
  /** Units and changes, of which there are counts[0] and counts[1]. */
  readonly counts: Int32Array;
  readonly units: Int32Array;
  readonly changed: Int32Array;
  readonly deltas: Float64Array;
  /** Gradients, then hessians: what visits add to. */
  readonly sums: Float64Array;
}

/**
 * What of a block of column mode goes from one process to the next: a batch is a small part of the
 * block, and only it is sent, packed together when the block leaves and laid out again where it
 * arrives. Home come the sums alone.
 */
export class PackedBatches {
  readonly #context: SolverContext;
  readonly #messages: readonly Message[];
  readonly #exchanges: boolean;
  readonly fields: BlockFields;

  /** `rotations`: batches per epoch, by which the length of a batch is bounded. */
  constructor(context: SolverContext, memory: RingColumnsMemory['packed'], rotations: number) {
    this.#context = context;
    this.#exchanges = context.team.link.exchangesBlocks;
    const { blockLengths } = context.problem.grid.partition;
    const longest = blockLengths.reduce((most, length) => Math.max(most, length), 0);
    const most = Math.min(longest, Math.ceil(longest / rotations) + 1);
    const blocks = this.#exchanges ? blockLengths : [];
    this.#messages = Array.from(blocks, (length, block) =>
      this.#view(memory, block, Math.min(most, length)),
    );
    const views = (of: (message: Message) => Float64Array) => (block: number) =>
      this.#exchanges ? [of(this.#messages[block])] : [];
    this.fields = context.ring.fields(
      views(({ all }) => all),
      views(({ sums }) => sums),
    );
  }

  #view(memory: Float64Array, block: number, length: number): Message {
    const { first, end, size, blockOffsets } = this.#context.problem.grid.partition;
    const isHome = block >= first && block < end;
    const place = isHome ? block - first : end - first + new VisitSlots(size, first, end).of(block);
    const from = numbersPerColumn * blockOffsets[block] + place;
    const all = memory.subarray(from, from + numbersPerColumn * length + 1);
    const integers = new Int32Array(all.buffer, all.byteOffset, 2 + 2 * length);
    return {
      all,
      counts: integers.subarray(0, 2),
      units: integers.subarray(2, 2 + length),
      changed: integers.subarray(2 + length),
      deltas: all.subarray(1 + length, 1 + 2 * length),
      sums: all.subarray(1 + 2 * length),
    };
  }

  /** Before the visit of a worker: unpacks the block if it comes from another process. */
  arrive(worker: number, block: number, begun: boolean, batch: Block): void {
    const { shared } = this.#context.team;
    if (!this.#exchanges || worker !== shared.end - 1 || !begun) return;
    const { counts, units, changed, deltas, sums } = this.#messages[block];
    const [count, changes] = counts;
    const { columns, pending } = batch;
    const isHome = block >= shared.first && block < shared.end;
    if (!isHome) {
      batch.units.set(units.subarray(0, count));
      batch.range[0] = 0;
      batch.range[1] = count;
      batch.count[0] = changes;
      pending.units.set(changed.subarray(0, changes));
      pending.deltas.set(deltas.subarray(0, changes));
    }
    for (let k = 0; k < count; k++) {
      columns.gradients[units[k]] = sums[k];
      columns.hessians[units[k]] = sums[units.length + k];
    }
  }

  /** After the visit of a worker: packs the block if it goes to another process. */
  leave(worker: number, block: number, batch: Block): void {
    if (!this.#exchanges || worker !== this.#context.team.shared.first) return;
    const { counts, units, changed, deltas, sums } = this.#messages[block];
    const listed = batch.units.subarray(batch.range[0], batch.range[1]);
    const changes = batch.count[0];
    counts[0] = listed.length;
    counts[1] = changes;
    units.set(listed);
    changed.set(batch.pending.units.subarray(0, changes));
    deltas.set(batch.pending.deltas.subarray(0, changes));
    for (let k = 0; k < listed.length; k++) {
      sums[k] = batch.columns.gradients[listed[k]];
      sums[units.length + k] = batch.columns.hessians[listed[k]];
    }
  }
}
