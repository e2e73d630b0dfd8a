import type { DenseKernels } from '../dense.ts';

/** Sums of the even and of the odd terms, then the last of an odd number. */
function product(a: Float64Array, x: number, y: number, count: number, b = a): number {
  let even = 0;
  let odd = 0;
  let k = 0;
  for (; k + 2 <= count; k += 2) {
    even += a[x + k] * b[y + k];
    odd += a[x + k + 1] * b[y + k + 1];
  }
  return k < count ? even + odd + a[x + k] * b[y + k] : even + odd;
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

  addColumnProducts(rows, { offsets, indices, values, places }, scales, begin, end, gram, stride) {
    for (let j = begin; j < end; j++) {
      const target = (j - begin) * stride;
      for (let k = offsets[j]; k < offsets[j + 1]; k++) {
        const i = indices[k];
        const factor = scales[i] * values[k];
        if (factor === 0) continue;
        for (let n = rows.offsets[i]; n <= places[k]; n++) {
          gram[target + rows.indices[n]] += factor * rows.values[n];
        }
      }
    }
  },

  solveRows(matrix, size, first, end, from, to) {
    for (let i = from; i < to; i++) {
      for (let j = first; j < end; j++) {
        const sum = product(matrix, i * size + first, j * size + first, j - first);
        matrix[i * size + j] = (matrix[i * size + j] - sum) / matrix[j * size + j];
      }
    }
  },

  solveFactor(matrix, size, x) {
    for (let i = 0; i < size; i++) {
      const row = matrix.subarray(i * size, (i + 1) * size);
      x[i] = (x[i] - product(row, 0, 0, i, x)) / row[i];
    }
    for (let i = size - 1; i >= 0; i--) {
      x[i] /= matrix[i * size + i];
      for (let k = 0; k < i; k++) x[k] -= x[i] * matrix[i * size + k];
    }
  },
};
