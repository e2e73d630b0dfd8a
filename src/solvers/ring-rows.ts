import {
  type Pending,
  type RowState,
  type RowStep,
  stat,
  type WeightMap,
} from '../kernels/kernels.ts';
import { stream } from '../math/random.ts';
import { softThreshold } from '../math/scalars.ts';
import { rootOfFalling } from '../math/root.ts';
import type { Gap } from '../objective/objective.ts';
import type { Arena } from '../parallel/arena.ts';
import type { Partition } from '../parallel/partition.ts';
import { Batches } from './batches.ts';
import { Damping, rotationsFor } from './damping.ts';
import type { Method, Workplace } from './method.ts';
import { extrapolate, interpolate } from './segment.ts';

/** Units per call of a sweeping kernel: short calls let the engine replace a kernel by a faster one. */
const sweepChunk = 1024;

/**
 * Rows that are always swept together, for the sake of the cache. They were shuffled when they were
 * laid out, so that such a run is a random sample.
 */
const rowsTogether = 16;
/** A proximal subproblem counts as solved when its gap is this share of the whole problem's. */
const solved = 0.1;
/** How much less than all other columns of a row together the intercept counts. */
const interceptWeight = 10;

export type RingRowsMemory = ReturnType<typeof allocateRingRows>;

export function allocateRingRows(arena: Arena, partition: Partition, mapped: boolean) {
  const rows = partition.rowOrder.length;
  const columns = partition.columnOrder.length;
  const mappedColumns = mapped ? columns : 0;
  return {
    alpha: arena.float64(rows),
    alphaStart: arena.float64(rows),
    alphaPrevious: arena.float64(rows),
    margins: arena.float64(rows),
    norms: arena.float64(rows),
    collisions: arena.float64(rows),
    counts: arena.int32(rows),
    level: arena.uint8(rows),
    skip: arena.uint8(rows),
    active: arena.int32(rows),
    activeCounts: arena.int32(partition.size),
    pendingUnits: arena.int32(rows),
    pendingDeltas: arena.float64(rows),
    stats: arena.float64(stat.length * partition.size),
    weights: arena.float64(columns),
    imageStart: arena.float64(columns),
    imagePrevious: arena.float64(columns),
    inverse: arena.float64(columns),
    crowding: arena.float64(columns),
    image: arena.float64(mappedColumns),
    threshold: arena.float64(mappedColumns),
    shift: arena.float64(mappedColumns),
  };
}

export interface RingRowsOptions {
  /** Whether w is a non-linear function of its image (L1, factors, proximal terms). */
  readonly mapped: boolean;
  /** Weight μ of the proximal term on columns whose penalty has no curvature. */
  readonly proximal: number;
  readonly rotations?: number;
  /** Start from the dual point of w = 0 rather than from α = 0, where ℓ*' is infinite. */
  readonly startInside: boolean;
}

/** One worker's views of the row arrays. */
interface WorkerRows {
  readonly rows: RowState;
  readonly start: Float64Array;
  readonly previous: Float64Array;
  readonly margins: Float64Array;
  readonly batches: Batches;
  readonly pending: Pending;
  readonly stats: Float64Array;
  pendingCount: number;
}

/** One block's views of the column arrays; `image` is what travels and what steps add to. */
interface BlockColumns {
  readonly weights: Float64Array;
  readonly image: Float64Array;
  readonly start: Float64Array;
  readonly previous: Float64Array;
  readonly map: WeightMap | undefined;
}

/**
 * Row mode of the ring solver: exact dual steps α_i on small batches that are pipelined round the
 * ring, for any loss. In a rotation every worker, at every visit, first applies the changes of its
 * previous batch to the visiting block of w and then adds the block's part to the margins of its
 * current batch; after p visits the margins are complete and the batch takes its dual steps.
 * Momentum carries over epochs, and an exact line search keeps the dual objective rising.
 *
 * The steps need a penalty with curvature. Columns without (the intercept; all of them under a
 * pure L1 penalty) get a proximal term (μ/2)(w_j − c_j)² whose centre follows the iterate.
 */
export class RingRows implements Method {
  readonly weights: Float64Array;
  passes = 0;
  readonly #place: Workplace;
  readonly #memory: RingRowsMemory;
  readonly #mapped: boolean;
  readonly #workers: WorkerRows[];
  readonly #blocks: BlockColumns[];
  readonly #rotations: number;
  readonly #damping: Damping;
  readonly #proximal: number;
  readonly #interceptProximal: number;
  #momentum = 0;
  /** Whether the proximal centre moves to the current w before the next epoch. */
  #recentreNext = true;

  constructor(place: Workplace, memory: RingRowsMemory, options: RingRowsOptions) {
    this.#place = place;
    this.#memory = memory;
    this.#mapped = options.mapped;
    this.#proximal = options.proximal;
    this.weights = memory.weights;
    const { size } = place.problem.grid;
    const ids = Array.from({ length: size }, (_, k) => k);
    this.#workers = ids.map((worker) => this.#viewWorker(worker));
    this.#blocks = ids.map((block) => this.#viewBlock(block));
    this.#prepareColumns();
    const { norm, collision } = this.#prepareNorms();
    const { rows, entries } = place.problem;
    this.#rotations =
      size === 1 ? rows : (options.rotations ?? rotationsFor(rows, collision, entries, size));
    this.#damping = new Damping(rows / this.#rotations);
    this.#interceptProximal = (interceptWeight * (1 + this.#damping.value)) / norm;
    this.#prepareIntercept();
    this.#startFrom(options.startInside);
  }

  #viewWorker(worker: number): WorkerRows {
    const { grid, labels } = this.#place.problem;
    const { rowStarts } = grid.partition;
    const from = rowStarts[worker];
    const to = rowStarts[worker + 1];
    const memory = this.#memory;
    return {
      rows: {
        labels: labels.subarray(from, to),
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
      batches: new Batches(
        memory.active.subarray(from, to),
        memory.activeCounts.subarray(worker, worker + 1),
        rowsTogether,
        stream(this.#place.seed, 1 + worker),
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
    const { columnStarts } = this.#place.problem.grid.partition;
    const from = columnStarts[block];
    const to = columnStarts[block + 1];
    const memory = this.#memory;
    const weights = memory.weights.subarray(from, to);
    const map = this.#mapped
      ? {
          image: memory.image.subarray(from, to),
          threshold: memory.threshold.subarray(from, to),
          inverse: memory.inverse.subarray(from, to),
          shift: memory.shift.subarray(from, to),
        }
      : undefined;
    return {
      weights,
      image: map?.image ?? weights,
      start: memory.imageStart.subarray(from, to),
      previous: memory.imagePrevious.subarray(from, to),
      map,
    };
  }

  /** The workers this thread plays. */
  #mine(): WorkerRows[] {
    return this.#workers.slice(this.#place.team.first, this.#place.team.end);
  }

  /** The blocks this thread is home to. */
  #home(): BlockColumns[] {
    return this.#blocks.slice(this.#place.team.first, this.#place.team.end);
  }

  /** Curvature μ_j of each column; the intercept's is not known yet and stays out of the norms. */
  #prepareColumns(): void {
    const { problem, team } = this.#place;
    const { columnStarts, columnCounts } = problem.grid.partition;
    const { inverse, crowding, threshold } = this.#memory;
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
      if (this.#mapped) threshold[j] = problem.l1[j];
      if (j === problem.interceptPlace) continue;
      inverse[j] = 1 / (problem.l2[j] > 0 ? problem.l2[j] : this.#proximal);
      crowding[j] = (columnCounts[j] / problem.rows) * inverse[j];
    }
    team.barrier();
  }

  /** The rows' norms; returns their mean, and the mean share of other rows that a row meets. */
  #prepareNorms(): { norm: number; collision: number } {
    const { problem, team, ring, kernels, objective } = this.#place;
    const { cells, size, partition } = problem.grid;
    const { inverse, crowding } = this.#memory;
    ring.rotate((worker, block) => {
      const { rows } = this.#workers[worker];
      kernels.rowNorms(
        cells[worker * size + block],
        rows.alpha.length,
        objective.columnsOf(inverse, block),
        objective.columnsOf(crowding, block),
        rows.norms,
        rows.collisions,
      );
    });
    const [crowded, plain] = team.reduce(2, (worker, values) => {
      const { norms, collisions, counts } = this.#workers[worker].rows;
      const from = partition.rowStarts[worker];
      for (let i = 0; i < norms.length; i++) {
        counts[i] = partition.rowCounts[from + i];
        values[0] += collisions[i];
        values[1] += norms[i];
      }
    });
    return {
      norm: plain > 0 ? plain / problem.rows : 1,
      collision: plain > 0 ? crowded / plain : 0,
    };
  }

  /**
   * Every row meets every other in the intercept's column. A proximal weight that makes it count
   * a tenth of all the other columns keeps the steps of the batch from drowning in it.
   */
  #prepareIntercept(): void {
    const { interceptPlace } = this.#place.problem;
    if (interceptPlace < 0) return;
    const share = 1 / this.#interceptProximal;
    for (const { rows } of this.#mine()) {
      for (let i = 0; i < rows.norms.length; i++) {
        rows.norms[i] += share;
        rows.collisions[i] += share;
      }
    }
    if (this.#isHome(interceptPlace)) this.#memory.inverse[interceptPlace] = share;
    this.#place.team.barrier();
  }

  #isHome(column: number): boolean {
    const { problem, team } = this.#place;
    const { columnStarts } = problem.grid.partition;
    return column >= columnStarts[team.first] && column < columnStarts[team.end];
  }

  #startFrom(inside: boolean): void {
    const { kernels } = this.#place;
    if (inside) {
      for (const { rows, margins } of this.#mine()) {
        kernels.dualPoint(margins, rows.labels, 0, margins.length, rows.alpha);
      }
      this.#recomputeImage();
    }
    for (const { rows, previous } of this.#mine()) previous.set(rows.alpha);
    for (const { image, previous } of this.#home()) previous.set(image);
  }

  /** The image of α from scratch, and w from it. */
  #recomputeImage(): void {
    const { problem, objective } = this.#place;
    const target = this.#mapped ? this.#memory.image : this.weights;
    objective.image(this.#memory.alpha, target);
    if (!this.#mapped) {
      for (const { weights } of this.#home()) {
        for (let j = 0; j < weights.length; j++) weights[j] /= problem.lambda;
      }
    }
    for (const block of this.#home()) mapWeights(block);
    this.#place.team.barrier();
  }

  epoch(): void {
    const { team } = this.#place;
    this.#extrapolate();
    for (const { batches, rows, start, stats } of this.#mine()) {
      batches.deal(rows.skip, (i) => rows.alpha[i] === start[i]);
      stats.fill(0);
    }
    if (team.shared.workers === 1) this.#sweep();
    else this.#rotate();
    const [work, , effective] = team.reduce(3, (worker, values) => {
      values.set(this.#workers[worker].stats.subarray(0, 3));
    });
    this.passes += work / this.#place.problem.entries;
    const { eta, exactness } = this.#search();
    this.#moveTo(eta);
    if (eta < 0.5) this.#momentum = 0;
    this.#damping.learn(exactness, effective / this.#place.problem.rows);
  }

  /** Nesterov's momentum on (α, image), and the proximal centre moved to the current w. */
  #extrapolate(): void {
    const recentre = this.#recentreNext;
    if (recentre && !(this.#place.problem.penalty.l2 > 0)) this.#momentum = 0;
    const beta = this.#momentum / (this.#momentum + 3);
    this.#momentum++;
    for (const { rows, start, previous } of this.#mine()) {
      extrapolate(rows.alpha, start, previous, beta);
    }
    for (const block of this.#home()) {
      if (block.map && recentre) this.#recentre(block);
      extrapolate(block.image, block.start, block.previous, beta);
      mapWeights(block);
    }
  }

  #recentre(block: BlockColumns): void {
    const { weights, map } = block;
    if (!map) return;
    const { l2 } = this.#place.problem;
    const from = (weights.byteOffset - this.weights.byteOffset) / 8;
    for (let j = 0; j < weights.length; j++) {
      if (!(l2[from + j] > 0)) map.shift[j] = weights[j] / map.inverse[j];
    }
  }

  #step(): RowStep {
    const { rows, lambda } = this.#place.problem;
    return {
      damping: this.#damping.value,
      inverseRows: 1 / rows,
      deltaScale: this.#mapped ? 1 / rows : 1 / (lambda * rows),
      shrink: 1,
    };
  }

  /** One worker: every row is a batch of its own. */
  #sweep(): void {
    const { kernels, problem } = this.#place;
    const { rows, batches, stats } = this.#workers[0];
    const { weights, map } = this.#blocks[0];
    const cell = problem.grid.cells[0];
    const step = this.#step();
    for (let begin = 0; begin < batches.count; begin += sweepChunk) {
      const end = Math.min(batches.count, begin + sweepChunk);
      if (map) {
        kernels.sweepRowsMapped(cell, batches.active, begin, end, rows, step, map, weights, stats);
      } else {
        kernels.sweepRows(cell, batches.active, begin, end, rows, step, weights, stats);
      }
    }
  }

  /** B rotations and one more that only applies the changes of the last batch. */
  #rotate(): void {
    const { kernels, problem, ring, team } = this.#place;
    const { cells, size } = problem.grid;
    const step = this.#step();
    const batchCount = this.#rotations;
    for (const worker of this.#mine()) worker.pendingCount = 0;
    for (let batch = 0; batch <= batchCount; batch++) {
      ring.rotate((worker, block, iteration) => {
        const { batches, margins, pending, pendingCount } = this.#workers[worker];
        const { weights, map } = this.#blocks[block];
        const cell = cells[worker * size + block];
        if (map) kernels.scatterMapped(cell, pending, pendingCount, map, weights);
        else kernels.scatter(cell, pending, pendingCount, weights);
        if (batch === batchCount) return;
        const begin = batches.begin(batch, batchCount);
        const end = batches.begin(batch + 1, batchCount);
        kernels.gather(cell, batches.active, begin, end, iteration === 0, weights, margins);
      });
      if (batch === batchCount) break;
      for (const worker of this.#mine()) {
        const { batches, margins, rows, pending, stats } = worker;
        const begin = batches.begin(batch, batchCount);
        const end = batches.begin(batch + 1, batchCount);
        worker.pendingCount = kernels.stepRows(
          batches.active,
          begin,
          end,
          margins,
          rows,
          step,
          pending,
          stats,
        );
      }
    }
    team.barrier();
  }

  /** The exact maximiser of the dual on the segment from the epoch's start to its end. */
  #search(): { eta: number; exactness: number } {
    const slope = (eta: number) => this.#dualSlope(eta);
    const atStart = slope(0);
    const atEnd = slope(1);
    const exactness = atStart / Math.max(1e-300, atStart - atEnd);
    if (!(atStart > 0)) return { eta: 0, exactness };
    if (atEnd >= 0) return { eta: 1, exactness };
    return { eta: rootOfFalling(slope, 0, atStart, 1, atEnd, 1e-3 * atStart, 12), exactness };
  }

  /** d/dη of D at start + η (end − start). */
  #dualSlope(eta: number): number {
    const { team, kernels, problem } = this.#place;
    const [conjugate, penalty] = team.reduce(2, (part, values) => {
      const { rows, start } = this.#workers[part];
      const { alpha, labels } = rows;
      values[0] = kernels.conjugateSlope(start, alpha, labels, 0, alpha.length, eta);
      values[1] = this.#penaltySlope(this.#blocks[part], eta);
    });
    return conjugate / problem.rows - penalty;
  }

  /** Σ_j w_j(v_j) · dv_j along the segment. */
  #penaltySlope({ image, start, map }: BlockColumns, eta: number): number {
    let sum = 0;
    for (let j = 0; j < image.length; j++) {
      const change = image[j] - start[j];
      const at = start[j] + eta * change;
      sum +=
        change * (map ? softThreshold(at + map.shift[j], map.threshold[j]) * map.inverse[j] : at);
    }
    return map ? sum : sum * this.#place.problem.lambda;
  }

  #moveTo(eta: number): void {
    if (eta === 1) return;
    for (const { rows, start } of this.#mine()) interpolate(rows.alpha, start, eta);
    for (const block of this.#home()) {
      interpolate(block.image, block.start, eta);
      mapWeights(block);
    }
    this.#place.team.barrier();
  }

  evaluate(whole: boolean): Gap {
    const { problem, objective } = this.#place;
    const { alpha } = this.#memory;
    const curved = problem.penalty.l2 > 0;
    const primal = whole || !curved ? this.#primal() : Infinity;
    if (this.#imageServes()) return { primal, dual: objective.dualOfImage(alpha, this.#image()) };
    if (!whole && curved) return { primal, dual: -Infinity };
    const dual = objective.dual(alpha);
    if (!curved) this.#recentreNext = this.#proximalGap(primal) <= solved * (primal - dual);
    return { primal, dual };
  }

  #primal(): number {
    const { objective } = this.#place;
    objective.margins(this.weights, this.#memory.margins);
    return objective.primal(this.weights, this.#memory.margins);
  }

  /**
   * How far the current subproblem, P plus the proximal term, is from its own optimum. With
   * ψ(w) = λφ(w) + (μ/2)(w − c)² and w maximising v w − ψ(w), the proximal terms of ψ(w) and ψ*(v)
   * cancel.
   */
  #proximalGap(primal: number): number {
    const { team, kernels, problem } = this.#place;
    const [value, conjugate] = team.reduce(2, (part, values) => {
      const { rows } = this.#workers[part];
      const { image, weights, map } = this.#blocks[part];
      values[1] = kernels.conjugateSum(rows.alpha, rows.labels, 0, rows.alpha.length, 1);
      if (!map) return;
      for (let j = 0; j < weights.length; j++) {
        values[0] += image[j] * weights[j] - map.threshold[j] * Math.abs(weights[j]);
      }
    });
    return primal + value + conjugate / problem.rows;
  }

  /** v, which without a map is λ w. */
  #image(): Float64Array {
    if (this.#mapped) return this.#memory.image;
    const { objective, problem, team } = this.#place;
    const { scratchImage } = objective;
    for (let block = team.first; block < team.end; block++) {
      const v = objective.columnsOf(scratchImage, block);
      const { weights } = this.#blocks[block];
      for (let j = 0; j < v.length; j++) v[j] = problem.lambda * weights[j];
    }
    return scratchImage;
  }

  certify(bound: number): number {
    return this.#imageServes() ? this.#place.objective.dual(this.#memory.alpha) : bound;
  }

  /** Whether the image at hand is the one of a feasible α, so that D costs no pass. */
  #imageServes(): boolean {
    const { penalty, interceptPlace } = this.#place.problem;
    return penalty.l2 > 0 && interceptPlace < 0;
  }
}

function mapWeights({ image, weights, map }: BlockColumns): void {
  if (!map) return;
  for (let j = 0; j < image.length; j++) {
    weights[j] = softThreshold(image[j] + map.shift[j], map.threshold[j]) * map.inverse[j];
  }
}
