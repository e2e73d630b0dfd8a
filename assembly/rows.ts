// Row mode. Twin of src/kernels/plain/rows.ts: the same operations in the same order.
import { softThreshold } from "../src/math/scalars.ts";
import * as loss from "./loss";
import { addDouble, byte, double, float, int, setByte, setDouble, setInt } from "./memory";

const restMargin: f64 = 0.05;
const highestLevel: i32 = 3;

// The loops over non-zeros walk two pointers, four entries at a time; the sums keep their order.

// @ts-ignore: decorator
@inline
function term(at: usize, valueAt: usize, weights: usize, step: usize): f64 {
  return load<f64>(weights + ((<usize>load<i32>(at + step)) << 3)) * <f64>load<f32>(valueAt + step);
}

// @ts-ignore: decorator
@inline
function dot(first: i32, last: i32, indices: usize, values: usize, weights: usize, start: f64): f64 {
  let u = start;
  let at = indices + ((<usize>first) << 2);
  let valueAt = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  const end4 = at + ((<usize>((last - first) & ~3)) << 2);
  for (; at < end4; at += 16, valueAt += 16) {
    u += term(at, valueAt, weights, 0);
    u += term(at, valueAt, weights, 4);
    u += term(at, valueAt, weights, 8);
    u += term(at, valueAt, weights, 12);
  }
  for (; at < end; at += 4, valueAt += 4) u += term(at, valueAt, weights, 0);
  return u;
}

// @ts-ignore: decorator
@inline
function add(at: usize, valueAt: usize, target: usize, delta: f64, step: usize): void {
  const place = target + ((<usize>load<i32>(at + step)) << 3);
  store<f64>(place, load<f64>(place) + delta * <f64>load<f32>(valueAt + step));
}

// @ts-ignore: decorator
@inline
function update(first: i32, last: i32, indices: usize, values: usize, target: usize, delta: f64): void {
  let at = indices + ((<usize>first) << 2);
  let valueAt = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  const end4 = at + ((<usize>((last - first) & ~3)) << 2);
  for (; at < end4; at += 16, valueAt += 16) {
    add(at, valueAt, target, delta, 0);
    add(at, valueAt, target, delta, 4);
    add(at, valueAt, target, delta, 8);
    add(at, valueAt, target, delta, 12);
  }
  for (; at < end; at += 4, valueAt += 4) add(at, valueAt, target, delta, 0);
}

// @ts-ignore: decorator
@inline
function updateMapped(
  first: i32, last: i32, indices: usize, values: usize,
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize, delta: f64,
): void {
  for (let k = first; k < last; k++) {
    const j = int(indices, k);
    const v = double(image, j) + delta * float(values, k);
    setDouble(image, j, v);
    setDouble(weights, j, softThreshold(v + double(shift, j), double(threshold, j)) * double(inverse, j));
  }
}

// @ts-ignore: decorator
@inline
function stepRow(
  i: i32, u: f64,
  labels: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseRows: f64, shrink: i32, parameter: f64, stats: usize,
): f64 {
  const y = double(labels, i);
  const alpha = double(alphas, i);
  const q = (double(norms, i) + damping * double(collisions, i)) * inverseRows;
  const next = loss.dualStep(alpha, u, q, y, parameter);
  const delta = next - alpha;
  addDouble(stats, 3, loss.value(u, y, parameter));
  if (delta != 0) {
    setDouble(alphas, i, next);
    setByte(levels, i, 0);
    const curvature = loss.curvature(u + q * delta, y, parameter);
    addDouble(stats, 0, 2 * <f64>int(counts, i));
    addDouble(stats, 1, 1);
    addDouble(stats, 2, curvature > 0 ? (q * curvature) / (1 + q * curvature) : 1);
    return delta;
  }
  addDouble(stats, 0, <f64>int(counts, i));
  if (shrink != 0) {
    const slope = loss.conjugateDerivative(-alpha, y, parameter) - u;
    let level = 0;
    if (slope > restMargin || slope < -restMargin) {
      const before = byte(levels, i);
      level = before < highestLevel ? before + 1 : highestLevel;
      setByte(skips, i, (1 << level) - 1);
    }
    setByte(levels, i, level);
  }
  return 0;
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
    update(int(offsets, i), int(offsets, i + 1), indices, values, target, double(deltas, position));
  }
}

export function scatterMapped(
  offsets: usize, indices: usize, values: usize, units: usize, deltas: usize, count: i32,
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize,
): void {
  for (let position = 0; position < count; position++) {
    const i = int(units, position);
    updateMapped(
      int(offsets, i), int(offsets, i + 1), indices, values,
      image, threshold, inverse, shift, weights, double(deltas, position),
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
  labels: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseRows: f64, deltaScale: f64, shrink: i32, parameter: f64,
  units: usize, deltas: usize, stats: usize,
): i32 {
  let count = 0;
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const delta = stepRow(
      i, double(margins, i), labels, alphas, norms, collisions, counts, levels, skips,
      damping, inverseRows, shrink, parameter, stats,
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
  labels: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseRows: f64, deltaScale: f64, shrink: i32, parameter: f64,
  weights: usize, stats: usize,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const first = int(offsets, i);
    const last = int(offsets, i + 1);
    const u = dot(first, last, indices, values, weights, 0);
    const delta = stepRow(
      i, u, labels, alphas, norms, collisions, counts, levels, skips,
      damping, inverseRows, shrink, parameter, stats,
    );
    if (delta != 0) update(first, last, indices, values, weights, delta * deltaScale);
  }
}

export function sweepRowsMapped(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseRows: f64, deltaScale: f64, shrink: i32, parameter: f64,
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize, stats: usize,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const first = int(offsets, i);
    const last = int(offsets, i + 1);
    const u = dot(first, last, indices, values, weights, 0);
    const delta = stepRow(
      i, u, labels, alphas, norms, collisions, counts, levels, skips,
      damping, inverseRows, shrink, parameter, stats,
    );
    if (delta != 0) {
      updateMapped(first, last, indices, values, image, threshold, inverse, shift, weights, delta * deltaScale);
    }
  }
}
