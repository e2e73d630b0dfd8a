import type { Cell } from '../kernels.ts';
import type { SegmentKernels } from '../segments.ts';

const segmentLength = 512;

type Term = (k: number) => number;

/** Terms first … last-1, at most 512 of them, or parts of a longer sum. */
function segment(first: number, last: number, term: Term): number {
  const lanes = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let k = first; k < last; k++) lanes[(k - first) & 7] += term(k);
  const [a, b, c, d, e, f, g, h] = lanes;
  return a + e + (c + g) + (b + f + (d + h));
}

function sumOf(first: number, last: number, term: Term): number {
  let terms = last - first;
  if (terms <= segmentLength) return segment(first, last, term);
  const next = (from: number) => Math.min(last, first + (from + 1) * segmentLength);
  const sums = new Float64Array(Math.ceil(terms / segmentLength));
  for (let s = 0; s < sums.length; s++) sums[s] = segment(first + s * segmentLength, next(s), term);
  for (terms = sums.length; terms > 1; terms = Math.ceil(terms / segmentLength)) {
    // Sums of segments take the place of terms that are no longer needed.
    for (let s = 0; s * segmentLength < terms; s++) {
      const to = Math.min(terms, (s + 1) * segmentLength);
      sums[s] = segment(s * segmentLength, to, (k) => sums[k]);
    }
  }
  return sums[0];
}

function multiply(
  { offsets, indices, values }: Cell,
  [begin, end]: readonly [number, number],
  fresh: boolean,
  factor: (value: number) => number,
  source: Float64Array,
  result: Float64Array,
): void {
  const term = (k: number) => factor(values[k]) * source[indices[k]];
  for (let i = begin; i < end; i++) {
    const sum = sumOf(offsets[i], offsets[i + 1], term);
    result[i] = fresh ? sum : result[i] + sum;
  }
}

/** Sums by segments. Twin of assembly/segments.ts. */
export const plainSegmentKernels: SegmentKernels = {
  segmentProducts(cell, begin, end, fresh, source, result) {
    multiply(cell, [begin, end], fresh, (value) => value, source, result);
  },

  segmentSquares(cell, begin, end, fresh, source, result) {
    multiply(cell, [begin, end], fresh, (value) => value * value, source, result);
  },

  segmentSum: (x) => sumOf(0, x.length, (k) => x[k]),

  segmentDot: (x, y) => sumOf(0, x.length, (k) => x[k] * y[k]),
};
