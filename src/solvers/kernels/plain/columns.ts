import { clamp, softThreshold } from '../../../math/scalars.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import type { Cell, ColumnState, ColumnSums, Kernels, MarginState } from '../kernels.ts';

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

/** margins += delta · the column's values; their rows become dirty. */
function scatterColumn(
  j: number,
  delta: number,
  { offsets, indices, values }: Cell,
  { margins, dirty }: MarginState,
): void {
  for (let k = offsets[j]; k < offsets[j + 1]; k++) {
    const i = indices[k];
    margins[i] += delta * values[k];
    dirty[i] = 1;
  }
}

/** Column mode: the unit is a column, the worker keeps margins. Twin of assembly/columns.ts. */
export function plainColumnKernels(loss: Loss) {
  const { parameter } = loss;

  /** c ℓ' and c ℓ'' of a row are computed when a column needs them after the margin has moved. */
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

  /** Adds a column's nonzeros to its sums, or to 0. */
  function gatherColumn(
    j: number,
    { offsets, indices, values }: Cell,
    rows: MarginState,
    columns: ColumnSums,
    { fresh, damping }: { readonly fresh: boolean; readonly damping: number },
  ): void {
    const { slopes, curvatures, dirty } = rows;
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
    scatterColumns(cell, { units, deltas }, count, rows) {
      for (let p = 0; p < count; p++) scatterColumn(units[p], deltas[p], cell, rows);
    },

    gatherColumns(cell, order, begin, end, fresh, rows, columns, damping) {
      const options = { fresh, damping };
      for (let p = begin; p < end; p++) gatherColumn(order[p], cell, rows, columns, options);
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
      const options = { fresh: true, damping };
      for (let position = begin; position < end; position++) {
        const j = order[position];
        gatherColumn(j, cell, rows, columns, options);
        const delta = stepColumn(j, columns, inverseTotalWeight, stats);
        if (delta !== 0) scatterColumn(j, delta, cell, rows);
      }
    },
  } satisfies Partial<Kernels>;
}
