import { rowStep } from '../../../kernels/plain/row-step.ts';
import { clamp, softThreshold } from '../../../math/scalars.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import type { Cell, Kernels, WeightMap } from '../kernels.ts';

type RowKernels = Pick<
  Kernels,
  'gather' | 'scatter' | 'scatterMapped' | 'rowNorms' | 'stepRows' | 'sweepRows' | 'sweepRowsMapped'
>;

/** image += delta · the entries first … last-1, and the weights that follow from it. */
function updateMapped(
  { indices, values }: Cell,
  first: number,
  last: number,
  map: WeightMap,
  weights: Float64Array,
  delta: number,
): void {
  const { image, threshold, inverse, shift, box } = map;
  for (let k = first; k < last; k++) {
    const j = indices[k];
    const v = image[j] + delta * values[k];
    image[j] = v;
    const free = softThreshold(v + shift[j], threshold[j]) * inverse[j];
    weights[j] = box ? clamp(free, box.low[j], box.high[j]) : free;
  }
}

/** Row mode: the unit is a row, the block that travels is w. Twin of assembly/rows.ts. */
export function plainRowKernels(loss: Loss): RowKernels {
  const stepRow = rowStep(loss);

  return {
    gather({ offsets, indices, values }, order, begin, end, fresh, weights, margins) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        let u = fresh ? 0 : margins[i];
        for (let k = offsets[i]; k < offsets[i + 1]; k++) u += weights[indices[k]] * values[k];
        margins[i] = u;
      }
    },

    scatter({ offsets, indices, values }, pending, count, target) {
      for (let position = 0; position < count; position++) {
        const i = pending.units[position];
        const delta = pending.deltas[position];
        for (let k = offsets[i]; k < offsets[i + 1]; k++) target[indices[k]] += delta * values[k];
      }
    },

    scatterMapped(cell, pending, count, map, weights) {
      const { offsets } = cell;
      for (let position = 0; position < count; position++) {
        const i = pending.units[position];
        updateMapped(cell, offsets[i], offsets[i + 1], map, weights, pending.deltas[position]);
      }
    },

    rowNorms({ offsets, indices, values }, units, a, b, norms, collisions) {
      for (let i = 0; i < units; i++) {
        let norm = norms[i];
        let collision = collisions[i];
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          const square = values[k] * values[k];
          norm += square * a[indices[k]];
          collision += square * b[indices[k]];
        }
        norms[i] = norm;
        collisions[i] = collision;
      }
    },

    stepRows(order, begin, end, margins, rows, step, pending, stats) {
      let count = 0;
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const delta = stepRow(i, margins[i], rows, step, stats);
        if (delta !== 0) {
          pending.units[count] = i;
          pending.deltas[count] = delta * step.deltaScale;
          count++;
        }
      }
      return count;
    },

    sweepRows({ offsets, indices, values }, order, begin, end, rows, step, weights, stats) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const first = offsets[i];
        const last = offsets[i + 1];
        let u = 0;
        for (let k = first; k < last; k++) u += weights[indices[k]] * values[k];
        const delta = stepRow(i, u, rows, step, stats);
        if (delta !== 0) {
          const scaled = delta * step.deltaScale;
          for (let k = first; k < last; k++) weights[indices[k]] += scaled * values[k];
        }
      }
    },

    sweepRowsMapped(cell, order, begin, end, rows, step, map, weights, stats) {
      const { offsets, indices, values } = cell;
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const first = offsets[i];
        const last = offsets[i + 1];
        let u = 0;
        for (let k = first; k < last; k++) u += weights[indices[k]] * values[k];
        const delta = stepRow(i, u, rows, step, stats);
        if (delta !== 0) updateMapped(cell, first, last, map, weights, delta * step.deltaScale);
      }
    },
  };
}
