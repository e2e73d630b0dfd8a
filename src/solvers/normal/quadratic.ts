import { clamp, softThreshold } from '../../math/scalars.ts';
import { DenseFactor } from '../interior/factor.ts';
import type { Kernels } from '../kernels/kernels.ts';

/**
 * Changes below these shares of the size of the margins are rounding errors: of a weight that is at a
 * kink or an end, and of one that a step on its face has just been through.
 */
const rounding = { outside: 1e-12, inside: 1e-9 } as const;
/** Pivots of a matrix with ones on its diagonal that are rounding errors. */
const leastPivot = 1e-13;
/** Rounds of steps on a face and of a sweep, at most: what is left then shows in the gap. */
const mostRounds = 200;
/** Corrections of a step, by residuals that are computed afresh. */
const corrections = 2;

/** Σ_j l1_j |w_j| + ½ l2_j w_j², low_j ≤ w_j ≤ high_j, by column. */
export interface SeparableTerms {
  readonly l1: Float64Array;
  readonly l2: Float64Array;
  readonly low?: Float64Array;
  readonly high?: Float64Array;
}

interface QuadraticMemory {
  /** A, symmetric, row by row. */
  readonly matrix: Float64Array;
  /** Room for a matrix of this size, and for a step, where kernels reach them. */
  readonly face: Float64Array;
  readonly step: Float64Array;
}

/**
 * Minimises ½ wᵀAw − bᵀw plus separable terms, from the weights of the problem before. A face is the
 * set of weights that are not at a kink and not at an end: on it the minimum is a linear system. A step
 * towards that minimum ends where the first weight leaves the face; a sweep over all coordinates finds
 * weights that must enter it, or shows that there are none. Both lower the objective, and no face is
 * met twice at its minimum, so the end is the exact solution but for rounding.
 */
export class QuadraticProblem {
  readonly weights: Float64Array;
  readonly #matrix: Float64Array;
  readonly #face: Float64Array;
  readonly #stepMemory: Float64Array;
  readonly #linear: Float64Array;
  readonly #size: number;
  readonly #kernels: Kernels;
  /** The root of yᵀCy / W: the size of the margins that there are to explain. */
  readonly #scale: number;
  /** b − Aw */
  readonly #gradient: Float64Array;
  readonly #roots: Float64Array;
  #terms: SeparableTerms = { l1: new Float64Array(0), l2: new Float64Array(0) };

  /** `square`: what wᵀAw is compared with. */
  constructor(
    { matrix, face, step }: QuadraticMemory,
    linear: Float64Array,
    square: number,
    kernels: Kernels,
  ) {
    const size = linear.length;
    this.#matrix = matrix;
    this.#face = face;
    this.#stepMemory = step;
    this.#linear = linear;
    this.#size = size;
    this.#kernels = kernels;
    this.#scale = Math.sqrt(square);
    this.weights = new Float64Array(size);
    this.#gradient = new Float64Array(size);
    this.#roots = Float64Array.from({ length: size }, (_, j) => Math.sqrt(matrix[j * size + j]));
  }

  solve(terms: SeparableTerms): void {
    this.#terms = terms;
    for (let j = 0; j < this.#size; j++) this.weights[j] = this.#inBox(j, this.weights[j]);
    this.#differentiate();
    for (let round = 0; round < mostRounds; round++) {
      this.#minimizeOnFace();
      if (!this.#sweep()) return;
    }
  }

  #inBox(j: number, w: number): number {
    const { low, high } = this.#terms;
    return low && high ? clamp(w, low[j], high[j]) : w;
  }

  /** The gradient from the weights alone. */
  #differentiate(): void {
    this.#gradient.set(this.#linear);
    for (let j = 0; j < this.#size; j++) this.#addToGradient(j, this.weights[j]);
  }

  #addToGradient(j: number, delta: number): void {
    if (delta === 0) return;
    const gradient = this.#gradient;
    const row = j * this.#size;
    for (let k = 0; k < gradient.length; k++) gradient[k] -= delta * this.#matrix[row + k];
  }

  /** Exact steps on every coordinate that has more than a rounding error to go; whether there was one. */
  #sweep(): boolean {
    const { l1, l2 } = this.#terms;
    let size = this.#scale;
    for (let j = 0; j < this.#size; j++) {
      size = Math.max(size, this.#roots[j] * Math.abs(this.weights[j]));
    }
    let hasMoved = false;
    for (let j = 0; j < this.#size; j++) {
      const diagonal = this.#matrix[j * this.#size + j];
      if (!(diagonal + l2[j] > 0)) continue;
      const before = this.weights[j];
      const target = softThreshold(this.#gradient[j] + diagonal * before, l1[j]);
      const after = this.#inBox(j, target / (diagonal + l2[j]));
      const share = this.#isOnFace(j) ? rounding.inside : rounding.outside;
      const least = (share * size) / (this.#roots[j] + Math.sqrt(l2[j]));
      if (!(Math.abs(after - before) > least)) continue;
      this.weights[j] = after;
      this.#addToGradient(j, after - before);
      hasMoved = true;
    }
    return hasMoved;
  }

  /** Whether a weight is neither at a kink of its term nor at an end. */
  #isOnFace(j: number): boolean {
    const { l1, low, high } = this.#terms;
    const w = this.weights[j];
    if (!(this.#roots[j] > 0) || (l1[j] > 0 && w === 0)) return false;
    return !low || !high || (w > low[j] && w < high[j]);
  }

  #listFace(): number[] {
    const face: number[] = [];
    for (let j = 0; j < this.#size; j++) if (this.#isOnFace(j)) face.push(j);
    return face;
  }

  #minimizeOnFace(): void {
    for (let face = this.#listFace(); face.length > 0; face = this.#listFace()) {
      const solve = this.#factor(face);
      let isWhole = this.#step(face, solve);
      for (let k = 0; k < corrections && isWhole; k++) {
        this.#differentiate();
        isWhole = this.#step(face, solve);
      }
      if (isWhole) return;
    }
  }

  /** The inverse of A + diag(l2) among the columns of a face; of dependent columns one stands still. */
  #factor(face: readonly number[]): (x: Float64Array) => void {
    const { l2 } = this.#terms;
    const size = face.length;
    const matrix = this.#face;
    const scaling = Float64Array.from(face, (j) => {
      return 1 / Math.sqrt(this.#matrix[j * this.#size + j] + l2[j]);
    });
    for (let i = 0; i < size; i++) {
      const row = face[i] * this.#size;
      for (let k = 0; k < i; k++) {
        matrix[i * size + k] = this.#matrix[row + face[k]] * scaling[i] * scaling[k];
      }
      matrix[i * size + i] = 1;
    }
    const factor = new DenseFactor(matrix, size, leastPivot, aloneWith(this.#kernels));
    factor.factor();
    return (x) => {
      for (let i = 0; i < size; i++) x[i] *= scaling[i];
      factor.solve(x);
      for (let i = 0; i < size; i++) x[i] *= scaling[i];
    };
  }

  /** Goes to the minimum on a face, or to where the first weight leaves it; whether it got there. */
  #step(face: readonly number[], solve: (x: Float64Array) => void): boolean {
    const { l1, l2 } = this.#terms;
    const step = this.#stepMemory.subarray(0, face.length);
    for (const [i, j] of face.entries()) {
      const w = this.weights[j];
      step[i] = this.#gradient[j] - l1[j] * Math.sign(w) - l2[j] * w;
    }
    solve(step);
    let share = 1;
    for (const [i, j] of face.entries()) share = Math.min(share, this.#room(j, step[i]));
    for (const [i, j] of face.entries()) {
      const before = this.weights[j];
      const isLast = this.#room(j, step[i]) <= share;
      const after = isLast ? this.#endTowards(j, step[i]) : before + share * step[i];
      this.weights[j] = after;
      this.#addToGradient(j, after - before);
    }
    return share === 1;
  }

  /** How far a weight may go of a step before it leaves its face: Infinity where nothing ends it. */
  #room(j: number, step: number): number {
    const end = this.#endTowards(j, step);
    return step === 0 || !Number.isFinite(end) ? Infinity : (end - this.weights[j]) / step;
  }

  /** The end of the face that a step goes to. */
  #endTowards(j: number, step: number): number {
    const { l1, low, high } = this.#terms;
    const w = this.weights[j];
    const end = step > 0 ? (high?.[j] ?? Infinity) : (low?.[j] ?? -Infinity);
    return l1[j] > 0 && w !== 0 && w > 0 === step < 0 ? 0 : end;
  }
}

/** A thread that works by itself. */
function aloneWith(kernels: Kernels) {
  const team = { index: 0, shared: { threads: 1 }, barrier() {} };
  return { team, kernels };
}
