import type { Team } from '../../engine/team.ts';
import type { Kernels } from '../kernels/kernels.ts';

/** The threads that work on a factor together. */
type FactorTeam = Pick<Team, 'index' | 'barrier'> & {
  readonly shared: Pick<Team['shared'], 'threads'>;
};

/** Columns that are eliminated together. */
const panelWidth = 48;
/** Rows that a thread takes at a time. */
const rowsTogether = 64;
/** A pivot that rounding left nothing of becomes this, so that its unknown comes out as 0. */
const barrier = 1e128;

/**
 * The Cholesky factor of a dense symmetric matrix, of which the lower triangle is given, in place. All
 * threads of a process call factor(); every entry is computed by one thread, always in the same order.
 */
export class DenseFactor {
  /** Row by row; shared by the threads. */
  readonly matrix: Float64Array;
  readonly #size: number;
  readonly #team: FactorTeam;
  readonly #kernels: Kernels;
  readonly #leastPivot: number;

  /** `leastPivot`: pivots up to it count as 0. */
  constructor(
    matrix: Float64Array,
    size: number,
    leastPivot: number,
    { team, kernels }: { readonly team: FactorTeam; readonly kernels: Kernels },
  ) {
    this.matrix = matrix;
    this.#size = size;
    this.#leastPivot = leastPivot;
    this.#team = team;
    this.#kernels = kernels;
  }

  factor(): void {
    const size = this.#size;
    for (let first = 0; first < size; first += panelWidth) {
      const end = Math.min(size, first + panelWidth);
      if (this.#team.index === 0) this.#factorDiagonal(first, end);
      this.#team.barrier();
      this.forOwnRows(end, (from, to) => {
        this.#kernels.solveRows(this.matrix, size, first, end, from, to);
      });
      this.#team.barrier();
      const panel = this.matrix.subarray(end * size + first);
      this.forOwnRows(end, (from, to) => {
        const target = this.matrix.subarray(from * size + end);
        const width = end - first;
        this.#kernels.addProducts(panel, size, from - end, to - end, width, target, size, -1);
      });
      this.#team.barrier();
    }
  }

  /** Deals the rows from `begin` on to the threads, in groups. */
  forOwnRows(begin: number, visit: (from: number, to: number) => void): void {
    const { index, shared } = this.#team;
    for (let from = begin, turn = 0; from < this.#size; from += rowsTogether, turn++) {
      if (turn % shared.threads !== index) continue;
      visit(from, Math.min(this.#size, from + rowsTogether));
    }
  }

  #factorDiagonal(first: number, end: number): void {
    const matrix = this.matrix;
    for (let i = first; i < end; i++) {
      const row = i * this.#size;
      this.#kernels.solveRows(matrix, this.#size, first, i, i, i + 1);
      let pivot = matrix[row + i];
      for (let k = first; k < i; k++) pivot -= matrix[row + k] * matrix[row + k];
      matrix[row + i] = Math.sqrt(pivot > this.#leastPivot ? pivot : barrier);
    }
  }

  /** x ← A⁻¹ x, by one thread. */
  solve(x: Float64Array): void {
    this.#kernels.solveFactor(this.matrix, this.#size, x);
  }
}

/** Pivots of a matrix with ones on its diagonal that are rounding errors. */
const rounding = 1e-13;

/** The factor of a matrix scaled to ones on its diagonal. */
export class ScaledFactor {
  readonly #scaling: Float64Array;
  readonly #factor: DenseFactor;
  readonly #team: Team;

  /** `scaling`: memory for a number per row, which the threads share. */
  constructor(
    matrix: Float64Array,
    scaling: Float64Array,
    context: { readonly team: Team; readonly kernels: Kernels },
  ) {
    this.#scaling = scaling;
    this.#team = context.team;
    this.#factor = new DenseFactor(matrix, scaling.length, rounding, context);
  }

  /** Of the matrix, whose lower triangle is given, plus a diagonal. All threads call it. */
  factor(diagonal: (row: number) => number): void {
    const { matrix } = this.#factor;
    const scaling = this.#scaling;
    const size = scaling.length;
    this.#factor.forOwnRows(0, (from, to) => {
      for (let i = from; i < to; i++) {
        const sum = matrix[i * size + i] + diagonal(i);
        scaling[i] = sum > 0 ? 1 / Math.sqrt(sum) : 0;
      }
    });
    this.#team.barrier();
    this.#factor.forOwnRows(0, (from, to) => {
      for (let i = from; i < to; i++) {
        for (let j = 0; j < i; j++) matrix[i * size + j] *= scaling[i] * scaling[j];
        matrix[i * size + i] = 1;
      }
    });
    this.#team.barrier();
    this.#factor.factor();
  }

  /** x ← A⁻¹ x, by one thread. */
  solve(x: Float64Array): void {
    const scaling = this.#scaling;
    for (let j = 0; j < x.length; j++) x[j] *= scaling[j];
    this.#factor.solve(x);
    for (let j = 0; j < x.length; j++) x[j] *= scaling[j];
  }
}
