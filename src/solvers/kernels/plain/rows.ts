import { clamp, softThreshold } from '../../../math/scalars.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import type { Cell, Kernels, RowState, RowStep, WeightMap, WholeRows } from '../kernels.ts';

/** A resting row is far from its bound when the dual gradient there exceeds this. */
const restMargin = 0.05;
const highestLevel = 3;

/**
 * The exact dual step of one row, as a function that returns the change of α and updates the row's counters.
 * For the loss c ℓ it is that of ℓ in α/c, with c times the curvature: α ← c step(α/c, u, c q).
 * Twin of assembly/row-step.ts.
 */
function rowStep(loss: Loss) {
  const { parameter } = loss;

  return (i: number, u: number, rows: RowState, step: RowStep, stats: Float64Array): number => {
    const c = rows.rowWeights[i];
    if (c === 0) {
      // Without weight its α is 0 for good.
      stats[0] += rows.counts[i];
      if (step.shrink !== 0) {
        rows.level[i] = highestLevel;
        rows.skip[i] = (1 << highestLevel) - 1;
      }
      return 0;
    }
    const y = rows.labels[i];
    const alpha = rows.alpha[i];
    const inverse = 1 / c;
    const q = (rows.norms[i] + step.damping * rows.collisions[i]) * step.inverseTotalWeight;
    const bend = q * c;
    const next = c * loss.dualStep(alpha * inverse, u, bend, y, parameter);
    const delta = next - alpha;
    if (delta !== 0) {
      rows.alpha[i] = next;
      rows.level[i] = 0;
      // An exact step ends where −α is the slope of ℓ.
      const curvature = loss.curvature(u + q * delta, y, parameter, -(next * inverse));
      stats[0] += 2 * rows.counts[i];
      stats[1] += curvature > 0 ? (bend * curvature) / (1 + bend * curvature) : 1;
      return delta;
    }
    stats[0] += rows.counts[i];
    if (step.shrink !== 0) {
      const slope = loss.conjugateDerivative(-(alpha * inverse), y, parameter) - u;
      let level = 0;
      if (slope > restMargin || slope < -restMargin) {
        level = rows.level[i] < highestLevel ? rows.level[i] + 1 : highestLevel;
        rows.skip[i] = (1 << level) - 1;
      }
      rows.level[i] = level;
    }
    return 0;
  };
}

/** image += delta · the nonzeros first … last-1, and the weights that follow from it. */
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
export function plainRowKernels(loss: Loss) {
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
  } satisfies Partial<Kernels>;
}

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
export function plainWholeRowsKernels(loss: Loss) {
  const { parameter } = loss;
  const stepRow = rowStep(loss);
  return {
    sweepWholeRows(whole, order, begin, end, rows, inverseTotalWeight, inverse, weights, stats) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const c = rows.rowWeights[i];
        if (c === 0) continue;
        const u = dot(whole, i, weights, 0);
        const alpha = rows.alpha[i];
        const q = rows.norms[i] * inverseTotalWeight;
        const next = c * loss.dualStep(alpha * (1 / c), u, q * c, rows.labels[i], parameter);
        const delta = next - alpha;
        stats[0] += (delta !== 0 ? 2 : 1) * rows.counts[i];
        if (delta === 0) continue;
        rows.alpha[i] = next;
        update(whole, i, inverse, weights, delta * inverseTotalWeight);
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
        update(whole, i, pull, drift, delta * step.inverseTotalWeight);
        pending.units[count] = i;
        pending.deltas[count] = delta * step.deltaScale;
        count++;
      }
      return count;
    },
  } satisfies Partial<Kernels>;
}
