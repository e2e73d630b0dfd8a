import { clamp, softThreshold } from '../../../math/scalars.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import type { ColumnState, Kernels, MarginState } from '../kernels.ts';

type ColumnKernels = Pick<
  Kernels,
  'scatterColumns' | 'gatherColumns' | 'stepColumns' | 'sweepColumns'
>;

/** A zero weight rests when its gradient is below this part of its threshold. */
const restShare = 0.9;
const highestLevel = 3;

/**
 * A weight at an end of its box rests when what pushes it against the end, the derivative of the
 * objective there, is more than a tenth of the larger of its parts: at w = 0 the rule of above.
 */
function restsAtEnd(w: number, g: number, l1: number, l2: number, low: number, high: number) {
  const least = (1 - restShare) * Math.max(Math.abs(g), l1);
  if (w === low && g + l2 * w + (w < 0 ? -l1 : l1) > least) return true;
  return w === high && -g - l2 * w - (w > 0 ? l1 : -l1) > least;
}

/** Column mode: the unit is a column, the worker keeps margins. Twin of assembly/columns.ts. */
export function plainColumnKernels(loss: Loss): ColumnKernels {
  const { parameter } = loss;

  /** c ℓ' and c ℓ'' of a row are computed when a column asks for them after the margin has moved. */
  function refresh(i: number, rows: MarginState, damping: number): void {
    const u = rows.margins[i];
    const y = rows.labels[i];
    const c = rows.rowWeights[i];
    const slope = loss.derivative(u, y, parameter);
    const curvature = loss.curvature(u, y, parameter, slope);
    rows.slopes[i] = c * slope;
    rows.curvatures[i] = c * curvature * (1 + damping * rows.density[i]);
    rows.dirty[i] = 0;
  }

  /** argmin_w g (w − w_j) + (h/2)(w − w_j)² + λφ_j(w), in the box if there is one; returns the change of w_j. */
  function stepColumn(
    j: number,
    columns: ColumnState,
    inverseTotalWeight: number,
    stats: Float64Array,
  ): number {
    const { box } = columns;
    const g = columns.gradients[j] * inverseTotalWeight;
    const h = columns.hessians[j] * inverseTotalWeight;
    const w = columns.weights[j];
    const l1 = columns.l1[j];
    const l2 = columns.l2[j];
    const bends = h + l2 > 0;
    let next = bends ? softThreshold(h * w - g, l1) / (h + l2) : w;
    // Momentum may have carried a weight out of its box, also one that has no step to take.
    if (box) next = clamp(next, box.low[j], box.high[j]);
    const delta = next - w;
    if (!bends && delta === 0) return 0;
    stats[0] += columns.counts[j];
    if (delta !== 0) {
      columns.weights[j] = next;
      columns.level[j] = 0;
      stats[0] += columns.counts[j];
      if (bends) stats[1] += h / (h + l2);
      return delta;
    }
    let level = 0;
    let rests = next === 0 && g < restShare * l1 && g > -restShare * l1;
    if (box && !rests) rests = restsAtEnd(next, g, l1, l2, box.low[j], box.high[j]);
    if (rests) {
      level = columns.level[j] < highestLevel ? columns.level[j] + 1 : highestLevel;
      columns.skip[j] = (1 << level) - 1;
    }
    columns.level[j] = level;
    return 0;
  }

  return {
    scatterColumns({ offsets, indices, values }, pending, count, rows) {
      const { margins, dirty } = rows;
      for (let position = 0; position < count; position++) {
        const j = pending.units[position];
        const delta = pending.deltas[position];
        for (let k = offsets[j]; k < offsets[j + 1]; k++) {
          const i = indices[k];
          margins[i] += delta * values[k];
          dirty[i] = 1;
        }
      }
    },

    gatherColumns({ offsets, indices, values }, order, begin, end, fresh, rows, columns, damping) {
      const { slopes, curvatures, dirty } = rows;
      for (let position = begin; position < end; position++) {
        const j = order[position];
        let g = fresh ? 0 : columns.gradients[j];
        let h = fresh ? 0 : columns.hessians[j];
        for (let k = offsets[j]; k < offsets[j + 1]; k++) {
          const i = indices[k];
          const x = values[k];
          if (dirty[i] !== 0) refresh(i, rows, damping);
          g += slopes[i] * x;
          h += curvatures[i] * x * x;
        }
        columns.gradients[j] = g;
        columns.hessians[j] = h;
      }
    },

    stepColumns(order, begin, end, columns, inverseTotalWeight, pending, stats) {
      let count = 0;
      for (let position = begin; position < end; position++) {
        const j = order[position];
        const delta = stepColumn(j, columns, inverseTotalWeight, stats);
        if (delta !== 0) {
          pending.units[count] = j;
          pending.deltas[count] = delta;
          count++;
        }
      }
      return count;
    },

    sweepColumns(cell, order, begin, end, rows, columns, damping, inverseTotalWeight, stats) {
      const { offsets, indices, values } = cell;
      const { margins, slopes, curvatures, dirty } = rows;
      for (let position = begin; position < end; position++) {
        const j = order[position];
        const first = offsets[j];
        const last = offsets[j + 1];
        let g = 0;
        let h = 0;
        for (let k = first; k < last; k++) {
          const i = indices[k];
          const x = values[k];
          if (dirty[i] !== 0) refresh(i, rows, damping);
          g += slopes[i] * x;
          h += curvatures[i] * x * x;
        }
        columns.gradients[j] = g;
        columns.hessians[j] = h;
        const delta = stepColumn(j, columns, inverseTotalWeight, stats);
        if (delta !== 0) {
          for (let k = first; k < last; k++) {
            const i = indices[k];
            margins[i] += delta * values[k];
            dirty[i] = 1;
          }
        }
      }
    },
  };
}
