import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import { type Partition, rowsTogether } from '../../engine/partition.ts';
import { allocateGenerators, BlockState, reserve } from '../block-state.ts';
import { type SaddleRows, saddleStride, saddleSlot as slot } from '../kernels/kernels.ts';
import { SegmentOrder } from '../orders.ts';
import type { SolverContext } from '../solver.ts';
import { allocateLocalDescent } from './steps.ts';
import { allocateTravel, Travel } from './travel.ts';

/** Settings of the paper's solver, and of its asynchronous variant. */
export interface DsoSettings {
  /** 'adagrad' (default) or 'sqrt': η₀/√t as in Algorithm 1. */
  readonly step: 'adagrad' | 'sqrt';
  /** Step size for w (η₀); default depends on the loss. */
  readonly stepSize?: number;
  /** Step size for α; default: see docs. */
  readonly dualStepSize?: number;
  /** Variance reduction with a snapshot every epoch (default true). */
  readonly svrg: boolean;
  /** Passes of local dual coordinate descent before the first epoch (default 0; the paper: 20). */
  readonly initialize: number;
  /** The appendix's box on w; default true. α always stays in the domain of its conjugate. */
  readonly boxes: boolean;
  /** Whether the model is the averaged iterate of Theorem 1 (default false: the last). */
  readonly average: boolean;
}

export type DsoMemory = ReturnType<typeof allocateDso>;

export function allocateDso(arena: Arena, partition: Partition, settings: DsoSettings) {
  const rows = partition.rowOrder.length;
  const { bufferLength } = partition;
  return {
    ...reserve(arena, 'float64', rows, ['alpha', 'margins', 'snapshot', 'snapshotGradient']),
    ...reserve(arena, 'float64', rows, ['accumulators', 'inverseCounts', 'low', 'high']),
    order: arena.int32(rows),
    generators: allocateGenerators(arena, partition),
    ...reserve(arena, 'float64', bufferLength, ['weights', 'image']),
    columns: arena.float64(saddleStride * bufferLength),
    travel: allocateTravel(arena, partition, settings),
    alphaSum: arena.float64(settings.average ? rows : 0),
    weightSum: arena.float64(settings.average ? bufferLength : 0),
    local: settings.initialize > 0 ? allocateLocalDescent(arena, partition) : undefined,
  };
}

/** One worker's rows, and the order in which it visits them. */
export interface DsoWorker {
  readonly rows: SaddleRows;
  readonly order: Int32Array;
  readonly margins: Float64Array;
  /** |Ω_i| */
  readonly counts: Int32Array;
}

/**
 * The variables of Algorithm 1: α by rows; w by columns, in lines of the numbers that a step on the
 * column needs (see saddleSlot), of which `weights` is a copy between epochs.
 */
export class DsoState extends BlockState {
  readonly memory: DsoMemory;
  readonly settings: DsoSettings;
  readonly workers: readonly DsoWorker[];
  /** w^(r) for every block r. */
  readonly lines: readonly Float64Array[];
  readonly travel: Travel;
  readonly #orders = new Map<number, SegmentOrder>();

  constructor(context: SolverContext, memory: DsoMemory, settings: DsoSettings) {
    super(context, memory.generators);
    this.memory = memory;
    this.settings = settings;
    this.workers = this.forAll((worker) => this.#worker(worker));
    this.lines = this.forAll(
      (block) => this.columnsOf(block, { lines: memory.columns }, saddleStride).lines,
    );
    this.travel = new Travel(context, memory.travel, settings, this.lines);
    for (const worker of this.parts) {
      const starts = context.problem.grid.segments[worker];
      this.#orders.set(worker, new SegmentOrder(starts, rowsTogether));
    }
  }

  #worker(worker: number): DsoWorker {
    const { labels, rowWeights, grid } = this.context.problem;
    const { alpha, accumulators, inverseCounts, low, high } = this.memory;
    const { snapshot, snapshotGradient, order, margins } = this.memory;
    const variables = { alpha, accumulators, inverseCounts, low, high };
    const constants = { labels, rowWeights, snapshot, snapshotGradient };
    const counts = grid.partition.rowCounts;
    return {
      rows: this.rowsOf(worker, { ...constants, ...variables }),
      ...this.rowsOf(worker, { order, margins, counts }),
    };
  }

  get adagrad(): boolean {
    return this.settings.step === 'adagrad';
  }

  /** |Ω̄_j| of a block that is at home here. */
  columnCounts(block: number): Int32Array {
    const { columnStarts, columnCounts } = this.context.problem.grid.partition;
    return columnCounts.subarray(columnStarts[block], columnStarts[block + 1]);
  }

  shuffleRows(): void {
    for (const [worker, segments] of this.#orders) {
      segments.shuffle(this.workers[worker].order, rowsTogether, this.random(worker));
    }
  }

  /** Copies w out of the lines. */
  collectWeights(): void {
    const { objective, team } = this.context;
    for (const block of this.parts) {
      const lines = this.lines[block];
      const weights = objective.columnsOf(this.memory.weights, block);
      for (let j = 0; j < weights.length; j++) weights[j] = lines[j * saddleStride + slot.weight];
    }
    team.barrier();
  }

  /** Margins of w and image of α: what the gap and the next snapshot are made of. */
  measure(weights = this.memory.weights, alpha = this.memory.alpha): void {
    const { objective } = this.context;
    objective.margins(weights, this.memory.margins, undefined, (worker, block) => {
      this.travel.keepSnapshot(worker, block, objective.columnsOf(weights, block));
    });
    objective.image(alpha, this.memory.image);
  }

  override arrays(): StateArray[] {
    const { alpha, accumulators, order, columns, alphaSum, weightSum, generators } = this.memory;
    const slots = this.adagrad ? [slot.weight, slot.squares] : [slot.weight];
    return stateArrays({
      row: { alpha, order, alphaSum, ...(this.adagrad && { accumulators }) },
      column: { columns: { lines: columns, stride: saddleStride, slots }, weightSum },
      worker: { generators },
    });
  }

  override resume(): void {
    super.resume();
    this.checkOrders(this.memory.order);
    this.collectWeights();
    this.measure();
  }
}
