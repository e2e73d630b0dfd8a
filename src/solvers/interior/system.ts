/**
 * The linear system of a step, with positive diagonals T of rows and D of columns:
 *
 *   D dw + Xᵀz = r,   z = T (X dw + e)
 *
 * An unpenalized column, as that of an intercept is, has D = 0.
 */
export interface StepSystem {
  /** The share of the non-zeros that a pass touches; default: all. */
  readonly share?: number;
  /** For the T and D that the arrays hold. */
  prepare(): void;
  /** dw and X dw of the residuals that the arrays hold. Every thread of the team calls it. */
  solve(): void;
}

/** Arrays of rows and columns; those of columns that travel are as long as such arrays are. */
export interface SystemArrays {
  /** T and e, and memory for rows. */
  readonly rowScales: Float64Array;
  readonly residuals: Float64Array;
  readonly alpha: Float64Array;
  /** D, which travels, and r. */
  readonly columnScales: Float64Array;
  readonly columnResiduals: Float64Array;
  /** dw, which travels, and X dw. */
  readonly step: Float64Array;
  readonly rowImage: Float64Array;
}
