import type { Cell, ColumnEntries, WholeRows } from './kernels.ts';

type Vector = Float64Array;

/** Products into the lower triangle of a dense matrix, for methods of second order. */
export interface DenseKernels {
  /**
   * c[i][j] += sign · Σ_k a[i][k] a[j][k] for begin ≤ i < end and j ≤ i, k = 0 … count-1. Rows of `a` are
   * `stride` apart; c begins with row `begin`, and its rows are `rowStride` apart.
   */
  addProducts(
    ...args: [
      a: Vector,
      stride: number,
      begin: number,
      end: number,
      count: number,
      c: Vector,
      rowStride: number,
      sign: number,
    ]
  ): void;
  /**
   * gram[a][b] += scales[i] x_ia x_ib over the rows of a worker, for the columns a of one block and all
   * b ≤ a among all columns. Its rows, one for each column of the block, are `stride` apart.
   */
  addRowProducts(
    ...args: [whole: WholeRows, block: number, scales: Vector, gram: Vector, stride: number]
  ): void;
  /**
   * The same for the columns begin … end-1 of rows that list their columns in order; gram begins with
   * row `begin`.
   */
  addColumnProducts(
    ...args: [
      rows: Cell,
      columns: ColumnEntries,
      scales: Vector,
      begin: number,
      end: number,
      gram: Vector,
      stride: number,
    ]
  ): void;
  /**
   * Of a triangular factor, row by row: the entries first … end-1 of the rows from … to-1, by those of
   * the rows first … end-1.
   */
  solveRows(
    ...args: [matrix: Vector, size: number, first: number, end: number, from: number, to: number]
  ): void;
  /** x ← (L Lᵀ)⁻¹ x */
  solveFactor(matrix: Vector, size: number, x: Vector): void;
}

/** Vectors of a panel. */
export const panelWidth = 8;

/**
 * Products of rows with several vectors at once. A panel has a line of 8 numbers for each column, one of
 * each vector; numbers of rows are vector by vector, `stride` apart.
 */
export interface PanelKernels {
  /** results[v][i] = Σ_k x_ik panel[k][v] and sizes[v][i] = Σ_k |x_ik panel[k][v]|, 0 ≤ i < count. */
  gatherPanel(
    ...args: [
      cell: Cell,
      count: number,
      panel: Vector,
      results: Vector,
      sizes: Vector,
      stride: number,
    ]
  ): void;
  /** panel[k][v] += Σ_i x_ik sources[v][i] and sizes[k][v] += Σ_i |x_ik sources[v][i]|. */
  scatterPanel(
    ...args: [
      cell: Cell,
      count: number,
      sources: Vector,
      stride: number,
      panel: Vector,
      sizes: Vector,
    ]
  ): void;
}
