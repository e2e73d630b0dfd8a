import type { RowState, RowStep, WholeRows } from './kernels.ts';

/**
 * Coarse stages of row mode, where workers step on copies of the weights. `pull` and `share` hold a number
 * for each column of a block up to a last one, `hot`, whose number is also that of all columns after it.
 */
export interface StageKernels {
  /** Dual steps on whole rows, one after the other; weights[j] += Δα · deltaScale · value · pull[min(j, hot)]. */
  sweepStage(
    ...args: [
      whole: WholeRows,
      order: Int32Array,
      begin: number,
      end: number,
      rows: RowState,
      step: RowStep,
      pull: Float64Array,
      hot: Int32Array,
      weights: Float64Array,
      stats: Float64Array,
    ]
  ): void;
  /**
   * target[j] += Σ_q (copies[q · stride + j] − base[j]) · share[min(j, hot)] for j = 0 … end-1, added in the
   * order q = first, first − 1, … of the workers counted in a circle; target may be base.
   */
  addChanges(
    ...args: [
      target: Float64Array,
      base: Float64Array,
      copies: Float64Array,
      stride: number,
      workers: number,
      first: number,
      end: number,
      share: Float64Array,
      hot: number,
    ]
  ): void;
}
