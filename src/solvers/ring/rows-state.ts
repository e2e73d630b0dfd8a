import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import { type Partition, rowsTogether } from '../../engine/partition.ts';
import type { BlockFields } from '../../engine/ring.ts';
import { allocateGenerators, BlockState, reserve } from '../block-state.ts';
import {
  type Doubles,
  type Pending,
  type RowState,
  stat,
  type WeightMap,
} from '../kernels/kernels.ts';
import { Batches, SegmentOrder } from '../orders.ts';
import type { SolverContext } from '../solver.ts';
import { tracksLocalUpdates } from './damping.ts';
import { allocateLocalUpdates } from './local-updates.ts';
import type { RingRowsOptions } from './rows.ts';
import { usesStages } from './stage-rules.ts';
import { allocateStages } from './stages.ts';

export type RingRowsMemory = ReturnType<typeof allocateRingRows>;

export function allocateRingRows(arena: Arena, partition: Partition, options: RingRowsOptions) {
  const { mapped, bounded, rotations, staged, stored = false } = options;
  const few = tracksLocalUpdates(rotations, partition.size);
  const rows = partition.rowOrder.length;
  const home = partition.columnOrder.length;
  const { bufferLength } = partition;
  return {
    ...reserve(arena, 'float64', rows, ['alpha', 'alphaStart', 'alphaPrevious', 'margins']),
    ...reserve(arena, 'float64', rows, ['norms', 'collisions', 'pendingDeltas']),
    ...reserve(arena, 'int32', rows, ['counts', 'active', 'pendingUnits']),
    ...reserve(arena, 'uint8', rows, ['level', 'skip']),
    marginsPrevious: arena.float64(few && !mapped ? rows : 0),
    runs: arena.int32(partition.size * mostRuns(partition)),
    activeCounts: arena.int32(partition.size),
    generators: allocateGenerators(arena, partition),
    stats: arena.float64(stat.length * partition.size),
    ...reserve(arena, 'float64', home, ['imageStart', 'imagePrevious']),
    ...reserve(arena, 'float64', bufferLength, ['weights', 'inverse', 'weightedOverlap']),
    ...reserve(arena, 'float64', mapped ? bufferLength : 0, ['image', 'threshold', 'shift']),
    ...(bounded && { box: reserve(arena, 'float64', bufferLength, ['low', 'high']) }),
    ...allocateLocalUpdates(arena, partition, few),
    ...allocateStages(arena, partition, usesStages(staged, partition), stored),
  };
}

/** Runs of the worker that has the most rows. */
function mostRuns({ rowBounds }: Partition): number {
  const lengths = rowBounds.map((end, k) => end - (rowBounds[k - 1] ?? 0));
  return Math.ceil(lengths.reduce((most, rows) => Math.max(most, rows)) / rowsTogether);
}

/** One worker's views of the row arrays. */
export interface WorkerRows
  extends Doubles<'start' | 'previous' | 'margins' | 'marginsPrevious' | 'stats'> {
  readonly rows: RowState;
  readonly batches: Batches;
  readonly pending: Pending;
  pendingCount: number;
}

/**
 * A block's views of the arrays that travel, of which `image` is what steps add to; and of `start`,
 * `previous` and `l2`, which it has where it is at home.
 */
interface BlockColumns extends Doubles<'weights' | 'image' | 'start' | 'previous' | 'l2'> {
  readonly map: WeightMap | undefined;
}

/**
 * The variables of row mode: α by rows, and by columns the image v = (1/W) Σ α_i x_i and the
 * weights that belong to it. Without a map the array of the image holds w = v/λ.
 */
export class RowModeState extends BlockState {
  readonly memory: RingRowsMemory;
  readonly mapped: boolean;
  /**
   * Whether the margins of all rows are part of the state, which pays with few rotations: they follow
   * the momentum like w, of which they are a linear function unless there is a map.
   */
  readonly savesMargins: boolean;
  readonly workers: readonly WorkerRows[];
  readonly blocks: readonly BlockColumns[];
  /** What a block takes along: its weights, and what they are made from. */
  readonly fields: BlockFields;
  /** The workers this thread runs and the blocks it is home to. */
  readonly mine: readonly WorkerRows[];
  readonly home: readonly BlockColumns[];

  constructor(context: SolverContext, memory: RingRowsMemory, mapped: boolean, few: boolean) {
    super(context, memory.generators);
    this.memory = memory;
    this.mapped = mapped;
    this.savesMargins = few && !mapped;
    this.workers = this.forAll((worker) => this.#viewWorker(worker));
    this.blocks = this.forAll((block) => this.#viewBlock(block));
    this.mine = this.parts.map((worker) => this.workers[worker]);
    this.home = this.parts.map((block) => this.blocks[block]);
    const changed = (block: number) => {
      const { weights, map } = this.blocks[block];
      return map ? [weights, map.image] : [weights];
    };
    this.fields = context.ring.fields((block) => {
      const { map } = this.blocks[block];
      if (!map) return changed(block);
      const { threshold, inverse, shift, box } = map;
      const constant = [threshold, inverse, shift, ...(box ? [box.low, box.high] : [])];
      return [...changed(block), ...constant];
    }, changed);
  }

  #viewWorker(worker: number): WorkerRows {
    const { grid, labels, rowWeights } = this.context.problem;
    const { alpha, norms, collisions, counts, level, skip, stats, runs } = this.memory;
    const { alphaStart: start, alphaPrevious: previous, margins, marginsPrevious } = this.memory;
    const { active, pendingUnits: units, pendingDeltas: deltas, activeCounts } = this.memory;
    const variables = { alpha, norms, collisions, counts, level, skip };
    return {
      rows: this.rowsOf(worker, { labels, rowWeights, ...variables }),
      ...this.rowsOf(worker, { start, previous, margins, marginsPrevious }),
      batches: new Batches({
        ...this.rowsOf(worker, { active }),
        count: this.partOf(activeCounts, worker),
        runs: this.partOf(runs, worker),
        run: rowsTogether,
        random: this.random(worker),
        order: new SegmentOrder(grid.segments[worker], rowsTogether),
      }),
      pending: this.rowsOf(worker, { units, deltas }),
      stats: this.partOf(stats, worker),
      pendingCount: 0,
    };
  }

  #viewBlock(block: number): BlockColumns {
    const { l2 } = this.context.problem;
    const { image, threshold, inverse, shift, box } = this.memory;
    const { weights, imageStart: start, imagePrevious: previous } = this.memory;
    const columns = this.columnsOf(block, { weights, start, previous, l2 });
    if (!this.mapped) return { ...columns, image: columns.weights, map: undefined };
    const map = {
      ...this.columnsOf(block, { image, threshold, inverse, shift }),
      ...(box && { box: this.columnsOf(block, box) }),
    };
    return { ...columns, image: map.image, map };
  }

  /** α = 0, where the arrays are when they are new, or the dual point of w = 0. */
  startCold(inside: boolean): void {
    if (!inside) return;
    this.context.objective.dualPoint(this.memory.margins, this.memory.alpha);
    this.recomputeImage();
  }

  /** Puts the proximal centre of columns without curvature at these weights. */
  centreAt(weights: Float64Array): void {
    const { objective } = this.context;
    for (const block of this.parts) {
      this.#recentre(this.blocks[block], objective.columnsOf(weights, block));
    }
  }

  /** The point at hand is the one that momentum and margins start from. */
  settle(): void {
    this.refreshMargins();
    for (const { rows, previous, margins, marginsPrevious } of this.mine) {
      previous.set(rows.alpha);
      if (this.savesMargins) marginsPrevious.set(margins);
    }
    for (const { image, previous } of this.home) previous.set(image);
  }

  /** The image of α from scratch, and w from it. */
  recomputeImage(): void {
    const { problem, objective } = this.context;
    const { alpha, image, weights } = this.memory;
    objective.image(alpha, this.mapped ? image : weights);
    for (const block of this.home) {
      const { weights: w, map } = block;
      if (map) this.#mapWeights(block);
      else for (let j = 0; j < w.length; j++) w[j] /= problem.lambda;
    }
    this.context.team.barrier();
  }

  /** Nesterov's momentum on (α, image, margins); `recentre` moves the proximal centre to w before. */
  extrapolate(beta: number, recentre: boolean): void {
    const { kernels } = this.context;
    for (const { rows, start, previous, margins, marginsPrevious } of this.mine) {
      kernels.extrapolate(rows.alpha, start, previous, beta);
      if (this.savesMargins) kernels.extrapolate(margins, marginsPrevious, marginsPrevious, beta);
    }
    for (const block of this.home) {
      if (recentre) this.#recentre(block, block.weights);
      kernels.extrapolate(block.image, block.start, block.previous, beta);
      this.#mapWeights(block);
    }
  }

  #recentre({ map, l2 }: BlockColumns, weights: Float64Array): void {
    if (!map) return;
    for (let j = 0; j < weights.length; j++) {
      if (!(l2[j] > 0)) map.shift[j] = weights[j] / map.inverse[j];
    }
  }

  /** To start + η (now − start). */
  moveTo(eta: number): void {
    if (eta === 1) return;
    const { kernels } = this.context;
    for (const { rows, start } of this.mine) {
      kernels.interpolate(rows.alpha, start, rows.alpha, eta);
    }
    for (const block of this.home) {
      kernels.interpolate(block.image, block.start, block.image, eta);
      this.#mapWeights(block);
    }
    this.context.team.barrier();
  }

  /** The margins of w where they are part of the state, by a rotation. */
  refreshMargins(): void {
    const { weights, margins } = this.memory;
    if (this.savesMargins) this.context.objective.margins(weights, margins);
  }

  /** v, which without a map is λ w. */
  image(): Float64Array {
    if (this.mapped) return this.memory.image;
    const { objective, problem, kernels } = this.context;
    const { scratchImage } = objective;
    const [w, v] = [this.memory.weights, scratchImage].map((array) => objective.ownColumns(array));
    kernels.scaleInto(w, v, problem.lambda);
    return scratchImage;
  }

  override arrays(): StateArray[] {
    const { penalty, intercept } = this.context.problem;
    const { alpha, alphaPrevious, level, skip, norms, collisions, inverse } = this.memory;
    const { weights, imagePrevious, image, shift, runs, generators } = this.memory;
    const { margins, marginsPrevious } = this.memory;
    const curved = penalty.l2 > 0;
    // Proximal terms that adapt change these from epoch to epoch; else they follow from the data.
    const terms = intercept || !curved;
    const saved = this.savesMargins && { margins, marginsPrevious };
    // With curvature every epoch begins with a new centre.
    const centre = !curved && { shift };
    return stateArrays({
      row: { alpha, alphaPrevious, level, skip, ...(terms && { norms, collisions }), ...saved },
      column: { weights, imagePrevious, image, ...(terms && { inverse }), ...centre },
      worker: { runs, generators },
    });
  }

  override resume(): void {
    super.resume();
    for (const { batches } of this.mine) batches.resume();
  }

  #mapWeights({ weights, map }: BlockColumns): void {
    if (map) this.context.kernels.mapWeights(map, weights);
  }
}
