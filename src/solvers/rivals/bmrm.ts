import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { DataError } from '../../errors.ts';
import { OPERATIONS, UNIT } from '../../math/rounding.ts';
import { addScaled, dot } from '../../math/vectors.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { BlockMethod, BlockState } from '../block-state.ts';
import { conjugateTerms } from '../kernels/plain/certificate.ts';
import type { ProvedBound } from '../objective/certificate.ts';
import type { Gap } from '../objective/objective.ts';
import type { SolverCode, SolverContext, WarmStart } from '../solver.ts';
import { BundleProgram } from './bundle-program.ts';

/** Planes: as many as fit this memory, within bounds. A page is taken when it is first written to. */
const planeBytes = 2 ** 28;
const fewestPlanes = 20;
const mostPlanes = 500;
/** A plane that was of no use for this many iterations is dropped. */
const idleIterations = 20;
/** The inner program is solved to this share of the gap. */
const defaultShare = 0.1;
/** Products of planes that one reduction carries. */
const together = 16;

export interface BmrmSettings {
  /** Accuracy of the inner quadratic program, as a share of the current gap (default 0.1). */
  readonly innerTolerance?: number;
}

export type BmrmMemory = ReturnType<typeof allocateBmrm>;

/** The planes there is memory for, given the number of columns. */
export function planeCapacity(columns: number): number {
  const fitting = Math.floor(planeBytes / (8 * Math.max(1, columns)));
  return Math.max(fewestPlanes, Math.min(mostPlanes, fitting));
}

export function allocateBmrm(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  const home = partition.columnOrder.length;
  // As many planes in every process as if one had all the columns: their number is part of the result.
  const capacity = planeCapacity(partition.columnPosition.length);
  return {
    weights: arena.float64(partition.bufferLength),
    margins: arena.float64(rows),
    alpha: arena.float64(rows),
    inverseRoots: arena.float64(home),
    planes: Array.from({ length: capacity }, () => arena.float64(home)),
  };
}

/**
 * Bundle method for regularized risk minimization (Teo, Vishwanathan, Smola, Le 2010).
 *
 *   P(w) = Ω(w) + R(w),   Ω(w) = Σ_j (l2_j/2) w_j²,   R(w) = (1/W) Σ_i c_i ℓ(u_i, y_i) + Σ_j l1_j |w_j|
 *
 * Every iteration takes a cutting plane ⟨a, w⟩ + b ≤ R(w) at the current point, and goes to the
 * minimiser of Ω(w) + max_k (⟨a_k, w⟩ + b_k). By the dual of that problem, over β in the simplex,
 * w = −Σ_k β_k a_k / l2, and its value bounds the optimum from below for any β:
 *
 *   D(β) = Σ_k β_k b_k − Σ_j (Σ_k β_k a_kj)² / (2 l2_j) ≤ min P
 *
 * A plane comes from a dual point: with α_i = −c_i ℓ'(u_i) it is a = −(1/W) Σ α_i x_i + l1 s, |s_j| ≤ 1,
 * and b = −(1/W) Σ c_i ℓ*(−α_i/c_i), which by Fenchel's inequality is below R wherever α and s come from.
 *
 * Planes are stored as a_kj / √l2_j, so that their products are plain ones. Every thread solves the
 * inner program for itself, from the same bits.
 */
export class Bmrm extends BlockMethod {
  protected override readonly scalars = {
    primal: Infinity,
    bound: -Infinity,
    /** The best bound less its rounding errors. */
    proved: -Infinity,
  };
  readonly #memory: BmrmMemory;
  readonly #share: number;
  readonly #program: BundleProgram;
  /** Memory of the program's planes by their numbers, then what is free. */
  readonly #planes: Float64Array[];
  /** Iterations since a plane was last in use. */
  readonly #idle: Int32Array;
  /** Of each plane: the largest |α_i|, ‖a‖, and the mean size of what b is a sum of. */
  readonly #sizes: PlaneSizes[];
  readonly #loss: Loss;
  /** ‖error of a plane‖ where no |α_i| exceeds 1. */
  readonly #planeError: number;

  constructor(context: SolverContext, memory: BmrmMemory, settings: BmrmSettings, loss: Loss) {
    super(new BlockState(context), memory);
    this.#loss = loss;
    this.#memory = memory;
    this.#share = settings.innerTolerance ?? defaultShare;
    this.#planes = [...memory.planes];
    this.#program = new BundleProgram(this.#planes.length);
    this.#idle = new Int32Array(this.#planes.length);
    this.#sizes = [];
    const [begin, end] = this.state.ownColumns;
    for (let j = begin; j < end; j++) memory.inverseRoots[j] = 1 / Math.sqrt(context.problem.l2[j]);
    this.#planeError = this.#largestError();
    if (context.start) this.#startFrom(context.start);
  }

  /** The first plane is taken at w; one of α, where it is given, comes before. */
  #startFrom(start: WarmStart): void {
    const { objective } = this.context;
    this.startAt(start);
    if (!start.alpha) return;
    objective.clipAlpha(start.alpha, this.#memory.alpha);
    this.#add(this.#cut());
    this.passes++;
  }

  /** Of an image of α_i = ±1: every sum of n terms is wrong by n u times their sizes, at most. */
  #largestError(): number {
    const { objective, problem, team } = this.context;
    const { columnCounts, columnStarts, size } = problem.grid.partition;
    const sizes = objective.scratchImage;
    objective.ownRows(this.#memory.alpha).fill(1);
    objective.image(this.#memory.alpha, undefined, sizes);
    const [square] = team.reduce(1, (block, values) => {
      const [s, roots] = [sizes, this.#memory.inverseRoots].map((all) =>
        objective.columnsOf(all, block),
      );
      for (let j = 0; j < s.length; j++) {
        const terms = columnCounts[columnStarts[block] + j] + size + OPERATIONS;
        values[0] += (terms * UNIT * s[j] * roots[j]) ** 2;
      }
    });
    return Math.sqrt(square);
  }

  #add(offset: number): void {
    const products = this.#products();
    const norm = Math.sqrt(products[products.length - 1]);
    this.#sizes[this.#program.size] = { norm, ...this.#dualSizes() };
    this.#program.add(products, offset);
    this.#idle[this.#program.size - 1] = 0;
  }

  epoch(): void {
    const { objective } = this.context;
    const { primal, bound } = this.scalars;
    const program = this.#program;
    this.#makeRoom();
    objective.dualPoint(this.margins, this.#memory.alpha);
    this.#add(this.#cut());
    program.solve(this.#share * Math.max(0, primal - bound));
    this.#move();
    objective.margins(this.weights, this.margins);
    this.passes += 2;
    for (let k = 0; k < program.size; k++) {
      this.#idle[k] = program.shares[k] > 0 ? 0 : this.#idle[k] + 1;
    }
  }

  /**
   * Drops planes long out of use, and the one longest out of use when no other one would fit.
   * When all are in use, the two of the smallest shares become one: w, D and what later iterations
   * can reach from there stay, the model merely gets coarser.
   */
  #makeRoom(): void {
    const program = this.#program;
    for (let k = program.size - 1; k >= 0; k--) {
      if (this.#idle[k] >= idleIterations) this.#drop(k);
    }
    if (program.size < program.capacity) return;
    let oldest = 0;
    for (let k = 1; k < program.size; k++) if (this.#idle[k] > this.#idle[oldest]) oldest = k;
    if (this.#idle[oldest] > 0) this.#drop(oldest);
    else this.#mergeLeast();
  }

  #drop(plane: number): void {
    this.#program.remove(plane);
    this.#release(plane);
  }

  /** What the program does with numbers: the last plane gets the number of the one that goes. */
  #release(plane: number): void {
    const last = this.#program.size;
    const free = this.#planes[plane];
    this.#planes[plane] = this.#planes[last];
    this.#planes[last] = free;
    this.#idle[plane] = this.#idle[last];
    this.#sizes[plane] = this.#sizes[last];
  }

  #mergeLeast(): void {
    const { kernels, objective } = this.context;
    const { shares, size } = this.#program;
    const bySize = Array.from({ length: size }, (_, k) => k).sort((a, b) => shares[a] - shares[b]);
    const [least, next] = bySize;
    const [into, from] = [this.#planes[next], this.#planes[least]];
    const s = this.#program.merge(next, least);
    this.#sizes[next] = largerOf(this.#sizes[next], this.#sizes[least]);
    const target = objective.ownColumns(into);
    kernels.interpolate(target, target, objective.ownColumns(from), s);
    this.#release(least);
  }

  /** The plane of α at the current point, into the first free one; returns its offset b. */
  #cut(): number {
    const { objective, problem } = this.context;
    const { alpha, inverseRoots } = this.#memory;
    const plane = this.#planes[this.#program.size];
    const image = objective.scratchImage;
    objective.image(alpha, image);
    const [begin, end] = this.state.ownColumns;
    for (let j = begin; j < end; j++) {
      const slope = slopeOfAbsolute(this.weights[j], image[j], problem.l1[j]);
      plane[j] = (slope - image[j]) * inverseRoots[j];
    }
    return -objective.meanConjugate(alpha);
  }

  /** What the rounding errors of a plane of α and of its offset are multiples of. */
  #dualSizes(): Pick<PlaneSizes, 'alpha' | 'offset'> {
    const { objective, problem, team } = this.context;
    const rowsOf = (worker: number) =>
      [this.#memory.alpha, problem.labels, problem.rowWeights].map((all) =>
        objective.rowsOf(all, worker),
      );
    const [terms] = team.reduce(1, (worker, values) => {
      const [alpha, y, c] = rowsOf(worker);
      for (let i = 0; i < alpha.length; i++) {
        if (c[i] === 0) continue;
        const s = -(alpha[i] / c[i]);
        const value = this.#loss.conjugate(s, y[i], this.#loss.parameter);
        values[0] += c[i] * conjugateTerms(this.#loss, s, y[i], value);
      }
    });
    const [largest] = team.reduce(
      1,
      (worker, values) => {
        for (const value of rowsOf(worker)[0]) values[0] = Math.max(values[0], Math.abs(value));
      },
      'max',
    );
    return { alpha: largest, offset: terms / problem.totalWeight };
  }

  /** The new plane's products with the older ones and itself. */
  #products(): Float64Array {
    const { objective, team } = this.context;
    const { size } = this.#program;
    const products = new Float64Array(size + 1);
    for (let begin = 0; begin <= size; begin += together) {
      const count = Math.min(together, size + 1 - begin);
      const sums = team.reduce(count, (block, values) => {
        const mine = objective.columnsOf(this.#planes[size], block);
        for (let k = 0; k < count; k++) {
          values[k] = dot(mine, objective.columnsOf(this.#planes[begin + k], block));
        }
      });
      products.set(sums, begin);
    }
    return products;
  }

  /** w = −Σ_k β_k a_k / l2, and D(β) from that very sum. */
  #move(): void {
    const { objective, team } = this.context;
    const { inverseRoots } = this.#memory;
    const { shares, size } = this.#program;
    const [square] = team.reduce(1, (block, values) => {
      const w = objective.columnsOf(this.weights, block).fill(0);
      for (let k = 0; k < size; k++) {
        if (shares[k] > 0) addScaled(w, -shares[k], objective.columnsOf(this.#planes[k], block));
      }
      values[0] = dot(w, w);
      const roots = objective.columnsOf(inverseRoots, block);
      for (let j = 0; j < w.length; j++) w[j] *= roots[j];
    });
    const { scalars } = this;
    const bound = this.#program.offset() - square / 2;
    scalars.bound = Math.max(scalars.bound, bound);
    scalars.proved = Math.max(scalars.proved, bound - this.#allowance(square));
  }

  /** How much rounding may have added to D(β), given ‖Σ_k β_k a_k‖². */
  #allowance(square: number): number {
    const { rows, columns } = this.context.problem;
    const { shares, size } = this.#program;
    const mean = { alpha: 0, norm: 0, offset: 0 };
    let total = 0;
    for (let k = 0; k < size; k++) {
      const { alpha, norm, offset } = this.#sizes[k];
      total += shares[k];
      mean.alpha += shares[k] * alpha;
      mean.norm += shares[k] * norm;
      mean.offset += shares[k] * offset;
    }
    const root = Math.sqrt(square);
    const each = (size + 2 * OPERATIONS) * UNIT;
    const error = mean.alpha * this.#planeError + each * mean.norm;
    const summing = (rows + columns + 2 * OPERATIONS) * UNIT + each + 4 * Math.abs(total - 1);
    const quadratic = error * (root + error);
    return 1.01 * (quadratic + summing * (mean.offset + square + mean.norm * root));
  }

  certify(): ProvedBound {
    const { bound, proved } = this.scalars;
    return { dual: proved, allowance: bound - proved };
  }

  override evaluate(): Gap {
    const primal = this.context.objective.primal(this.weights, this.margins);
    this.scalars.primal = Math.min(this.scalars.primal, primal);
    return { primal, dual: this.scalars.bound };
  }

  override save() {
    const idle = [...this.#idle.subarray(0, this.#program.size)];
    const sizes = this.#sizes
      .slice(0, this.#program.size)
      .flatMap(({ alpha, norm, offset }) => [alpha, norm, offset]);
    return { ...super.save(), idle, sizes, program: this.#program.save() };
  }

  override restore({ idle, sizes, program, ...rest }: ReturnType<Bmrm['save']>): void {
    super.restore(rest);
    this.#program.restore(program);
    const planes = this.#program.size;
    if (idle.length !== planes || sizes.length !== 3 * planes) {
      throw new DataError(
        `${idle.length} saved counts, ${sizes.length} sizes for ${planes} planes`,
      );
    }
    this.#idle.set(idle);
    for (let k = 0; k < planes; k++) {
      const [alpha, norm, offset] = sizes.slice(3 * k);
      this.#sizes[k] = { alpha, norm, offset };
    }
  }

  /** Which memory a plane has means nothing: they come back by their numbers. */
  override arrays(): StateArray[] {
    const planes = this.#planes.slice(0, this.#program.size);
    return stateArrays({
      column: {
        weights: this.weights,
        ...Object.fromEntries(planes.map((plane, k) => [`plane${k}`, plane])),
      },
    });
  }

  override resume(): void {
    this.context.objective.margins(this.weights, this.margins);
  }
}

/** An element of ∂(l1 |w|); at the corner the one that leaves the least of the loss's slope −v. */
function slopeOfAbsolute(w: number, v: number, l1: number): number {
  if (w > 0) return l1;
  if (w < 0) return -l1;
  return Math.max(-l1, Math.min(l1, v));
}

interface PlaneSizes {
  readonly alpha: number;
  readonly norm: number;
  readonly offset: number;
}

function largerOf(a: PlaneSizes, b: PlaneSizes): PlaneSizes {
  const { max } = Math;
  return {
    alpha: max(a.alpha, b.alpha),
    norm: max(a.norm, b.norm),
    offset: max(a.offset, b.offset),
  };
}

export const bmrm: SolverCode<BmrmSettings, BmrmMemory> = {
  allocate: allocateBmrm,
  create: (context, memory, settings, loss) => new Bmrm(context, memory, settings, loss),
};
