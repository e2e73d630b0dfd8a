import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Ring } from '../../engine/ring.ts';
import type { Team } from '../../engine/team.ts';
import { OPERATIONS, SECURE, UNIT } from '../../math/rounding.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { kindOfLoss } from '../kernels/certificate.ts';
import type { Box } from '../kernels/kernels.ts';
import { balance } from './balance.ts';
import { ExactImage } from './exact-image.ts';
import type { Objective, Point } from './objective.ts';

/** What underflow may lose in a sum. */
const underflow = 1e-305;

/** A lower bound on the optimum, and by how much rounding may have spoilt what it was computed from. */
export interface ProvedBound {
  readonly dual: number;
  readonly allowance: number;
  /** What the dual point that proves it has to be multiplied by, if there is one. */
  readonly scale?: number;
}

/** One cache line. */
const foundLength = 8;

export type CertificateMemory = ReturnType<typeof allocateCertificate>;

export function allocateCertificate(arena: Arena, partition: Partition) {
  return {
    /** The dual point of the best bound so far; once it is proved, as it was for the proof. */
    alpha: arena.float64(partition.rowOrder.length),
    marginSizes: arena.float64(partition.rowOrder.length),
    imageSizes: arena.float64(partition.bufferLength),
    imageRest: arena.float64(partition.bufferLength),
    rowCounts: arena.int32(partition.rowOrder.length),
    columnCounts: arena.int32(partition.columnOrder.length),
    /** What a kernel finds of each worker's rows or block. */
    found: arena.float64(foundLength * partition.size),
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
  readonly #kind: number;
  /** Of the last proof, whose image is still there. */
  #last: ProvedBound = { dual: -Infinity, allowance: 0 };

  constructor(objective: Objective, team: Team, ring: Ring, loss: Loss, memory: CertificateMemory) {
    this.#objective = objective;
    this.#team = team;
    this.#loss = loss;
    this.#memory = memory;
    this.#kind = kindOfLoss(loss);
    const { scratchImage } = objective;
    const { rowCounts, columnCounts, rowStarts, columnStarts } = objective.problem.grid.partition;
    const { first, end } = team;
    const ofRows = rowCounts.subarray(rowStarts[first], rowStarts[end]);
    memory.rowCounts.set(ofRows, rowStarts[first]);
    const ofColumns = columnCounts.subarray(columnStarts[first], columnStarts[end]);
    memory.columnCounts.set(ofColumns, columnStarts[first]);
    this.#exactImage = new ExactImage(objective, team, ring, scratchImage, memory.imageRest);
  }

  /** Keeps a dual point, this thread's part of it. */
  keep(alpha: Float64Array): void {
    this.#objective.ownRows(this.#memory.alpha).set(this.#objective.ownRows(alpha));
  }

  /** Computes the margins of a point; returns how much P may exceed the P that is computed from them. */
  primalAllowance(point: Point): number {
    this.#objective.margins(point.weights, point.margins, this.#memory.marginSizes);
    return this.allowanceOf(point);
  }

  /** The same, where the sizes of the terms of all margins are in memory. */
  allowanceOf({ weights, margins }: Point): number {
    const { problem, kernels } = this.#objective;
    const { marginSizes, rowCounts } = this.#memory;
    const { rowStarts, blockLengths, size } = problem.grid.partition;
    const [losses, penalty, terms] = this.#team.reduce(3, (worker, values) => {
      const rows = (array: Float64Array) => this.#objective.rowsOf(array, worker);
      const arrays = [margins, problem.labels, problem.rowWeights, marginSizes];
      const [u, y, c, sizes] = arrays.map(rows);
      const counts = rowCounts.subarray(rowStarts[worker]);
      const found = this.#foundOf(worker);
      // Of the sum of losses, as long as a worker has rows.
      const adding = (u.length + size + OPERATIONS) * UNIT;
      kernels.lossErrors(u, y, c, sizes, counts, size + 4, adding, this.#kind, found);
      const columns = (array: Float64Array) => this.#objective.columnsOf(array, worker);
      const [w, l1, l2] = [weights, problem.l1, problem.l2].map(columns);
      const length = blockLengths[worker] + size + OPERATIONS;
      const penalties = kernels.penaltySum(w, l1, l2);
      values[0] = found[0];
      values[1] = length * UNIT * penalties;
      values[2] = found[1] + penalties;
    });
    const { totalWeight } = problem;
    return withUnderflow(SECURE * (losses / totalWeight + penalty), terms, totalWeight);
  }

  #foundOf(worker: number): Float64Array {
    return this.#memory.found.subarray(foundLength * worker);
  }

  /**
   * The best lower bound that the kept dual point proves, or α = 0 if that is better. `exactly`: with an
   * image that has no error but a rounding, where a pass with many more operations pays.
   */
  prove(exactly = false): ProvedBound {
    const objective = this.#objective;
    const isBalanced = this.makeFeasible();
    const { alpha, imageSizes } = this.#memory;
    objective.image(alpha, objective.scratchImage, imageSizes);
    if (exactly) this.#exactImage.compute(alpha);
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
    const { size } = this.#objective.problem.grid.partition;
    const { columnCounts } = this.#memory;
    this.#team.reduce(1, (block) => {
      const { image, errors, from } = this.#columnsOf(block);
      const counts = columnCounts.subarray(from);
      this.#objective.kernels.imageErrors(image, errors, counts, size + 6, exactly);
    });
    const scale = isBalanced ? this.#feasibleScale() : 0;
    this.#last = this.#boundAt(alpha, scale);
    const { dual } = this.#last;
    if (dual > 0) return this.#last;
    const zero = this.#boundAt(alpha, 0);
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
    this.#team.reduce(1, (block) => {
      const columns = this.#columnsOf(block);
      this.#objective.kernels.columnRooms(columns, columns.box, scale);
    });
    return this.#memory.imageSizes;
  }

  /** D(scale · α) less what rounding may have added to it. */
  #boundAt(alpha: Float64Array, scale: number): ProvedBound {
    const { problem } = this.#objective;
    const { size } = problem.grid.partition;
    const [penalty, most, conjugate, terms, error] = this.#team.reduce(5, (part, values) => {
      if (scale > 0) values.set(this.#boundPenalty(scale, part));
      values.set(this.#boundConjugates(alpha, scale, part), 2);
    });
    const rounding = SECURE * (error + (size + OPERATIONS) * UNIT * terms);
    const dual = -most - (conjugate + withUnderflow(rounding, terms)) / problem.totalWeight;
    const plain = -penalty - conjugate / problem.totalWeight;
    return Number.isNaN(dual)
      ? { dual: -Infinity, allowance: Infinity }
      : { dual, allowance: plain - dual, scale };
  }

  /** Σ (λ f_j φ)*(v_j), and the most that it can be. */
  #boundPenalty(scale: number, block: number): Float64Array {
    const { kernels, problem } = this.#objective;
    const columns = this.#columnsOf(block);
    const found = this.#foundOf(block);
    const length = problem.grid.partition.blockLengths[block];
    const rounding = 1 + SECURE * UNIT * (length + OPERATIONS);
    kernels.penaltyBounds(columns, columns.box, scale, rounding, found);
    return found.subarray(0, 2);
  }

  /** Σ c ℓ*(−scale α/c), Σ |c ℓ*|, and bounds on their errors. */
  #boundConjugates(alpha: Float64Array, scale: number, worker: number): Float64Array {
    const { kernels, problem } = this.#objective;
    const rows = (array: Float64Array) => this.#objective.rowsOf(array, worker);
    const [a, y, c] = [alpha, problem.labels, problem.rowWeights].map(rows);
    const found = this.#foundOf(worker);
    kernels.conjugateErrors(a, y, c, scale, this.#kind, found);
    return found.subarray(0, 3);
  }

  /** The factor by which α has to be scaled down where the penalty has no quadratic part. */
  #feasibleScale(): number {
    const { kernels, problem } = this.#objective;
    if (problem.penalty.l2 > 0) return 1;
    const [excess] = this.#team.reduce(
      1,
      (block, values) => {
        const columns = this.#columnsOf(block);
        values[0] = kernels.greatestRatio(columns, columns.box);
      },
      'max',
    );
    return excess <= 1 ? 1 : (1 - OPERATIONS * UNIT) / excess;
  }

  /** The columns of a block but the intercept's, whose image is exactly 0; they begin at position `from`. */
  #columnsOf(block: number) {
    const { problem, scratchImage } = this.#objective;
    const { columnStarts } = problem.grid.partition;
    const columns = (array: Float64Array) => this.#objective.columnsOf(array, block);
    const arrays = [scratchImage, this.#memory.imageSizes, problem.l1, problem.l2];
    const [image, errors, l1, l2] = arrays.map(columns);
    const from = columnStarts[block];
    const { interceptPosition } = problem;
    const skip = interceptPosition < from ? -1 : interceptPosition - from;
    const box: Box | undefined = problem.box && {
      low: columns(problem.box.low),
      high: columns(problem.box.high),
    };
    return { image, errors, l1, l2, skip, box, from };
  }
}

/** A sum of nothing but zeros has lost nothing; `terms`: their sizes; `divisor`: of a part of them. */
function withUnderflow(error: number, terms: number, divisor = 1): number {
  return error === 0 && terms === 0 ? 0 : error + underflow / Math.min(1, divisor);
}
