/** The rows of a loss that is smoothed about a centre, a slope −ℓ' for each row. */
export interface CentredRows {
  readonly labels: Float64Array;
  readonly rowWeights: Float64Array;
  readonly centre: Float64Array;
}

/**
 * The dual point α = c a of a loss smoothed about a centre m over a width γ:
 *
 *   φ(u) = max_a −ℓ*(−a) − u a − (γ/2)(a − m)²,   a(u) where it is attained,   −φ' = a
 *
 * A width of 0 leaves the loss as it is: then a is the slope −ℓ'(u), at a kink one of them.
 */
export interface ProximalKernels {
  /** alpha_i = c_i a_i(u_i + share · change_i) */
  proximalAlong(
    ...args: [
      margins: Float64Array,
      change: Float64Array,
      share: number,
      rows: CentredRows,
      width: number,
      alpha: Float64Array,
    ]
  ): void;
  /**
   * alpha_i = c_i a_i(u_i) and curvatures_i = c_i φ''(u_i), which is 0 where a is at an end of its domain or,
   * with `flat`, at 0, where ℓ* has a kink.
   */
  proximalPoint(
    ...args: [
      margins: Float64Array,
      rows: CentredRows,
      width: number,
      flat: boolean,
      alpha: Float64Array,
      curvatures: Float64Array,
    ]
  ): void;
}
