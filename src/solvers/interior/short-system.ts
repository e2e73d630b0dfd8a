import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { GrowingCholesky } from '../../math/cholesky.ts';
import { reserve } from '../block-state.ts';
import type { Problem } from '../objective/problem.ts';
import type { SolverContext } from '../solver.ts';
import { DenseFactor } from './factor.ts';
import type { StepSystem, SystemArrays } from './system.ts';

/** No eigenvalue of the matrix is below 1. */
const leastPivot = 1e-8;

export type ShortMemory = ReturnType<typeof allocateShort>;

/** `constantColumns`: D is the same in every step; `free`: columns without a penalty. */
export function allocateShort(
  arena: Arena,
  partition: Partition,
  { constantColumns, free }: { readonly constantColumns: boolean; readonly free: number },
) {
  const rows = partition.rowOrder.length;
  return {
    matrix: arena.float64(rows * rows),
    products: arena.float64(constantColumns ? rows * rows : 0),
    ...reserve(arena, 'float64', rows, ['roots', 'unknown']),
    /** Of each column without a penalty: its entries, and B⁻¹T^½ times them. */
    columns: arena.float64(free * rows),
    solved: arena.float64(free * rows),
    identity: arena.int32(rows),
    ...reserve(arena, 'float64', partition.bufferLength, ['inverse', 'row', 'image']),
    /** Where D is constant, D w = Xᵀa: a, what it lacks, its step, and a correction of that. */
    ...reserve(arena, 'float64', constantColumns ? rows : 0, ['a', 'lack', 'aStep', 'aChange']),
  };
}

/** The columns that have neither a penalty nor a bound: their D is 0. */
export function freeColumns({ l1, l2, box }: Problem): number[] {
  const isFree = (j: number) =>
    l1[j] === 0 && l2[j] === 0 && !(box && (box.low[j] > -Infinity || box.high[j] < Infinity));
  return Array.from(l1, (_, j) => j).filter(isFree);
}

/**
 * With B = I + T^½ X D⁻¹ Xᵀ T^½, a matrix of rows × rows, and F the columns without a penalty, of weights β:
 *
 *   B y = T^½ (e + X D⁻¹ r + F β),   z = T^½ y,   Fᵀz = r_F,   D dw = r − Xᵀz
 *
 * Where D is constant, w = D⁻¹Xᵀa and r = Xᵀ(lack): the step is that of a, never the difference of two
 * images that agree to many digits. On a grid of 1, in one thread.
 */
export class ShortSystem implements StepSystem {
  readonly #context: SolverContext;
  readonly #memory: ShortMemory;
  readonly #arrays: SystemArrays;
  readonly #factor: DenseFactor;
  readonly #free: readonly number[];
  readonly #rows: number;
  #freeSystem = new GrowingCholesky(0);
  #isKnown = false;

  constructor(context: SolverContext, memory: ShortMemory, arrays: SystemArrays) {
    const { objective, problem } = context;
    this.#context = context;
    this.#memory = memory;
    this.#arrays = arrays;
    this.#rows = memory.roots.length;
    this.#free = freeColumns(problem);
    this.#factor = new DenseFactor(memory.matrix, this.#rows, leastPivot, context);
    for (let i = 0; i < this.#rows; i++) memory.identity[i] = i;
    this.#free.forEach((column, k) => {
      memory.row.fill(0);
      memory.row[column] = 1;
      objective.margins(memory.row, this.#column(memory.columns, k));
    });
    memory.row.fill(0);
  }

  get hasConstantColumns(): boolean {
    return this.#memory.a.length > 0;
  }

  #column(array: Float64Array, k: number): Float64Array {
    return array.subarray(k * this.#rows, (k + 1) * this.#rows);
  }

  prepare(): void {
    const { matrix, products, inverse, roots, solved, columns } = this.#memory;
    const { columnScales, rowScales } = this.#arrays;
    const size = this.#rows;
    for (let j = 0; j < inverse.length; j++) {
      inverse[j] = columnScales[j] > 0 ? 1 / columnScales[j] : 0;
    }
    if (!this.hasConstantColumns) this.#multiply(matrix);
    else if (!this.#isKnown) this.#multiply(products);
    if (this.hasConstantColumns) matrix.set(products);
    this.#isKnown = true;
    for (let i = 0; i < size; i++) roots[i] = Math.sqrt(rowScales[i]);
    for (let i = 0; i < size; i++) {
      for (let k = 0; k <= i; k++) matrix[i * size + k] *= roots[i] * roots[k];
      matrix[i * size + i] += 1;
    }
    this.#factor.factor();
    this.#freeSystem = new GrowingCholesky(this.#free.length);
    this.#free.forEach((_, k) => {
      const entries = this.#column(columns, k);
      const result = this.#column(solved, k);
      for (let i = 0; i < size; i++) result[i] = roots[i] * entries[i];
      this.#factor.solve(result);
      this.#freeSystem.append(
        Array.from({ length: k + 1 }, (_unused, other) => this.#alongFree(other, result)),
      );
    });
  }

  /** F_kᵀ T^½ x */
  #alongFree(k: number, x: Float64Array): number {
    const { columns, roots } = this.#memory;
    const entries = this.#column(columns, k);
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += entries[i] * roots[i] * x[i];
    return sum;
  }

  /** target ← X D⁻¹ Xᵀ, its lower triangle: a row of X D⁻¹ at a time, unpacked, times the rows before it. */
  #multiply(target: Float64Array): void {
    const { kernels, problem } = this.#context;
    const { inverse, row, identity } = this.#memory;
    const [cell] = problem.grid.cells;
    const { offsets, indices, values } = cell;
    for (let i = 0; i < this.#rows; i++) {
      for (let k = offsets[i]; k < offsets[i + 1]; k++) {
        row[indices[k]] = values[k] * inverse[indices[k]];
      }
      const result = target.subarray(i * this.#rows, i * this.#rows + i + 1);
      kernels.gather(cell, identity, 0, i + 1, true, row, result);
      for (let k = offsets[i]; k < offsets[i + 1]; k++) row[indices[k]] = 0;
    }
  }

  /** Solves for the columns without a penalty: β with Fᵀ T^½ (y + sign · B⁻¹T^½F β) = goal. */
  #solveFree(y: Float64Array, goals: readonly number[], sign: 1 | -1): Float64Array {
    const right = Float64Array.from(goals, (goal, k) => sign * (goal - this.#alongFree(k, y)));
    this.#freeSystem.solve(right);
    for (const [k, beta] of right.entries()) {
      const solved = this.#column(this.#memory.solved, k);
      for (let i = 0; i < y.length; i++) y[i] += sign * beta * solved[i];
    }
    return right;
  }

  solve(): void {
    if (this.hasConstantColumns) this.#solveByRows();
    else this.#solveByColumns();
  }

  #solveByColumns(): void {
    const { objective, problem } = this.#context;
    const { unknown, roots, row, inverse, image } = this.#memory;
    const { residuals, columnResiduals, step, rowImage, rowScales, alpha } = this.#arrays;
    for (let j = 0; j < inverse.length; j++) step[j] = columnResiduals[j] * inverse[j];
    objective.margins(step, rowImage);
    for (let i = 0; i < unknown.length; i++) unknown[i] = roots[i] * (residuals[i] + rowImage[i]);
    this.#factor.solve(unknown);
    const goals = this.#free.map((j) => columnResiduals[j]);
    const weights = this.#solveFree(unknown, goals, 1);
    for (let i = 0; i < unknown.length; i++) {
      unknown[i] *= roots[i];
      alpha[i] = problem.totalWeight * unknown[i];
    }
    objective.image(alpha, image);
    for (let j = 0; j < row.length; j++) step[j] = (columnResiduals[j] - image[j]) * inverse[j];
    this.#free.forEach((j, k) => {
      step[j] = weights[k];
    });
    // z = T (X dw + e) keeps the dual side exact where D spans many decades.
    for (let i = 0; i < unknown.length; i++) {
      rowImage[i] = rowScales[i] > 0 ? unknown[i] / rowScales[i] - residuals[i] : 0;
    }
  }

  /** B y = T^−½ lack − T^½ (e + F β),   da = T^½ y,   D dw = Xᵀda,   Fᵀ(lack − da) = r_F */
  #solveByRows(): void {
    const { objective, problem } = this.#context;
    const { unknown, roots, lack, inverse, image, aChange, columns } = this.#memory;
    const { residuals, columnResiduals, step, rowImage, alpha } = this.#arrays;
    for (let i = 0; i < unknown.length; i++) {
      unknown[i] = roots[i] > 0 ? lack[i] / roots[i] - roots[i] * residuals[i] : 0;
    }
    this.#factor.solve(unknown);
    const goals = this.#free.map((j, k) => {
      const entries = this.#column(columns, k);
      let sum = -columnResiduals[j];
      for (let i = 0; i < entries.length; i++) sum += entries[i] * lack[i];
      return sum;
    });
    const weights = this.#solveFree(unknown, goals, -1);
    for (let i = 0; i < unknown.length; i++) {
      aChange[i] = roots[i] * unknown[i];
      alpha[i] = problem.totalWeight * aChange[i];
    }
    objective.image(alpha, image);
    for (let j = 0; j < inverse.length; j++) step[j] = image[j] * inverse[j];
    this.#free.forEach((j, k) => {
      step[j] = weights[k];
    });
    objective.margins(step, rowImage);
  }

  /** What D w = Xᵀa lacks of stationarity: −Cs − a; nothing of it in a correction. */
  setLack(affine: boolean, dualPoint: Float64Array): void {
    const { lack, a } = this.#memory;
    const { totalWeight } = this.#context.problem;
    for (let i = 0; i < lack.length; i++) lack[i] = affine ? dualPoint[i] / totalWeight - a[i] : 0;
  }

  /** The step of a that solve() has found becomes the direction, or is added to it, `factor` times. */
  takeStep(affine: boolean, factor: number): void {
    const { aStep, aChange } = this.#memory;
    for (let i = 0; i < aStep.length; i++) aStep[i] = (affine ? 0 : aStep[i]) + factor * aChange[i];
  }

  move(length: number): void {
    const { a, aStep } = this.#memory;
    for (let i = 0; i < a.length; i++) a[i] += length * aStep[i];
  }
}
