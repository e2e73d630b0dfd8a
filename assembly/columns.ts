// Column mode. Twin of src/solvers/kernels/plain/columns.ts: the same operations in the same order.
import { clamp, softThreshold } from "../src/math/scalars.ts";
import * as loss from "./loss";
import { addDouble, byte, double, float, int, setByte, setDouble, setInt } from "./memory";

const restShare: f64 = 0.9;
const highestLevel: i32 = 3;

// Outside of the loops over non-zeros: it is called for rows whose margin has moved.
function refresh(
  i: i32, labels: usize, rowWeights: usize, margins: usize, slopes: usize, curvatures: usize, dirty: usize, density: usize,
  damping: f64, parameter: f64,
): void {
  const u = double(margins, i);
  const y = double(labels, i);
  const c = double(rowWeights, i);
  const slope = loss.derivative(u, y, parameter);
  const curvature = loss.curvature(u, y, parameter, slope);
  setDouble(slopes, i, c * slope);
  setDouble(curvatures, i, c * curvature * (1 + damping * double(density, i)));
  setByte(dirty, i, 0);
}

// @ts-ignore: decorator
@inline
function pair(base: usize, first: i32, second: i32): v128 {
  return v128.load64_lane(base + ((<usize>second) << 3), v128.load64_zero(base + ((<usize>first) << 3)), 1);
}

// @ts-ignore: decorator
@inline
function gatherColumn(
  j: i32, first: i32, last: i32, startG: f64, startH: f64, indices: usize, values: usize,
  labels: usize, rowWeights: usize, margins: usize, slopes: usize, curvatures: usize, dirty: usize, density: usize,
  gradients: usize, hessians: usize, damping: f64, parameter: f64,
): void {
  let g = startG;
  let h = startH;
  let index = indices + ((<usize>first) << 2);
  let value = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  const lastFour = end - 12;
  while (index < lastFour) {
    const a = load<i32>(index);
    const b = load<i32>(index, 4);
    const c = load<i32>(index, 8);
    const d = load<i32>(index, 12);
    // One test for four rows: mostly none of them has moved.
    if ((byte(dirty, a) | byte(dirty, b) | byte(dirty, c) | byte(dirty, d)) != 0) {
      if (byte(dirty, a) != 0) refresh(a, labels, rowWeights, margins, slopes, curvatures, dirty, density, damping, parameter);
      if (byte(dirty, b) != 0) refresh(b, labels, rowWeights, margins, slopes, curvatures, dirty, density, damping, parameter);
      if (byte(dirty, c) != 0) refresh(c, labels, rowWeights, margins, slopes, curvatures, dirty, density, damping, parameter);
      if (byte(dirty, d) != 0) refresh(d, labels, rowWeights, margins, slopes, curvatures, dirty, density, damping, parameter);
    }
    const near = f64x2.promote_low_f32x4(v128.load64_zero(value));
    const far = f64x2.promote_low_f32x4(v128.load64_zero(value, 8));
    const nearG = f64x2.mul(pair(slopes, a, b), near);
    const farG = f64x2.mul(pair(slopes, c, d), far);
    const nearH = f64x2.mul(f64x2.mul(pair(curvatures, a, b), near), near);
    const farH = f64x2.mul(f64x2.mul(pair(curvatures, c, d), far), far);
    g += f64x2.extract_lane(nearG, 0);
    h += f64x2.extract_lane(nearH, 0);
    g += f64x2.extract_lane(nearG, 1);
    h += f64x2.extract_lane(nearH, 1);
    g += f64x2.extract_lane(farG, 0);
    h += f64x2.extract_lane(farH, 0);
    g += f64x2.extract_lane(farG, 1);
    h += f64x2.extract_lane(farH, 1);
    index += 16;
    value += 16;
  }
  while (index < end) {
    const i = load<i32>(index);
    const x = <f64>load<f32>(value);
    if (byte(dirty, i) != 0) refresh(i, labels, rowWeights, margins, slopes, curvatures, dirty, density, damping, parameter);
    g += double(slopes, i) * x;
    h += double(curvatures, i) * x * x;
    index += 4;
    value += 4;
  }
  setDouble(gradients, j, g);
  setDouble(hessians, j, h);
}

// @ts-ignore: decorator
@inline
function restsAtEnd(w: f64, g: f64, l1: f64, l2: f64, low: f64, high: f64): bool {
  const least = (1 - restShare) * Math.max(Math.abs(g), l1);
  if (w == low && g + l2 * w + (w < 0 ? -l1 : l1) > least) return true;
  return w == high && -g - l2 * w - (w > 0 ? l1 : -l1) > least;
}

// `bounded` is a constant at every call: without it there is no trace of the box.
// @ts-ignore: decorator
@inline
function stepColumn(
  bounded: bool, j: i32, weights: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize,
  lows: usize, highs: usize, counts: usize, levels: usize, skips: usize, inverseTotalWeight: f64, stats: usize,
): f64 {
  const g = double(gradients, j) * inverseTotalWeight;
  const h = double(hessians, j) * inverseTotalWeight;
  const w = double(weights, j);
  const l1 = double(l1s, j);
  const l2 = double(l2s, j);
  const bends = h + l2 > 0;
  if (!bends && !bounded) return 0;
  const free = bounded && !bends ? w : softThreshold(h * w - g, l1) / (h + l2);
  const next = bounded ? clamp(free, double(lows, j), double(highs, j)) : free;
  const delta = next - w;
  if (bounded && !bends && delta == 0) return 0;
  addDouble(stats, 0, <f64>int(counts, j));
  if (delta != 0) {
    setDouble(weights, j, next);
    setByte(levels, j, 0);
    addDouble(stats, 0, <f64>int(counts, j));
    if (!bounded || bends) addDouble(stats, 1, h / (h + l2));
    return delta;
  }
  let level = 0;
  let rests = next == 0 && g < restShare * l1 && g > -restShare * l1;
  if (bounded && !rests) rests = restsAtEnd(next, g, l1, l2, double(lows, j), double(highs, j));
  if (rests) {
    const before = byte(levels, j);
    level = before < highestLevel ? before + 1 : highestLevel;
    setByte(skips, j, (1 << level) - 1);
  }
  setByte(levels, j, level);
  return 0;
}

// @ts-ignore: decorator
@inline
function moveMargin(i: i32, change: f64, margins: usize, dirty: usize): void {
  addDouble(margins, i, change);
  setByte(dirty, i, 1);
}

// @ts-ignore: decorator
@inline
function moveMargins(
  first: i32, last: i32, indices: usize, values: usize, margins: usize, dirty: usize, delta: f64,
): void {
  let index = indices + ((<usize>first) << 2);
  let value = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  const lastFour = end - 12;
  const deltas = f64x2.splat(delta);
  while (index < lastFour) {
    const near = f64x2.mul(deltas, f64x2.promote_low_f32x4(v128.load64_zero(value)));
    const far = f64x2.mul(deltas, f64x2.promote_low_f32x4(v128.load64_zero(value, 8)));
    moveMargin(load<i32>(index), f64x2.extract_lane(near, 0), margins, dirty);
    moveMargin(load<i32>(index, 4), f64x2.extract_lane(near, 1), margins, dirty);
    moveMargin(load<i32>(index, 8), f64x2.extract_lane(far, 0), margins, dirty);
    moveMargin(load<i32>(index, 12), f64x2.extract_lane(far, 1), margins, dirty);
    index += 16;
    value += 16;
  }
  while (index < end) {
    moveMargin(load<i32>(index), delta * <f64>load<f32>(value), margins, dirty);
    index += 4;
    value += 4;
  }
}

export function scatterColumns(
  offsets: usize, indices: usize, values: usize, units: usize, deltas: usize, count: i32,
  margins: usize, dirty: usize,
): void {
  for (let position = 0; position < count; position++) {
    const j = int(units, position);
    moveMargins(int(offsets, j), int(offsets, j + 1), indices, values, margins, dirty, double(deltas, position));
  }
}

export function gatherColumns(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32, fresh: i32,
  labels: usize, rowWeights: usize, margins: usize, slopes: usize, curvatures: usize, dirty: usize, density: usize,
  gradients: usize, hessians: usize, damping: f64, parameter: f64,
): void {
  for (let position = begin; position < end; position++) {
    const j = int(order, position);
    const g = fresh != 0 ? <f64>0 : double(gradients, j);
    const h = fresh != 0 ? <f64>0 : double(hessians, j);
    gatherColumn(
      j, int(offsets, j), int(offsets, j + 1), g, h, indices, values,
      labels, rowWeights, margins, slopes, curvatures, dirty, density, gradients, hessians, damping, parameter,
    );
  }
}

// @ts-ignore: decorator
@inline
function steps(
  bounded: bool, order: usize, begin: i32, end: i32,
  weights: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize, lows: usize, highs: usize,
  counts: usize, levels: usize, skips: usize, inverseTotalWeight: f64,
  units: usize, deltas: usize, stats: usize,
): i32 {
  let count = 0;
  for (let position = begin; position < end; position++) {
    const j = int(order, position);
    const delta = stepColumn(
      bounded, j, weights, gradients, hessians, l1s, l2s, lows, highs, counts, levels, skips, inverseTotalWeight, stats,
    );
    if (delta != 0) {
      setInt(units, count, j);
      setDouble(deltas, count, delta);
      count++;
    }
  }
  return count;
}

export function stepColumns(
  order: usize, begin: i32, end: i32,
  weights: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize,
  counts: usize, levels: usize, skips: usize, inverseTotalWeight: f64,
  units: usize, deltas: usize, stats: usize,
): i32 {
  return steps(
    false, order, begin, end, weights, gradients, hessians, l1s, l2s, 0, 0, counts, levels, skips, inverseTotalWeight,
    units, deltas, stats,
  );
}

export function stepColumnsBounded(
  order: usize, begin: i32, end: i32,
  weights: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize,
  counts: usize, levels: usize, skips: usize, inverseTotalWeight: f64,
  units: usize, deltas: usize, stats: usize, lows: usize, highs: usize,
): i32 {
  return steps(
    true, order, begin, end, weights, gradients, hessians, l1s, l2s, lows, highs, counts, levels, skips, inverseTotalWeight,
    units, deltas, stats,
  );
}

// @ts-ignore: decorator
@inline
function sweep(
  bounded: bool, offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, margins: usize, slopes: usize, curvatures: usize, dirty: usize, density: usize,
  weights: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize, lows: usize, highs: usize,
  counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, parameter: f64, stats: usize,
): void {
  for (let position = begin; position < end; position++) {
    const j = int(order, position);
    const first = int(offsets, j);
    const last = int(offsets, j + 1);
    gatherColumn(
      j, first, last, 0, 0, indices, values,
      labels, rowWeights, margins, slopes, curvatures, dirty, density, gradients, hessians, damping, parameter,
    );
    const delta = stepColumn(
      bounded, j, weights, gradients, hessians, l1s, l2s, lows, highs, counts, levels, skips, inverseTotalWeight, stats,
    );
    if (delta != 0) moveMargins(first, last, indices, values, margins, dirty, delta);
  }
}

export function sweepColumns(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, margins: usize, slopes: usize, curvatures: usize, dirty: usize, density: usize,
  weights: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize,
  counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, parameter: f64, stats: usize,
): void {
  sweep(
    false, offsets, indices, values, order, begin, end, labels, rowWeights, margins, slopes, curvatures, dirty, density,
    weights, gradients, hessians, l1s, l2s, 0, 0, counts, levels, skips, damping, inverseTotalWeight, parameter, stats,
  );
}

export function sweepColumnsBounded(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, margins: usize, slopes: usize, curvatures: usize, dirty: usize, density: usize,
  weights: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize,
  counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, parameter: f64, stats: usize, lows: usize, highs: usize,
): void {
  sweep(
    true, offsets, indices, values, order, begin, end, labels, rowWeights, margins, slopes, curvatures, dirty, density,
    weights, gradients, hessians, l1s, l2s, lows, highs, counts, levels, skips, damping, inverseTotalWeight, parameter,
    stats,
  );
}
