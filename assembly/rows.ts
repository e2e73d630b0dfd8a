// Row mode. Twin of src/solvers/kernels/plain/rows.ts: the same operations in the same order.
import { clamp, softThreshold } from "../src/math/scalars.ts";
import { double, float, int, setDouble, setInt } from "./memory";
import { addTo, at, dot, update } from "./row-products";
import { stepRow } from "./row-step";

// `bounded` is a constant at every call: without it there is no trace of the box.
// @ts-ignore: decorator
@inline
function updateMapped(
  bounded: bool, first: i32, last: i32, indices: usize, values: usize,
  image: usize, threshold: usize, inverse: usize, shift: usize, lows: usize, highs: usize,
  weights: usize, delta: f64,
): void {
  for (let k = first; k < last; k++) {
    const j = int(indices, k);
    const v = double(image, j) + delta * float(values, k);
    setDouble(image, j, v);
    if (bounded) {
      const free = softThreshold(v + double(shift, j), double(threshold, j)) * double(inverse, j);
      setDouble(weights, j, clamp(free, double(lows, j), double(highs, j)));
    } else {
      setDouble(weights, j, softThreshold(v + double(shift, j), double(threshold, j)) * double(inverse, j));
    }
  }
}

export function gather(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32, fresh: i32,
  weights: usize, margins: usize,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const start = fresh != 0 ? <f64>0 : double(margins, i);
    setDouble(margins, i, dot(int(offsets, i), int(offsets, i + 1), indices, values, weights, start));
  }
}

export function scatter(
  offsets: usize, indices: usize, values: usize, units: usize, deltas: usize, count: i32, target: usize,
): void {
  for (let position = 0; position < count; position++) {
    const i = int(units, position);
    const delta = double(deltas, position);
    if (delta != 0) update(int(offsets, i), int(offsets, i + 1), indices, values, target, delta);
  }
}

/** The sizes of what gather and scatter add: a bound on their rounding errors is a multiple of them. */
export function gatherSizes(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32, source: usize, result: usize,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    let sum = double(result, i);
    for (let k = int(offsets, i); k < int(offsets, i + 1); k++) {
      sum += Math.abs(double(source, int(indices, k)) * <f64>float(values, k));
    }
    setDouble(result, i, sum);
  }
}

export function gatherBoth(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32, source: usize, result: usize,
  sizes: usize,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    let sum = double(result, i);
    let size = double(sizes, i);
    const last = int(offsets, i + 1);
    for (let k = int(offsets, i); k < last; k++) {
      const term = double(source, int(indices, k)) * float(values, k);
      sum += term;
      size += Math.abs(term);
    }
    setDouble(result, i, sum);
    setDouble(sizes, i, size);
  }
}

export function scatterSizes(
  offsets: usize, indices: usize, values: usize, units: usize, deltas: usize, count: i32, target: usize,
): void {
  for (let position = 0; position < count; position++) {
    const i = int(units, position);
    const delta = double(deltas, position);
    if (delta == 0) continue;
    for (let k = int(offsets, i); k < int(offsets, i + 1); k++) {
      addTo(at(target, int(indices, k)), Math.abs(delta * <f64>float(values, k)));
    }
  }
}

export function scatterBoth(
  offsets: usize, indices: usize, values: usize, units: usize, deltas: usize, count: i32, target: usize, sizes: usize,
): void {
  for (let position = 0; position < count; position++) {
    const i = int(units, position);
    const delta = double(deltas, position);
    if (delta == 0) continue;
    const last = int(offsets, i + 1);
    for (let k = int(offsets, i); k < last; k++) {
      const term = delta * float(values, k);
      addTo(at(target, int(indices, k)), term);
      addTo(at(sizes, int(indices, k)), Math.abs(term));
    }
  }
}

export function scatterMapped(
  offsets: usize, indices: usize, values: usize, units: usize, deltas: usize, count: i32,
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize,
): void {
  for (let position = 0; position < count; position++) {
    const i = int(units, position);
    updateMapped(
      false, int(offsets, i), int(offsets, i + 1), indices, values,
      image, threshold, inverse, shift, 0, 0, weights, double(deltas, position),
    );
  }
}

export function scatterBounded(
  offsets: usize, indices: usize, values: usize, units: usize, deltas: usize, count: i32,
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize, lows: usize, highs: usize,
): void {
  for (let position = 0; position < count; position++) {
    const i = int(units, position);
    updateMapped(
      true, int(offsets, i), int(offsets, i + 1), indices, values,
      image, threshold, inverse, shift, lows, highs, weights, double(deltas, position),
    );
  }
}

export function rowNorms(
  offsets: usize, indices: usize, values: usize, units: i32, a: usize, b: usize, norms: usize, collisions: usize,
): void {
  for (let i = 0; i < units; i++) {
    let norm = double(norms, i);
    let collision = double(collisions, i);
    const last = int(offsets, i + 1);
    for (let k = int(offsets, i); k < last; k++) {
      const j = int(indices, k);
      const square = float(values, k) * float(values, k);
      norm += square * double(a, j);
      collision += square * double(b, j);
    }
    setDouble(norms, i, norm);
    setDouble(collisions, i, collision);
  }
}

export function stepRows(
  order: usize, begin: i32, end: i32, margins: usize,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, deltaScale: f64, shrink: i32, parameter: f64,
  units: usize, deltas: usize, stats: usize,
): i32 {
  let count = 0;
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const delta = stepRow(
      i, double(margins, i), labels, rowWeights, alphas, norms, collisions, counts, levels, skips,
      damping, inverseTotalWeight, shrink, parameter, stats,
    );
    if (delta != 0) {
      setInt(units, count, i);
      setDouble(deltas, count, delta * deltaScale);
      count++;
    }
  }
  return count;
}

export function sweepRows(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, deltaScale: f64, shrink: i32, parameter: f64,
  weights: usize, stats: usize,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const first = int(offsets, i);
    const last = int(offsets, i + 1);
    const u = dot(first, last, indices, values, weights, 0);
    const delta = stepRow(
      i, u, labels, rowWeights, alphas, norms, collisions, counts, levels, skips,
      damping, inverseTotalWeight, shrink, parameter, stats,
    );
    if (delta != 0) update(first, last, indices, values, weights, delta * deltaScale);
  }
}

// @ts-ignore: decorator
@inline
function sweepMapped(
  bounded: bool, offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, deltaScale: f64, shrink: i32, parameter: f64,
  image: usize, threshold: usize, inverse: usize, shift: usize, lows: usize, highs: usize,
  weights: usize, stats: usize,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const first = int(offsets, i);
    const last = int(offsets, i + 1);
    const u = dot(first, last, indices, values, weights, 0);
    const delta = stepRow(
      i, u, labels, rowWeights, alphas, norms, collisions, counts, levels, skips,
      damping, inverseTotalWeight, shrink, parameter, stats,
    );
    if (delta != 0) {
      updateMapped(
        bounded, first, last, indices, values, image, threshold, inverse, shift, lows, highs, weights,
        delta * deltaScale,
      );
    }
  }
}

export function sweepRowsMapped(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, deltaScale: f64, shrink: i32, parameter: f64,
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize, stats: usize,
): void {
  sweepMapped(
    false, offsets, indices, values, order, begin, end, labels, rowWeights, alphas, norms, collisions, counts, levels, skips,
    damping, inverseTotalWeight, deltaScale, shrink, parameter, image, threshold, inverse, shift, 0, 0, weights, stats,
  );
}

export function sweepRowsBounded(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, deltaScale: f64, shrink: i32, parameter: f64,
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize, stats: usize,
  lows: usize, highs: usize,
): void {
  sweepMapped(
    true, offsets, indices, values, order, begin, end, labels, rowWeights, alphas, norms, collisions, counts, levels, skips,
    damping, inverseTotalWeight, deltaScale, shrink, parameter, image, threshold, inverse, shift, lows, highs, weights,
    stats,
  );
}
