import type { Cell } from './kernels.ts';

/**
 * Sums in an order that threads, processes and devices with hundreds of lanes can share, so that all of
 * them get the same bits:
 *
 *   up to 512 terms, a segment: lane l of 8 adds the terms l, l + 8, l + 16, … to 0, one after the other;
 *     then s_l += s_(l^4), s_l += s_(l^2), s_l += s_(l^1), after which all lanes are equal
 *   more terms: segments of 512, and the same over the sums of the segments, until one is left
 *
 * The term of a non-zero x is x · source, of squares (x · x) · source, each product rounded to a double.
 */
export interface SegmentKernels {
  /** result[i] (+)= Σ_k value_k · source[index_k] for the units begin … end-1; = when fresh. */
  segmentProducts(...args: SegmentArguments): void;
  /** The same with (value_k · value_k) · source[index_k]. */
  segmentSquares(...args: SegmentArguments): void;
  /** Σ x_k */
  segmentSum(x: Float64Array): number;
  /** Σ x_k y_k */
  segmentDot(x: Float64Array, y: Float64Array): number;
}

type SegmentArguments = [
  cell: Cell,
  begin: number,
  end: number,
  fresh: boolean,
  source: Float64Array,
  result: Float64Array,
];
