import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Cargo } from '../../engine/ring.ts';
import { stream } from '../../math/random.ts';
import { blockOf } from '../../parallel/lodging.ts';
import { rowsTogether } from '../../parallel/segments.ts';
import { Batches } from '../batches.ts';
import { allocateGenerators, generatorOf } from '../generators.ts';
import { type Pending, type RowState, stat, type WeightMap } from '../kernels/kernels.ts';
import type { Workplace } from '../method.ts';
import { SegmentOrder } from '../orders.ts';
import { allocateOwnChanges } from './local-updates.ts';
import type { RingRowsOptions } from './rows.ts';

export type RingRowsMemory = ReturnType<typeof allocateRingRows>;

/** `few`: rotations are so few that workers mind their own changes, see OwnChanges. */
export function allocateRingRows(
  arena: Arena,
  partition: Partition,
  { mapped, bounded }: Pick<RingRowsOptions, 'mapped' | 'bounded'>,
  few: boolean,
) {
  const rows = partition.rowOrder.length;
  const home = partition.columnOrder.length;
  const { travelling } = partition;
  const mappedTravelling = mapped ? travelling : 0;
  return {
    alpha: arena.float64(rows),
    alphaStart: arena.float64(rows),
    alphaPrevious: arena.float64(rows),
    margins: arena.float64(rows),
    marginsPrevious: arena.float64(few && !mapped ? rows : 0),
    norms: arena.float64(rows),
    collisions: arena.float64(rows),
    counts: arena.int32(rows),
    level: arena.uint8(rows),
    skip: arena.uint8(rows),
    active: arena.int32(rows),
    runs: arena.int32(partition.size * mostRuns(partition)),
    activeCounts: arena.int32(partition.size),
    generators: allocateGenerators(arena, partition),
    pendingUnits: arena.int32(rows),
    pendingDeltas: arena.float64(rows),
    stats: arena.float64(stat.length * partition.size),
    weights: arena.float64(travelling),
    imageStart: arena.float64(home),
    imagePrevious: arena.float64(home),
    inverse: arena.float64(travelling),
    crowding: arena.float64(travelling),
    image: arena.float64(mappedTravelling),
    threshold: arena.float64(mappedTravelling),
    shift: arena.float64(mappedTravelling),
    ...(bounded && { box: { low: arena.float64(travelling), high: arena.float64(travelling) } }),
    ...allocateOwnChanges(arena, partition, few),
  };
}

/** Runs of the worker that has the most rows. */
function mostRuns({ rowBounds, size }: Partition): number {
  let most = 0;
  for (let worker = 0; worker < size; worker++) {
    most = Math.max(most, Math.ceil((rowBounds[worker + 1] - rowBounds[worker]) / rowsTogether));
  }
  return most;
}

/** One worker's views of the row arrays. */
export interface WorkerRows {
  readonly rows: RowState;
  readonly start: Float64Array;
  readonly previous: Float64Array;
  readonly margins: Float64Array;
  readonly marginsPrevious: Float64Array;
  readonly batches: Batches;
  readonly pending: Pending;
  readonly stats: Float64Array;
  pendingCount: number;
}

/** A block's views of the arrays that travel; `image` is what steps add to. */
export interface BlockColumns {
  readonly weights: Float64Array;
  readonly image: Float64Array;
  readonly map: WeightMap | undefined;
}

/** What is kept of a block where it is at home. */
export interface HomeColumns extends BlockColumns {
  readonly start: Float64Array;
  readonly previous: Float64Array;
  readonly l2: Float64Array;
}

/**
 * The variables of row mode: α by rows, and by columns the image v = (1/W) Σ α_i x_i and the
 * weights it stands for. Without a map w is kept in the image's place, v/λ.
 */
export class RowModeState {
  readonly memory: RingRowsMemory;
  readonly mapped: boolean;
  /**
   * Whether the margins of all rows are part of the state, as few rotations make it pay: they follow
   * the momentum like w, of which they are a linear function unless there is a map.
   */
  readonly keepsMargins: boolean;
  readonly workers: readonly WorkerRows[];
  readonly blocks: readonly BlockColumns[];
  /** What a block takes along: its weights, and what they are made from. */
  readonly cargo: Cargo;
  /** The workers this thread plays and the blocks it is home to. */
  readonly mine: readonly WorkerRows[];
  readonly home: readonly HomeColumns[];
  readonly #place: Workplace;
  readonly #few: boolean;

  constructor(place: Workplace, memory: RingRowsMemory, mapped: boolean, few: boolean) {
    this.#place = place;
    this.memory = memory;
    this.mapped = mapped;
    this.keepsMargins = few && !mapped;
    this.#few = few;
    const { first, end } = place.team;
    const ids = Array.from({ length: place.problem.grid.size }, (_, k) => k);
    this.workers = ids.map((worker) => this.#viewWorker(worker));
    this.blocks = ids.map((block) => this.#viewBlock(block));
    this.mine = this.workers.slice(first, end);
    this.home = ids.slice(first, end).map((block) => this.#viewHome(block));
    this.cargo = place.ring.cargo((block) => {
      const { weights, map } = this.blocks[block];
      if (!map) return [weights];
      const { image, threshold, inverse, shift, box } = map;
      return [weights, image, threshold, inverse, shift, ...(box ? [box.low, box.high] : [])];
    });
  }

  #viewWorker(worker: number): WorkerRows {
    const { grid, labels, weights } = this.#place.problem;
    const { rowStarts } = grid.partition;
    const from = rowStarts[worker];
    const to = rowStarts[worker + 1];
    const memory = this.memory;
    const most = memory.runs.length / grid.size;
    return {
      rows: {
        labels: labels.subarray(from, to),
        importance: weights.subarray(from, to),
        alpha: memory.alpha.subarray(from, to),
        norms: memory.norms.subarray(from, to),
        collisions: memory.collisions.subarray(from, to),
        counts: memory.counts.subarray(from, to),
        level: memory.level.subarray(from, to),
        skip: memory.skip.subarray(from, to),
      },
      start: memory.alphaStart.subarray(from, to),
      previous: memory.alphaPrevious.subarray(from, to),
      margins: memory.margins.subarray(from, to),
      marginsPrevious: memory.marginsPrevious.subarray(from, to),
      batches: new Batches(
        memory.active.subarray(from, to),
        memory.activeCounts.subarray(worker, worker + 1),
        memory.runs.subarray(worker * most, (worker + 1) * most),
        rowsTogether,
        stream(this.#place.seed, 1 + worker),
        new SegmentOrder(grid.segments[worker], rowsTogether),
      ),
      pending: {
        units: memory.pendingUnits.subarray(from, to),
        deltas: memory.pendingDeltas.subarray(from, to),
      },
      stats: memory.stats.subarray(worker * stat.length, (worker + 1) * stat.length),
      pendingCount: 0,
    };
  }

  #viewBlock(block: number): BlockColumns {
    const { partition } = this.#place.problem.grid;
    const memory = this.memory;
    const view = (array: Float64Array) => blockOf(partition, array, block);
    const weights = view(memory.weights);
    const map = this.mapped
      ? {
          image: view(memory.image),
          threshold: view(memory.threshold),
          inverse: view(memory.inverse),
          shift: view(memory.shift),
          ...(memory.box && { box: { low: view(memory.box.low), high: view(memory.box.high) } }),
        }
      : undefined;
    return { weights, image: map?.image ?? weights, map };
  }

  #viewHome(block: number): HomeColumns {
    const { grid, l2 } = this.#place.problem;
    const view = (array: Float64Array) => blockOf(grid.partition, array, block);
    const { imageStart, imagePrevious } = this.memory;
    const own = { start: view(imageStart), previous: view(imagePrevious), l2: view(l2) };
    return { ...this.blocks[block], ...own };
  }

  /** A block that this thread is home to. */
  homeOf(block: number): HomeColumns {
    return this.home[block - this.#place.team.first];
  }

  /**
   * Curvature μ_j of each column; the intercept's is not known yet and stays out of the norms.
   * `crowdOf` tells how much rows collide in a column that so many have.
   */
  prepareColumns(proximal: number, crowdOf: (count: number) => number): void {
    const { problem, team } = this.#place;
    const { columnStarts, columnCounts } = problem.grid.partition;
    const { inverse, crowding, crowd, threshold, box } = this.memory;
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
      if (this.mapped) threshold[j] = problem.l1[j];
      if (box && problem.box) {
        box.low[j] = problem.box.low[j];
        box.high[j] = problem.box.high[j];
      }
      if (crowd.length > 0) crowd[j] = crowdOf(columnCounts[j]);
      if (j === problem.interceptPlace) continue;
      inverse[j] = 1 / (problem.l2[j] > 0 ? problem.l2[j] : proximal);
      crowding[j] = crowdOf(columnCounts[j]) * inverse[j];
    }
    team.barrier();
  }

  /** The rows' norms; returns their mean, and the mean share of other rows that a row meets. */
  prepareNorms(): { norm: number; collision: number } {
    const { problem, team, ring, kernels, objective } = this.#place;
    const { partition } = problem.grid;
    const { inverse, crowding } = this.memory;
    const cargo = ring.cargo((block) => [
      objective.columnsOf(inverse, block),
      objective.columnsOf(crowding, block),
    ]);
    ring.rotate(cargo, (worker, block) => {
      const { norms, collisions } = this.workers[worker].rows;
      const a = objective.columnsOf(inverse, block);
      const b = objective.columnsOf(crowding, block);
      objective.cells.through(worker, block, ({ offsets, indices, values }, first, end) => {
        const cell = { offsets: offsets.subarray(first), indices, values };
        const [norm, collision] = [norms.subarray(first), collisions.subarray(first)];
        kernels.rowNorms(cell, end - first, a, b, norm, collision);
      });
    });
    const [crowded, plain] = team.reduce(2, (worker, values) => {
      const { rows } = this.workers[worker];
      const { norms, collisions, counts } = rows;
      const from = partition.rowStarts[worker];
      for (let i = 0; i < norms.length; i++) {
        counts[i] = partition.rowCounts[from + i];
        values[0] += collisions[i];
        values[1] += norms[i];
        collisions[i] *= this.#othersWeight(rows, i);
      }
    });
    return {
      norm: plain > 0 ? plain / problem.rows : 1,
      collision: plain > 0 ? crowded / plain : 0,
    };
  }

  /**
   * What the rows that this one collides with count, as a multiple of what it counts itself: they move
   * as far as that. Where a worker minds its own changes, others are taken to be like them instead.
   */
  #othersWeight({ importance }: RowState, i: number): number {
    const { mass, rows } = this.#place.problem;
    return this.#few || importance[i] === 0 ? 1 : mass / rows / importance[i];
  }

  /**
   * Every row meets every other in the intercept's column. A proximal weight that makes it count
   * a tenth of all the other columns keeps the steps of the batch from drowning in it.
   */
  prepareIntercept(proximal: number, crowd: number): void {
    const { intercept, interceptPlace } = this.#place.problem;
    if (!intercept) return;
    const share = 1 / proximal;
    for (const { rows } of this.mine) {
      for (let i = 0; i < rows.norms.length; i++) {
        rows.norms[i] += share;
        rows.collisions[i] += crowd * share * this.#othersWeight(rows, i);
      }
    }
    if (this.#isHome(interceptPlace)) this.memory.inverse[interceptPlace] = share;
    this.#place.team.barrier();
  }

  /**
   * The image of the intercept's column, learnt by every thread from the one that is home to it:
   * read directly, it might be the next epoch's already.
   */
  interceptPull(): number {
    return this.#atIntercept((block) => this.blocks[block].image);
  }

  #atIntercept(of: (block: number) => Float64Array): number {
    const { problem, team } = this.#place;
    const { columnStarts } = problem.grid.partition;
    const { interceptPlace } = problem;
    return team.reduce(1, (block, values) => {
      const here = interceptPlace - columnStarts[block];
      const column = of(block);
      if (here >= 0 && here < column.length) values[0] = column[here];
    })[0];
  }

  /** Makes every proximal term `factor` times as heavy; `crowd` is that of the intercept. */
  scaleProximal(factor: number, crowd: number): void {
    const { penalty, interceptPlace } = this.#place.problem;
    const { inverse } = this.memory;
    if (penalty.l2 > 0) {
      const before = this.#atIntercept((block) => this.#place.objective.columnsOf(inverse, block));
      const more = before / factor - before;
      for (const { rows } of this.mine) {
        for (let i = 0; i < rows.norms.length; i++) {
          rows.norms[i] += more;
          rows.collisions[i] += crowd * more * this.#othersWeight(rows, i);
        }
      }
      if (this.#isHome(interceptPlace)) inverse[interceptPlace] = before / factor;
    } else {
      // Without a quadratic part every column has nothing but its proximal term.
      for (const { rows } of this.mine) {
        for (let i = 0; i < rows.norms.length; i++) {
          rows.norms[i] /= factor;
          rows.collisions[i] /= factor;
        }
      }
      for (const { map } of this.home) {
        if (map) for (let j = 0; j < map.inverse.length; j++) map.inverse[j] /= factor;
      }
    }
    this.#place.team.barrier();
  }

  #isHome(column: number): boolean {
    const { problem, team } = this.#place;
    const { columnStarts } = problem.grid.partition;
    return column >= columnStarts[team.first] && column < columnStarts[team.end];
  }

  /** α = 0, where the arrays are when they are new, or the dual point of w = 0. */
  startCold(inside: boolean): void {
    if (!inside) return;
    for (const { rows, margins } of this.mine) {
      const { labels, importance, alpha } = rows;
      this.#place.kernels.dualPoint(margins, labels, importance, 0, margins.length, alpha);
    }
    this.recomputeImage();
  }

  /** Puts the proximal centre of columns without curvature at these weights. */
  centreAt(weights: Float64Array): void {
    const { objective, team } = this.#place;
    for (const [k, block] of this.home.entries()) {
      this.#recentre(block, objective.columnsOf(weights, team.first + k));
    }
  }

  /** The point at hand is the one that momentum and margins start from. */
  settle(): void {
    this.refreshMargins();
    for (const { rows, previous, margins, marginsPrevious } of this.mine) {
      previous.set(rows.alpha);
      if (this.keepsMargins) marginsPrevious.set(margins);
    }
    for (const { image, previous } of this.home) previous.set(image);
  }

  /** The image of α from scratch, and w from it. */
  recomputeImage(): void {
    const { problem, objective } = this.#place;
    const target = this.mapped ? this.memory.image : this.memory.weights;
    objective.image(this.memory.alpha, target);
    if (!this.mapped) {
      for (const { weights } of this.home) {
        for (let j = 0; j < weights.length; j++) weights[j] /= problem.lambda;
      }
    }
    for (const block of this.home) this.#mapWeights(block);
    this.#place.team.barrier();
  }

  /** Nesterov's momentum on (α, image, kept margins), after the proximal centre has moved to w if asked. */
  extrapolate(beta: number, recentre: boolean): void {
    const { kernels } = this.#place;
    for (const { rows, start, previous, margins, marginsPrevious } of this.mine) {
      kernels.extrapolate(rows.alpha, start, previous, beta);
      if (this.keepsMargins) kernels.extrapolate(margins, marginsPrevious, marginsPrevious, beta);
    }
    for (const block of this.home) {
      if (recentre) this.#recentre(block, block.weights);
      kernels.extrapolate(block.image, block.start, block.previous, beta);
      this.#mapWeights(block);
    }
  }

  #recentre({ map, l2 }: HomeColumns, weights: Float64Array): void {
    if (!map) return;
    for (let j = 0; j < weights.length; j++) {
      if (!(l2[j] > 0)) map.shift[j] = weights[j] / map.inverse[j];
    }
  }

  /** To start + η (now − start). */
  moveTo(eta: number): void {
    if (eta === 1) return;
    const { kernels } = this.#place;
    for (const { rows, start } of this.mine) {
      kernels.interpolate(rows.alpha, start, rows.alpha, eta);
    }
    for (const block of this.home) {
      kernels.interpolate(block.image, block.start, block.image, eta);
      this.#mapWeights(block);
    }
    this.#place.team.barrier();
  }

  /** The margins of w where they are kept, by a rotation. */
  refreshMargins(): void {
    const { weights, margins } = this.memory;
    if (this.keepsMargins) this.#place.objective.margins(weights, margins);
  }

  /** v, which without a map is λ w. */
  image(): Float64Array {
    if (this.mapped) return this.memory.image;
    const { objective, problem, team, kernels } = this.#place;
    const { scratchImage } = objective;
    for (let block = team.first; block < team.end; block++) {
      const v = objective.columnsOf(scratchImage, block);
      kernels.scaleInto(this.blocks[block].weights, v, problem.lambda);
    }
    return scratchImage;
  }

  save(): void {
    const { generators } = this.memory;
    for (const [k, { batches }] of this.mine.entries()) {
      batches.save(generatorOf(generators, this.#place.team.first + k));
    }
  }

  arrays(): StateArray[] {
    const { penalty, intercept } = this.#place.problem;
    const { alpha, alphaPrevious, level, skip, norms, collisions, inverse } = this.memory;
    const { weights, imagePrevious, image, shift, runs, generators } = this.memory;
    const { margins, marginsPrevious } = this.memory;
    // Proximal terms that adapt change these from epoch to epoch; else they follow from the data.
    const adapts = intercept || !(penalty.l2 > 0);
    return stateArrays({
      row: {
        alpha,
        alphaPrevious,
        level,
        skip,
        ...(adapts && { norms, collisions }),
        ...(this.keepsMargins && { margins, marginsPrevious }),
      },
      column: {
        weights,
        imagePrevious,
        image,
        ...(adapts && { inverse }),
        // Else every epoch begins with a new centre.
        ...(!(penalty.l2 > 0) && { shift }),
      },
      worker: { runs, generators },
    });
  }

  resume(): void {
    const { generators } = this.memory;
    for (const [k, { batches }] of this.mine.entries()) {
      batches.resume(generatorOf(generators, this.#place.team.first + k));
    }
  }

  #mapWeights({ weights, map }: BlockColumns): void {
    if (map) this.#place.kernels.mapWeights(map, weights);
  }
}
