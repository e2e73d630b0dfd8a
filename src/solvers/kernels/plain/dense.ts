import type { DenseKernels } from '../kernels.ts';

/** Sums of the even and of the odd terms, then the last of an odd number. */
function product(a: Float64Array, x: number, y: number, count: number): number {
  let even = 0;
  let odd = 0;
  let k = 0;
  for (; k + 2 <= count; k += 2) {
    even += a[x + k] * a[y + k];
    odd += a[x + k + 1] * a[y + k + 1];
  }
  return k < count ? even + odd + a[x + k] * a[y + k] : even + odd;
}

/** Products of dense rows, and of sparse rows into a dense matrix. Twin of assembly/dense.ts. */
export const plainDenseKernels: DenseKernels = {
  addProducts(a, stride, begin, end, count, c, rowStride, sign) {
    for (let i = begin; i < end; i++) {
      const row = (i - begin) * rowStride;
      for (let j = 0; j <= i; j++) c[row + j] += sign * product(a, i * stride, j * stride, count);
    }
  },

  addRowProducts({ rows, offsets, indices, values, starts }, block, scales, gram, stride) {
    const own = block * (rows + 1);
    const start = starts[block];
    for (let i = 0; i < rows; i++) {
      const scale = scales[i];
      if (scale === 0) continue;
      const first = offsets[own + i];
      for (let k = first; k < offsets[own + i + 1]; k++) {
        const here = indices[k];
        const factor = scale * values[k];
        for (let b = 0; b < block; b++) {
          const from = b * (rows + 1) + i;
          for (let n = offsets[from]; n < offsets[from + 1]; n++) {
            gram[here * stride + starts[b] + indices[n]] += factor * values[n];
          }
        }
        for (let n = first; n <= k; n++) {
          const [low, high] = indices[n] <= here ? [indices[n], here] : [here, indices[n]];
          gram[high * stride + start + low] += factor * values[n];
        }
      }
    }
  },
};
