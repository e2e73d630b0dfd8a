import type { Arena } from '../../engine/arena.ts';
import { blockOf } from '../../engine/block-layout.ts';
import { type Cells, openCells } from '../../engine/cells.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Ring } from '../../engine/ring.ts';
import type { Team } from '../../engine/team.ts';
import { rootOfFalling } from '../../math/line-search.ts';
import { clamp } from '../../math/scalars.ts';
import { reserve } from '../block-state.ts';
import { type Box, type Cell, type Kernels, pendingPart } from '../kernels/kernels.ts';
import { inChunks, shortChunk } from '../orders.ts';
import { ColumnFields } from './column-fields.ts';
import type { Problem } from './problem.ts';

/** The value of a primal point and a lower bound on the optimum. */
export interface Gap {
  readonly primal: number;
  readonly dual: number;
}

/** A primal point: weights by column and their margins by row. */
export interface Point {
  readonly weights: Float64Array;
  readonly margins: Float64Array;
}

type Meet = (worker: number, block: number) => void;

/** (P − D) / |P|: how far above the optimum P can be, relative to P; 0 where both are the same. */
export function relativeGap({ primal, dual }: Gap): number {
  const gap = Math.max(0, primal - dual);
  return gap === 0 ? 0 : gap / Math.abs(primal);
}

export type ObjectiveMemory = ReturnType<typeof allocateObjective>;

export function allocateObjective(arena: Arena, partition: Partition) {
  let longest = 0;
  for (let k = 0; k < partition.size; k++) {
    const rows = partition.rowStarts[k + 1] - partition.rowStarts[k];
    longest = Math.max(longest, rows, partition.blockLengths[k]);
  }
  const identity = arena.int32(longest);
  for (let k = 0; k < identity.length; k++) identity[k] = k;
  return {
    /** 0, 1, 2, …: every unit of a cell in order. */
    identity,
    ...reserve(arena, 'float64', partition.rowOrder.length, ['alpha', 'margins']),
    image: arena.float64(partition.bufferLength),
  };
}

/**
 * The only code that knows P(w), D(α) and their difference:
 *
 *   P(w) = Σ_j λ f_j φ(w_j) + (1/W) Σ_i c_i ℓ(⟨w, x_i⟩, y_i),   W = Σ_i c_i
 *   D(α) = −Σ_j (λ f_j φ)*(v_j) − (1/W) Σ_i c_i ℓ*(−α_i/c_i),   v = (1/W) Σ_i α_i x_i
 *
 * P(w) ≥ D(α) for every w and every feasible α. Where the penalty has no quadratic part, feasible
 * means |v_j| ≤ λ l1 f_j, and α is scaled down to it; where weights are bounded, only as far as v_j
 * points to a side without an end. An unpenalised intercept needs Σα = 0, and α is shifted to it.
 *
 * Every thread of the team calls each method; all get the same bits back.
 */
export class Objective {
  readonly problem: Problem;
  readonly kernels: Kernels;
  /** The nonzeros of the problem's grid. */
  readonly cells: Cells;
  readonly #team: Team;
  readonly #ring: Ring;
  readonly memory: ObjectiveMemory;
  readonly fields: ColumnFields;

  constructor(problem: Problem, kernels: Kernels, team: Team, ring: Ring, memory: ObjectiveMemory) {
    this.problem = problem;
    this.kernels = kernels;
    this.cells = openCells(problem.grid, team.index);
    this.#team = team;
    this.#ring = ring;
    this.fields = new ColumnFields(ring, problem.grid.partition);
    this.memory = memory;
  }

  /** Memory for one image, free between calls of dual(). */
  get scratchImage(): Float64Array {
    return this.memory.image;
  }

  /** Rows of worker q, as a view. */
  rowsOf(array: Float64Array, worker: number): Float64Array {
    const { rowStarts } = this.problem.grid.partition;
    return array.subarray(rowStarts[worker], rowStarts[worker + 1]);
  }

  /** Columns of block r, as a view; of a block that is not at home here, in an array that travels. */
  columnsOf(array: Float64Array, block: number): Float64Array {
    return blockOf(this.problem.grid.partition, array, block);
  }

  /** The rows of all workers that this thread runs, as one view. */
  ownRows(array: Float64Array): Float64Array {
    const { rowStarts } = this.problem.grid.partition;
    return array.subarray(rowStarts[this.#team.first], rowStarts[this.#team.end]);
  }

  /** The columns of all blocks that this thread is home to, as one view. */
  ownColumns(array: Float64Array): Float64Array {
    const { columnStarts } = this.problem.grid.partition;
    return array.subarray(columnStarts[this.#team.first], columnStarts[this.#team.end]);
  }

  /** Copies this thread's part of the columns. */
  copyColumns(from: Float64Array, to: Float64Array): void {
    this.ownColumns(to).set(this.ownColumns(from));
  }

  /** Copies this thread's part of a point. */
  copyPoint(from: Point, to: Point): void {
    this.copyColumns(from.weights, to.weights);
    this.ownRows(to.margins).set(this.ownRows(from.margins));
  }

  /** target ← from + share · (to − from), in this thread's part; target may be one of the two. */
  interpolate(target: Point, from: Point, to: Point, share: number): void {
    const columns = [target, from, to].map(({ weights }) => this.ownColumns(weights));
    const rows = [target, from, to].map(({ margins }) => this.ownRows(margins));
    this.kernels.interpolate(columns[0], columns[1], columns[2], share);
    this.kernels.interpolate(rows[0], rows[1], rows[2], share);
  }

  /**
   * u_i = ⟨w, x_i⟩ by one rotation of the ring. `sizes`: Σ_j |w_j x_ij|, of which rounding errors of the
   * margins are a small multiple. `meet`: called before a worker's visit to a block.
   */
  margins(weights: Float64Array, margins: Float64Array, sizes?: Float64Array, meet?: Meet): void {
    this.#multiply(weights, 'row', margins, sizes, meet);
  }

  /** v = (1/W) Σ α_i x_i by one rotation of the ring. `sizes`: (1/W) Σ_i |α_i x_ij|. */
  image(alpha: Float64Array, image: Float64Array | undefined, sizes?: Float64Array): void {
    this.#multiply(alpha, 'column', image, sizes);
    for (const array of [image, sizes]) {
      const own = array && this.ownColumns(array);
      if (own) this.kernels.scaleInto(own, own, 1 / this.problem.totalWeight);
    }
    this.#team.barrier();
  }

  /**
   * X·source onto rows or Xᵀ·source onto columns, gathered along units or scattered from them;
   * `sizes`: of the absolute values of the terms.
   */
  #multiply(
    source: Float64Array,
    onto: 'row' | 'column',
    target: Float64Array | undefined,
    sizes: Float64Array | undefined,
    meet?: Meet,
  ): void {
    const { kernels } = this;
    const { identity } = this.memory;
    const toRows = onto === 'row';
    const gather = toRows === (this.problem.grid.orientation === 'rows');
    const targets = [target, sizes].filter((array) => array !== undefined);
    for (const array of targets) (toRows ? this.ownRows(array) : this.ownColumns(array)).fill(0);
    const fields = toRows ? this.fields.read(source) : this.fields.of(...targets);
    this.#ring.rotate(fields, (worker, block) => {
      meet?.(worker, block);
      const rows = (array: Float64Array) => this.rowsOf(array, worker);
      const columns = (array: Float64Array) => this.columnsOf(array, block);
      const from = toRows ? columns(source) : rows(source);
      const [to, of] = [target, sizes].map((all) => all && (toRows ? rows(all) : columns(all)));
      const multiply = (cell: Cell, first: number, end: number) => {
        if (gather) {
          if (to && of) kernels.gatherBoth(cell, identity, first, end, from, to, of);
          else if (to) kernels.gather(cell, identity, first, end, false, from, to);
          else if (of) kernels.gatherSizes(cell, identity, first, end, from, of);
          return;
        }
        const part = pendingPart({ units: identity, deltas: from }, first, end);
        if (to && of) kernels.scatterBoth(cell, part, end - first, to, of);
        else if (to) kernels.scatter(cell, part, end - first, to);
        else if (of) kernels.scatterSizes(cell, part, end - first, of);
      };
      this.cells.at(worker, block).through((cell, begin, stop) => {
        inChunks(begin, stop, (first, end) => multiply(cell, first, end), shortChunk);
      });
    });
    this.#team.barrier();
  }

  /** (1/W) Σ c_i ℓ(u_i, y_i) */
  meanLoss(margins: Float64Array): number {
    return this.#mean((worker) => this.#lossSum(margins, worker));
  }

  /** (1/W) Σ c_i ℓ*(−α_i/c_i) */
  meanConjugate(alpha: Float64Array): number {
    return this.#mean((worker) => this.#conjugateSum(alpha, worker, 1));
  }

  #mean(sumOf: (worker: number) => number): number {
    const [sum] = this.#team.reduce(1, (worker, values) => {
      values[0] = sumOf(worker);
    });
    return sum / this.problem.totalWeight;
  }

  #lossSum(margins: Float64Array, worker: number): number {
    const { labels, rowWeights } = this.problem;
    const u = this.rowsOf(margins, worker);
    return this.kernels.lossSum(u, this.rowsOf(labels, worker), this.rowsOf(rowWeights, worker));
  }

  #conjugateSum(alpha: Float64Array, worker: number, scale: number): number {
    const { labels, rowWeights } = this.problem;
    const [y, c] = [this.rowsOf(labels, worker), this.rowsOf(rowWeights, worker)];
    return this.kernels.conjugateSum(this.rowsOf(alpha, worker), y, c, scale);
  }

  /** P(0) = (1/W) Σ c_i ℓ(0, y_i) */
  primalAtZero(): number {
    this.ownRows(this.memory.margins).fill(0);
    return this.meanLoss(this.memory.margins);
  }

  /** P(w), given the margins of w. */
  primal(weights: Float64Array, margins: Float64Array): number {
    const { totalWeight, l1, l2 } = this.problem;
    const [penalty, loss] = this.#team.reduce(2, (part, values) => {
      const of = (array: Float64Array) => this.columnsOf(array, part);
      values[0] = this.kernels.penaltySum(of(weights), of(l1), of(l2));
      values[1] = this.#lossSum(margins, part);
    });
    return penalty + loss / totalWeight;
  }

  /** d/ds of P at from + s (to − from). */
  primalSlope(from: Point, to: Point, share: number): number {
    return this.slopeParts(from, to, [share]).reduce((loss, penalty) => loss + penalty);
  }

  /** At each share what the losses and, where `whole`, the penalty add to that slope. */
  slopeParts(from: Point, to: Point, shares: readonly number[], whole = true): Float64Array {
    const { kernels, problem } = this;
    const sums = this.#team.reduce(2 * shares.length, (part, values) => {
      const rows = (array: Float64Array) => this.rowsOf(array, part);
      const columns = (array: Float64Array) => this.columnsOf(array, part);
      const [u, target, y] = [from.margins, to.margins, problem.labels].map(rows);
      const [w, next, l1, l2] = [from.weights, to.weights, problem.l1, problem.l2].map(columns);
      for (const [k, share] of shares.entries()) {
        values[2 * k] = kernels.lossSlope(u, target, y, rows(problem.rowWeights), share);
        if (whole) values[2 * k + 1] = kernels.penaltySlope(w, next, l1, l2, share);
      }
    });
    return sums.map((sum, k) => (k % 2 === 0 ? sum / problem.totalWeight : sum));
  }

  /** α_i = −c_i ℓ'(u_i), the dual point that margins suggest, in this thread's part. */
  dualPoint(margins: Float64Array, alpha: Float64Array): void {
    const [y, c] = [this.problem.labels, this.problem.rowWeights].map((all) => this.ownRows(all));
    this.kernels.dualPoint(this.ownRows(margins), y, c, this.ownRows(alpha));
  }

  /** target ← α cut to its domain, in this thread's part. */
  clipAlpha(alpha: Float64Array, target: Float64Array): void {
    const [y, c] = [this.problem.labels, this.problem.rowWeights].map((all) => this.ownRows(all));
    this.kernels.shiftAlpha(this.ownRows(alpha), y, c, 0, this.ownRows(target));
  }

  /** P(w) and D(α), each from nothing but its point and the data; leaves the margins of w. */
  gap(weights: Float64Array, margins: Float64Array, alpha: Float64Array): Gap {
    this.margins(weights, margins);
    return { primal: this.primal(weights, margins), dual: this.dual(alpha) };
  }

  /** D at a feasible point made from α; one rotation for its image. */
  dual(alpha: Float64Array): number {
    const feasible = this.#balance(alpha);
    this.image(feasible, this.memory.image);
    return this.dualOfImage(feasible, this.memory.image);
  }

  /** D at α cut to its domain, wherever it comes from. */
  dualWithin(alpha: Float64Array): number {
    // The shift that an intercept needs cuts it anyway.
    return this.dual(this.problem.intercept ? alpha : this.withinDomain(alpha));
  }

  /** A copy of α cut to its domain and, for an intercept, shifted to a sum of about 0. */
  withinDomain(alpha: Float64Array): Float64Array {
    if (this.problem.intercept) return this.#balance(alpha);
    this.clipAlpha(alpha, this.memory.alpha);
    return this.memory.alpha;
  }

  /** D(α), given the image v of α; α is scaled down where |v_j| exceeds what L1 alone allows. */
  dualOfImage(alpha: Float64Array, image: Float64Array): number {
    const { totalWeight, penalty } = this.problem;
    const scale = penalty.l2 > 0 ? 1 : 1 / Math.max(1, this.#largestExcess(image));
    const sums = this.#team.reduce(2, (part, values) => {
      values[0] = this.#conjugatePenalty(image, part, scale);
      values[1] = this.#conjugateSum(alpha, part, scale);
    });
    return -sums[0] - sums[1] / totalWeight;
  }

  /**
   * Σ_j (λ f_j φ)*(v_j) = Σ_j soft(v_j, λ l1 f_j)² / (2 λ l2 f_j) over one block, and 0 for a pure
   * L1 penalty; what it is in a box, the kernel says.
   */
  #conjugatePenalty(image: Float64Array, block: number, scale: number): number {
    // The intercept's column has no penalty and, Σα being 0, no image.
    const { l1, l2, box, penalty } = this.problem;
    if (!box && !(penalty.l2 > 0)) return 0;
    const [v, one, two] = [image, l1, l2].map((array) => this.columnsOf(array, block));
    if (!box) return this.kernels.penaltyConjugateSum(v, one, two);
    return this.kernels.boundedConjugateSum(v, one, two, this.#boxOf(box, block), scale);
  }

  /** max_j |v_j| / (λ l1 f_j): the factor by which α breaks the constraint of a pure L1 penalty. */
  #largestExcess(image: Float64Array): number {
    const { box } = this.problem;
    const [largest] = this.#team.reduce(
      1,
      (block, values) => {
        const v = this.columnsOf(image, block);
        const one = this.columnsOf(this.problem.l1, block);
        const ends = box && this.#boxOf(box, block);
        let excess = 0;
        for (let j = 0; j < v.length; j++) {
          // An end of the box keeps the conjugate finite.
          if (ends && (v[j] > 0 ? ends.high[j] < Infinity : ends.low[j] > -Infinity)) continue;
          if (one[j] > 0) excess = Math.max(excess, Math.abs(v[j]) / one[j]);
        }
        values[0] = excess;
      },
      'max',
    );
    return largest;
  }

  /** The box of a block's columns, as views. */
  #boxOf({ low, high }: Box, block: number): Box {
    return { low: this.columnsOf(low, block), high: this.columnsOf(high, block) };
  }

  /**
   * Takes back what rounding has put outside the box, of weights that are means of such inside; each
   * thread those of its own blocks, to which no other may be writing.
   */
  keepInBox(weights: Float64Array): void {
    const { box } = this.problem;
    if (!box) return;
    const [w, low, high] = [weights, box.low, box.high].map((array) => this.ownColumns(array));
    for (let j = 0; j < w.length; j++) w[j] = clamp(w[j], low[j], high[j]);
  }

  /** α/c shifted by one number, and clipped to the domain so that Σα = 0: for an intercept. */
  #balance(alpha: Float64Array): Float64Array {
    if (!this.problem.intercept) return alpha;
    const { totalWeight, labels, rowWeights } = this.problem;
    const balanced = this.memory.alpha;
    const sumAt = (shift: number) =>
      this.#team.reduce(1, (worker, values) => {
        const a = this.rowsOf(alpha, worker);
        const target = this.rowsOf(balanced, worker);
        const [y, c] = [this.rowsOf(labels, worker), this.rowsOf(rowWeights, worker)];
        values[0] = this.kernels.shiftAlpha(a, y, c, shift, target);
      })[0];
    const start = sumAt(0);
    const goal = 1e-13 * this.#absoluteSum(balanced);
    if (Math.abs(start) <= goal) return balanced;
    // The sum rises with the shift; look for its root on the side where it must be.
    const side = start > 0 ? -1 : 1;
    let inner = 0;
    let atInner = start;
    let outer = (side * Math.abs(start)) / totalWeight;
    let atOuter = sumAt(outer);
    for (let k = 0; k < 60 && Math.abs(atOuter) > goal && atOuter > 0 === start > 0; k++) {
      inner = outer;
      atInner = atOuter;
      outer *= 2;
      atOuter = sumAt(outer);
    }
    if (Math.abs(atOuter) <= goal) return balanced;
    const flipped = (t: number) => -side * sumAt(inner + t * (outer - inner));
    rootOfFalling(flipped, [0, -side * atInner], [1, -side * atOuter], goal, 60);
    return balanced;
  }

  #absoluteSum(alpha: Float64Array): number {
    return this.#team.reduce(1, (worker, values) => {
      const a = this.rowsOf(alpha, worker);
      for (let i = 0; i < a.length; i++) values[0] += Math.abs(a[i]);
    })[0];
  }
}
