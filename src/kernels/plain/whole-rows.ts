import type { Loss } from '../../losses/loss.ts';
import type { Kernels } from '../kernels.ts';

/** Dual steps on the rows of one worker by itself. Twin of assembly/whole-rows.ts. */
export function plainWholeRowsKernel(loss: Loss): Pick<Kernels, 'sweepWholeRows'> {
  const { parameter } = loss;
  return {
    sweepWholeRows(whole, order, begin, end, rows, inverseRows, inverse, weights, stats) {
      const { blocks, offsets, indices, values, starts } = whole;
      const stride = whole.rows + 1;
      for (let position = begin; position < end; position++) {
        const i = order[position];
        let u = 0;
        for (let block = 0; block < blocks; block++) {
          const at = block * stride + i;
          const start = starts[block];
          for (let k = offsets[at]; k < offsets[at + 1]; k++) {
            u += weights[start + indices[k]] * values[k];
          }
        }
        const alpha = rows.alpha[i];
        const q = rows.norms[i] * inverseRows;
        const next = loss.dualStep(alpha, u, q, rows.labels[i], parameter);
        const delta = next - alpha;
        stats[0] += (delta !== 0 ? 2 : 1) * rows.counts[i];
        if (delta === 0) continue;
        rows.alpha[i] = next;
        const scaled = delta * inverseRows;
        for (let block = 0; block < blocks; block++) {
          const at = block * stride + i;
          const start = starts[block];
          for (let k = offsets[at]; k < offsets[at + 1]; k++) {
            const j = start + indices[k];
            weights[j] += scaled * values[k] * inverse[j];
          }
        }
      }
    },
  };
}
