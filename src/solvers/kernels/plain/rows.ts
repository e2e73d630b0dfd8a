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
export function rowStep(loss: Loss) {
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
      const s = -(next * inverse);
      stats[2] += c * (loss.value(u, y, parameter) + loss.conjugate(s, y, parameter) - s * u);
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

/** start + Σ_j weights_j x_ij */
function dotRow(
  { offsets, indices, values }: Cell,
  i: number,
  weights: Float64Array,
  start: number,
): number {
  let u = start;
  for (let k = offsets[i]; k < offsets[i + 1]; k++) u += weights[indices[k]] * values[k];
  return u;
}

/** target_j += delta x_ij */
function addRow(
  { offsets, indices, values }: Cell,
  i: number,
  delta: number,
  target: Float64Array,
): void {
  for (let k = offsets[i]; k < offsets[i + 1]; k++) target[indices[k]] += delta * values[k];
}

/** image_j += delta x_ij, and the weights that follow from it. */
function addRowMapped(
  { offsets, indices, values }: Cell,
  i: number,
  delta: number,
  { image, threshold, inverse, shift, box }: WeightMap,
  weights: Float64Array,
): void {
  for (let k = offsets[i]; k < offsets[i + 1]; k++) {
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
    gather(cell, order, begin, end, fresh, weights, margins) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        margins[i] = dotRow(cell, i, weights, fresh ? 0 : margins[i]);
      }
    },

    scatter(cell, { units, deltas }, count, target) {
      for (let p = 0; p < count; p++) {
        if (deltas[p] !== 0) addRow(cell, units[p], deltas[p], target);
      }
    },

    gatherSizes({ offsets, indices, values }, order, begin, end, source, result) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        let sum = result[i];
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          sum += Math.abs(source[indices[k]] * values[k]);
        }
        result[i] = sum;
      }
    },

    gatherBoth({ offsets, indices, values }, order, begin, end, source, result, sizes) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        let [sum, size] = [result[i], sizes[i]];
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          const term = source[indices[k]] * values[k];
          sum += term;
          size += Math.abs(term);
        }
        result[i] = sum;
        sizes[i] = size;
      }
    },

    scatterSizes({ offsets, indices, values }, { units, deltas }, count, target) {
      for (let p = 0; p < count; p++) {
        const i = units[p];
        if (deltas[p] === 0) continue;
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          target[indices[k]] += Math.abs(deltas[p] * values[k]);
        }
      }
    },

    scatterBoth({ offsets, indices, values }, { units, deltas }, count, target, sizes) {
      for (let p = 0; p < count; p++) {
        const i = units[p];
        if (deltas[p] === 0) continue;
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          const term = deltas[p] * values[k];
          target[indices[k]] += term;
          sizes[indices[k]] += Math.abs(term);
        }
      }
    },

    scatterMapped(cell, { units, deltas }, count, map, weights) {
      for (let p = 0; p < count; p++) addRowMapped(cell, units[p], deltas[p], map, weights);
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

    sweepRows(cell, order, begin, end, rows, step, weights, stats) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const delta = stepRow(i, dotRow(cell, i, weights, 0), rows, step, stats);
        if (delta !== 0) addRow(cell, i, delta * step.deltaScale, weights);
      }
    },

    sweepRowsMapped(cell, order, begin, end, rows, step, map, weights, stats) {
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const delta = stepRow(i, dotRow(cell, i, weights, 0), rows, step, stats);
        if (delta !== 0) addRowMapped(cell, i, delta * step.deltaScale, map, weights);
      }
    },
  } satisfies Partial<Kernels>;
}

/** start + Σ_j weights_j x_ij; columns of a block count from its start. */
export function dot(whole: WholeRows, i: number, weights: Float64Array, start: number): number {
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
