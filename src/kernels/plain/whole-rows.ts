import type { Loss } from '../../problem/losses/loss.ts';
import type { Kernels, WholeRows } from '../../solvers/kernels/kernels.ts';
import { rowStep } from './row-step.ts';

/** start + Σ_j weights_j x_ij; columns of a block count from its start. */
function dot(whole: WholeRows, i: number, weights: Float64Array, start: number): number {
  const { blocks, offsets, indices, values, starts } = whole;
  const stride = whole.rows + 1;
  let u = start;
  for (let block = 0; block < blocks; block++) {
    const at = block * stride + i;
    for (let k = offsets[at]; k < offsets[at + 1]; k++) {
      u += weights[starts[block] + indices[k]] * values[k];
    }
  }
  return u;
}

/** weights_j += scaled x_ij inverse_j */
function update(
  whole: WholeRows,
  i: number,
  inverse: Float64Array,
  weights: Float64Array,
  scaled: number,
): void {
  const { blocks, offsets, indices, values, starts } = whole;
  const stride = whole.rows + 1;
  for (let block = 0; block < blocks; block++) {
    const at = block * stride + i;
    for (let k = offsets[at]; k < offsets[at + 1]; k++) {
      const j = starts[block] + indices[k];
      weights[j] += scaled * values[k] * inverse[j];
    }
  }
}

/** Dual steps on whole rows of one worker. Twin of assembly/whole-rows.ts. */
export function plainWholeRowsKernels(
  loss: Loss,
): Pick<Kernels, 'sweepWholeRows' | 'stepWholeRows'> {
  const { parameter } = loss;
  const stepRow = rowStep(loss);
  return {
    sweepWholeRows(whole, order, begin, end, rows, inverseMass, inverse, weights, stats) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const c = rows.importance[i];
        if (c === 0) continue;
        const u = dot(whole, i, weights, 0);
        const alpha = rows.alpha[i];
        const q = rows.norms[i] * inverseMass;
        const next = c * loss.dualStep(alpha * (1 / c), u, q * c, rows.labels[i], parameter);
        const delta = next - alpha;
        stats[0] += (delta !== 0 ? 2 : 1) * rows.counts[i];
        if (delta === 0) continue;
        rows.alpha[i] = next;
        update(whole, i, inverse, weights, delta * inverseMass);
      }
    },

    stepWholeRows(whole, order, begin, end, margins, rows, step, pull, drift, pending, stats) {
      let count = 0;
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const u = dot(whole, i, drift, margins[i]);
        const delta = stepRow(i, u, rows, step, stats);
        // Margins and changes go round the ring, too.
        stats[0] += (delta !== 0 ? 2 : 1) * rows.counts[i];
        if (delta === 0) continue;
        update(whole, i, pull, drift, delta * step.inverseMass);
        pending.units[count] = i;
        pending.deltas[count] = delta * step.deltaScale;
        count++;
      }
      return count;
    },
  };
}
