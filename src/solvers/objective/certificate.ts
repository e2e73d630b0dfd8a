import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Ring } from '../../engine/ring.ts';
import type { Team } from '../../engine/team.ts';
import { exp } from '../../math/elementary.ts';
import { clamp, softThreshold, xlogx } from '../../math/scalars.ts';
import { CompensatedSum } from '../../math/vectors.ts';
import { isOfResidual, type Loss } from '../../problem/losses/loss.ts';
import { balance } from './balance.ts';
import { ExactImage } from './exact-image.ts';
import type { Objective, Point } from './objective.ts';

/** The largest relative error of one operation in double precision. */
export const unit = 2 ** -53;
/** Operations that one value of a loss, a conjugate or a penalty takes, at most. */
export const operations = 16;
/** The bounds are computed with rounding errors, too; this covers them, and what is of second order. */
export const secure = 1.01;
/** What underflow may lose in a sum. */
const underflow = 1e-305;

/** A lower bound on the optimum, and by how much rounding may have spoilt what it was computed from. */
export interface ProvedBound {
  readonly dual: number;
  readonly allowance: number;
  /** What the dual point that proves it has to be multiplied by, if there is one. */
  readonly scale?: number;
}

export type CertificateMemory = ReturnType<typeof allocateCertificate>;

export function allocateCertificate(arena: Arena, partition: Partition) {
  return {
    /** The dual point of the best bound so far; once it is proved, as it was for the proof. */
    alpha: arena.float64(partition.rowOrder.length),
    marginSizes: arena.float64(partition.rowOrder.length),
    imageSizes: arena.float64(partition.bufferLength),
    imageRest: arena.float64(partition.bufferLength),
  };
}

/**
 * Bounds on P and D that hold in spite of rounding. A sum of n products has an error of at most
 * n u Σ|terms|, u = 2⁻⁵³ (Higham 2002, section 3.1). So every margin is known to within δ_i and every v_j to
 * within e_j; ℓ and the conjugates of the penalty are convex, and largest at an end of such an
 * interval. An intercept needs Σα = 0, which holds exactly, not to rounding.
 *
 * Every thread of the team calls each method; all get the same bits back.
 */
export class Certifier {
  readonly #objective: Objective;
  readonly #team: Team;
  readonly #loss: Loss;
  readonly #memory: CertificateMemory;
  readonly #exactImage: ExactImage;
  /** The argument of the loss is u − y, and its value has no terms that cancel. */
  readonly #isOfResidual: boolean;
  /** Whether the image of the proof was summed without errors. */
  #exactly = false;
  /** Of the last proof, whose image is still there. */
  #last: ProvedBound = { dual: -Infinity, allowance: 0 };

  constructor(objective: Objective, team: Team, ring: Ring, loss: Loss, memory: CertificateMemory) {
    this.#objective = objective;
    this.#team = team;
    this.#loss = loss;
    this.#memory = memory;
    this.#isOfResidual = isOfResidual(loss);
    const { scratchImage } = objective;
    this.#exactImage = new ExactImage(objective, team, ring, scratchImage, memory.imageRest);
  }

  /** Keeps a dual point, this thread's part of it. */
  keep(alpha: Float64Array): void {
    this.#objective.ownRows(this.#memory.alpha).set(this.#objective.ownRows(alpha));
  }

  /** How much P may exceed the P that was computed at a point from its weights and the data. */
  primalAllowance(point: Point): number {
    this.#objective.marginSizes(point.weights, this.#memory.marginSizes);
    return this.allowanceOf(point);
  }

  /** The same, where the sizes of the terms of all margins are in memory. */
  allowanceOf({ weights, margins }: Point): number {
    const { problem } = this.#objective;
    const sizes = this.#memory.marginSizes;
    const { rowCounts, rowStarts, blockLengths, size } = problem.grid.partition;
    const [losses, penalty, terms] = this.#team.reduce(3, (worker, values) => {
      const rows = (array: Float64Array) => this.#objective.rowsOf(array, worker);
      const arrays = [margins, problem.labels, problem.rowWeights, sizes];
      const [u, y, c, sizesOfTerms] = arrays.map(rows);
      // Of the sum of losses, as long as a worker has rows.
      const adding = (u.length + size + operations) * unit;
      const begin = rowStarts[worker];
      let [errors, sum] = [0, 0];
      for (let i = 0; i < u.length; i++) {
        if (c[i] === 0) continue;
        const count = rowCounts[begin + i] + size + 4;
        errors += c[i] * this.#lossError(u[i], y[i], count * sizesOfTerms[i], adding);
        sum += c[i] * Math.abs(this.#loss.value(u[i], y[i], this.#loss.parameter));
      }
      const columns = (array: Float64Array) => this.#objective.columnsOf(array, worker);
      const [w, l1, l2] = [weights, problem.l1, problem.l2].map(columns);
      const length = blockLengths[worker] + size + operations;
      const penalties = this.#objective.kernels.penaltySum(w, l1, l2);
      values[0] = errors;
      values[1] = length * unit * penalties;
      values[2] = sum + penalties;
    });
    const { totalWeight } = problem;
    return withUnderflow(secure * (losses / totalWeight + penalty), terms, totalWeight);
  }

  /** By how much ℓ may exceed its computed value; `margin`: the margin's terms, times their number. */
  #lossError(u: number, y: number, margin: number, adding: number): number {
    const loss = this.#loss;
    const { parameter } = loss;
    const argument = this.#isOfResidual ? Math.abs(u - y) : this.#argumentOf(u, y);
    const delta = 2 * unit * (secure * margin + 4 * argument);
    const here = loss.value(u, y, parameter);
    const most = Math.max(loss.value(u + delta, y, parameter), loss.value(u - delta, y, parameter));
    // A custom loss may be negative.
    const size = Math.max(Math.abs(most), Math.abs(here));
    const terms = this.#isOfResidual ? size : this.#addTerms(size, u, y);
    return Math.max(0, most - here) + operations * unit * terms + adding * size;
  }

  /** The size of what y u, the argument of a loss, is computed from: it is rounded, too. */
  #argumentOf(u: number, y: number): number {
    const { parameter, module } = this.#loss;
    return 1 + Math.abs(u) + Math.abs(parameter) + (module ? Math.abs(y) : 0);
  }

  /** Adds the sizes of further terms that the value of a loss is computed from. */
  #addTerms(most: number, u: number, y: number): number {
    const { parameter, module, link } = this.#loss;
    let terms = most;
    if (link === 'log') terms += exp(u) + y * (1 + Math.abs(u)) + Math.abs(xlogx(y));
    if (module) {
      const slope = Math.abs(this.#loss.derivative(u, y, parameter));
      terms += (Math.abs(u) + Math.abs(y)) * slope;
    }
    return terms;
  }

  /**
   * The best lower bound that the kept dual point proves, or α = 0 if that is better. `exactly`: with an
   * image that has no error but a rounding, where a pass with many more operations pays.
   */
  prove(exactly = false): ProvedBound {
    const objective = this.#objective;
    const isBalanced = this.makeFeasible();
    const { alpha } = this.#memory;
    if (exactly) this.#exactImage.compute(alpha);
    else objective.image(alpha, objective.scratchImage);
    objective.imageSizes(alpha, this.#memory.imageSizes);
    return this.boundOf(alpha, isBalanced, exactly);
  }

  /**
   * Cuts the kept α to its domain and balances it exactly; returns whether that was possible. `isWithin`:
   * it is in its domain, and Σα is a rounding error.
   */
  makeFeasible(isWithin = false): boolean {
    const kept = this.#memory.alpha;
    const alpha = isWithin ? kept : this.#objective.withinDomain(kept);
    const isBalanced =
      !this.#objective.problem.intercept || balance(alpha, this.#objective, this.#team, this.#loss);
    this.keep(alpha);
    return isBalanced;
  }

  /**
   * The bound of an α that has been made feasible; its image is the objective's, the sizes of the terms
   * of that are in memory.
   */
  boundOf(alpha: Float64Array, isBalanced: boolean, exactly = false): ProvedBound {
    const image = this.#objective.scratchImage;
    this.#exactly = exactly;
    const scale = isBalanced ? this.#feasibleScale(image) : 0;
    this.#last = this.#boundAt(alpha, image, scale);
    const { dual } = this.#last;
    if (dual > 0) return this.#last;
    const zero = this.#boundAt(alpha, image, 0);
    if (zero.dual > dual || !(dual > -Infinity)) this.#last = zero;
    return this.#last;
  }

  /** The last proof, whose image and errors are there until something overwrites them. */
  get last(): ProvedBound {
    return this.#last;
  }

  /**
   * By column λ l1 f_j less the largest |v_j| of the last proof on a side where the box has room, made
   * smaller by rounding errors; in place of the sizes of the image. Once a proof.
   */
  measureRooms(scale: number): Float64Array {
    const { imageSizes } = this.#memory;
    const image = this.#objective.scratchImage;
    this.#team.reduce(1, (block) => {
      const rooms = this.#objective.columnsOf(imageSizes, block);
      this.#forColumns(block, image, (v, error, { l1, low, high }, j) => {
        const up = high > 0 ? v : -Infinity;
        const down = low < 0 ? -v : -Infinity;
        const most = scale * (Math.max(up, down) + error);
        rooms[j] = atLeast(l1, operations * unit) - (most + operations * unit * Math.abs(most));
      });
    });
    return imageSizes;
  }

  /** D(scale · α) less what rounding may have added to it. */
  #boundAt(alpha: Float64Array, image: Float64Array, scale: number): ProvedBound {
    const { problem } = this.#objective;
    const { size } = problem.grid.partition;
    const [penalty, most, conjugate, terms, error] = this.#team.reduce(5, (part, values) => {
      if (scale > 0) this.#addPenalty(image, scale, part, values);
      this.#addConjugates(alpha, scale, part, values);
    });
    const rounding = secure * (error + (size + operations) * unit * terms);
    const dual = -most - (conjugate + withUnderflow(rounding, terms)) / problem.totalWeight;
    const plain = -penalty - conjugate / problem.totalWeight;
    return Number.isNaN(dual)
      ? { dual: -Infinity, allowance: Infinity }
      : { dual, allowance: plain - dual, scale };
  }

  /** values[0] += Σ (λ f_j φ)*(v_j), values[1] += the most that it can be. */
  #addPenalty(image: Float64Array, scale: number, block: number, values: Float64Array): void {
    const length = this.#objective.problem.grid.partition.blockLengths[block];
    const rounding = 1 + secure * unit * (length + operations);
    this.#forColumns(block, image, (v, error, ends) => {
      values[0] += conjugateIn(scale * v, ends, 0);
      const high = conjugateIn(scale * (v + error), ends, operations * unit);
      const low = conjugateIn(scale * (v - error), ends, operations * unit);
      values[1] += Math.max(high, low) * rounding;
    });
  }

  /** values[2] += Σ c ℓ*(−scale α/c), values[3] += Σ |c ℓ*|, values[4] += bounds on their errors. */
  #addConjugates(alpha: Float64Array, scale: number, worker: number, values: Float64Array): void {
    const { problem } = this.#objective;
    const rows = (array: Float64Array) => this.#objective.rowsOf(array, worker);
    const [a, y, c] = [alpha, problem.labels, problem.rowWeights].map(rows);
    const { parameter } = this.#loss;
    const sum = new CompensatedSum();
    let [sizes, errors] = [0, 0];
    for (let i = 0; i < a.length; i++) {
      if (c[i] === 0) continue;
      const s = -(scale * a[i] * (1 / c[i]));
      const value = this.#loss.conjugate(s, y[i], parameter);
      sum.add(c[i] * value);
      sizes += Math.abs(c[i] * value);
      errors += operations * unit * c[i] * conjugateTerms(this.#loss, s, y[i], value);
    }
    values[2] = sum.total;
    values[3] = sizes;
    values[4] = errors;
  }

  /** The factor by which α has to be scaled down where the penalty has no quadratic part. */
  #feasibleScale(image: Float64Array): number {
    if (this.#objective.problem.penalty.l2 > 0) return 1;
    const [excess] = this.#team.reduce(
      1,
      (block, values) => {
        this.#forColumns(block, image, (v, error, { l1, low, high }) => {
          const most = atLeast(l1, operations * unit);
          if (high === Infinity) values[0] = Math.max(values[0], (v + error) / most);
          if (low === -Infinity) values[0] = Math.max(values[0], (error - v) / most);
        });
      },
      'max',
    );
    return excess <= 1 ? 1 : (1 - operations * unit) / excess;
  }

  /** Visits the columns of a block but the intercept's, whose image is exactly 0. */
  #forColumns(
    block: number,
    image: Float64Array,
    visit: (v: number, error: number, ends: Ends, j: number) => void,
  ): void {
    const { problem } = this.#objective;
    const { columnCounts, columnStarts, size } = problem.grid.partition;
    const columns = (array: Float64Array) => this.#objective.columnsOf(array, block);
    const [v, sizes, l1, l2] = [image, this.#memory.imageSizes, problem.l1, problem.l2].map(
      columns,
    );
    const box = problem.box && { low: columns(problem.box.low), high: columns(problem.box.high) };
    for (let j = 0; j < v.length; j++) {
      const position = columnStarts[block] + j;
      if (position === problem.interceptPosition) continue;
      const error = secure * this.#imageError(columnCounts[position] + size + 6, v[j], sizes[j]);
      const [low, high] = box ? [box.low[j], box.high[j]] : [-Infinity, Infinity];
      visit(v[j], error, { l1: l1[j], l2: l2[j], low, high }, j);
    }
  }

  /** How far off v may be; `size`: of its terms, of which there are `count`. */
  #imageError(count: number, v: number, size: number): number {
    const plain = unit * count;
    return this.#exactly ? 4 * unit * Math.abs(v) + 4 * plain * plain * size : plain * size;
  }
}

/** The sizes of what ℓ*(s), whose value is given, is computed from. */
export function conjugateTerms(loss: Loss, s: number, y: number, value: number): number {
  const { parameter, link } = loss;
  if (s === 0) return Math.abs(value);
  const slope = Math.abs(loss.conjugateDerivative(s, y, parameter));
  const linear = Math.abs(s) * (1 + Math.abs(y) + slope + Math.abs(parameter));
  if (link !== 'log') return Math.abs(value) + linear;
  const beta = Math.max(0, s + y);
  return Math.abs(value) + linear + Math.abs(xlogx(beta)) + beta + Math.abs(xlogx(y)) + y;
}

/** A sum of nothing but zeros has lost nothing; `terms`: their sizes; `divisor`: of a part of them. */
function withUnderflow(error: number, terms: number, divisor = 1): number {
  return error === 0 && terms === 0 ? 0 : error + underflow / Math.min(1, divisor);
}

interface Ends {
  readonly l1: number;
  readonly l2: number;
  readonly low: number;
  readonly high: number;
}

/** A product of positive numbers less its rounding errors, also those of numbers that are not normal. */
function atLeast(x: number, error: number): number {
  return error === 0 ? x : Math.max(0, x * (1 - error) - 2 ** -1072);
}

/** (λ f φ)*(v) with l1 and l2 smaller by a relative error, which makes it larger. */
function conjugateIn(v: number, { l1, l2, low, high }: Ends, error: number): number {
  const excess = softThreshold(v, atLeast(l1, error));
  if (excess === 0) return 0;
  const bend = atLeast(l2, error);
  const w = bend > 0 ? clamp(excess / bend, low, high) : excess > 0 ? high : low;
  if (w === 0) return 0;
  const value = w * (bend > 0 ? excess - 0.5 * bend * w : excess);
  // Where w overflows, the difference above is −∞ or no number; a conjugate is never below 0.
  return value >= 0 ? value : Infinity;
}
