// Columns of a working set. Twin of src/solvers/kernels/plain/working-set.ts: the same operations in the same order.
import { softThreshold } from "../src/math/scalars.ts";
import * as loss from "./loss";
import { addDouble, byte, double, float, int, setByte, setDouble, setInt } from "./memory";

const longer: f64 = 1.3;
const nearby: f64 = 0.5;

// @ts-ignore: decorator
@inline
function pair(base: usize, first: i32, second: i32): v128 {
  return v128.load64_lane(base + ((<usize>second) << 3), v128.load64_zero(base + ((<usize>first) << 3)), 1);
}

export function packColumns(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  packedOffsets: usize, packedIndices: usize, packedValues: usize,
): void {
  for (let a = begin; a < end; a++) {
    const j = int(order, a);
    const first = int(offsets, j);
    const count = int(offsets, j + 1) - first;
    const at = int(packedOffsets, a);
    const from = (<usize>first) << 2;
    const to = (<usize>at) << 2;
    memory.copy(packedIndices + to, indices + from, (<usize>count) << 2);
    memory.copy(packedValues + to, values + from, (<usize>count) << 2);
    setInt(packedOffsets, a + 1, at + count);
  }
}

export function packRows(
  offsets: usize, indices: usize, values: usize, columns: i32,
  rowOffsets: usize, bounds: i32, rowIndices: usize, rowValues: usize,
): void {
  const rows = bounds - 1;
  memory.fill(rowOffsets, 0, (<usize>bounds) << 2);
  const last = int(offsets, columns);
  for (let k = int(offsets, 0); k < last; k++) {
    const i = int(indices, k);
    setInt(rowOffsets, i, int(rowOffsets, i) + 1);
  }
  for (let i = 0, sum = 0; i <= rows; i++) {
    const count = int(rowOffsets, i);
    setInt(rowOffsets, i, sum);
    sum += count;
  }
  for (let j = 0; j < columns; j++) {
    for (let k = int(offsets, j); k < int(offsets, j + 1); k++) {
      const i = int(indices, k);
      const at = int(rowOffsets, i);
      setInt(rowIndices, at, j);
      store<f32>(rowValues + ((<usize>at) << 2), load<f32>(values + ((<usize>k) << 2)));
      setInt(rowOffsets, i, at + 1);
    }
  }
  for (let i = rows; i > 0; i--) setInt(rowOffsets, i, int(rowOffsets, i - 1));
  setInt(rowOffsets, 0, 0);
}

export function modelRows(
  margins: usize, labels: usize, rowWeights: usize, known: i32, count: i32,
  derivatives: usize, slopes: usize, curvatures: usize, parameter: f64,
): f64 {
  let largest: f64 = 0;
  for (let i = 0; i < count; i++) {
    const c = double(rowWeights, i);
    const u = double(margins, i);
    const y = double(labels, i);
    if (known == 0) setDouble(derivatives, i, loss.derivative(u, y, parameter));
    const slope = double(derivatives, i);
    const bend = loss.curvature(u, y, parameter, slope);
    const most = 1 / loss.conjugateCurvature(slope, y, parameter);
    const isAtEnd = slope <= loss.conjugateLow(y, parameter) || slope >= loss.conjugateHigh(y, parameter);
    const isStraight = isAtEnd || (slope == 0 && bend < most);
    const curvature = isStraight ? 0 : Math.min(bend, most);
    setDouble(slopes, i, c * slope);
    setDouble(curvatures, i, curvature);
    if (c > 0 && curvature > largest) largest = curvature;
  }
  return largest;
}

export function searchSlope(
  next: usize, labels: usize, rowWeights: usize, inverses: usize, moved: usize, derivatives: usize, count: i32,
  parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = 0; i < count; i++) {
    const q = double(moved, i);
    if (q == 0) continue;
    const slope = loss.derivative(double(next, i), double(labels, i), parameter);
    setDouble(derivatives, i, slope);
    sum += q * double(inverses, i) * (double(rowWeights, i) * slope);
  }
  return sum;
}

export function boundCurvatures(
  curvatures: usize, rowWeights: usize, count: i32, least: f64, inverses: usize,
): void {
  for (let i = 0; i < count; i++) {
    const h = double(rowWeights, i) * Math.max(double(curvatures, i), least);
    setDouble(curvatures, i, h);
    setDouble(inverses, i, h > 0 ? 1 / h : 0);
  }
}

export function modelError(
  margins: usize, labels: usize, rowWeights: usize, slopes: usize, inverses: usize, moved: usize, count: i32, isOpen: i32,
  parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = 0; i < count; i++) {
    const q = double(moved, i);
    if (q == 0) continue;
    const t = q * double(inverses, i);
    const s = double(slopes, i);
    const c = double(rowWeights, i);
    const y = double(labels, i);
    if (isOpen != 0 && t < nearby && t > -nearby) {
      const bend = loss.conjugateCurvature((s + q) / c, y, parameter);
      sum += 0.5 * t * ((t * c) / bend - q);
    } else {
      sum += t * (c * loss.derivative(double(margins, i) + t, y, parameter) - s - q);
    }
  }
  return sum;
}

// Σ x_i a_i in four sums side by side, since one would wait for its own additions.
// @ts-ignore: decorator
@inline
function dot(first: i32, last: i32, indices: usize, values: usize, source: usize): f64 {
  let index = indices + ((<usize>first) << 2);
  let value = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  const lastFour = end - 12;
  let near = f64x2.splat(0);
  let far = f64x2.splat(0);
  while (index < lastFour) {
    const x = f64x2.promote_low_f32x4(v128.load64_zero(value));
    const z = f64x2.promote_low_f32x4(v128.load64_zero(value, 8));
    near = f64x2.add(near, f64x2.mul(x, pair(source, load<i32>(index), load<i32>(index, 4))));
    far = f64x2.add(far, f64x2.mul(z, pair(source, load<i32>(index, 8), load<i32>(index, 12))));
    index += 16;
    value += 16;
  }
  let rest: f64 = 0;
  while (index < end) {
    rest += <f64>load<f32>(value) * double(source, load<i32>(index));
    index += 4;
    value += 4;
  }
  const ahead = f64x2.extract_lane(near, 0) + f64x2.extract_lane(near, 1);
  const behind = f64x2.extract_lane(far, 0) + f64x2.extract_lane(far, 1);
  return ahead + behind + rest;
}

// target_i += δ x_i h_i
// @ts-ignore: decorator
@inline
function move(
  first: i32, last: i32, indices: usize, values: usize, delta: f64, curvatures: usize, target: usize,
): void {
  let index = indices + ((<usize>first) << 2);
  let value = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  while (index < end) {
    const i = (<usize>load<i32>(index)) << 3;
    const change = delta * <f64>load<f32>(value) * load<f64>(curvatures + i);
    store<f64>(target + i, load<f64>(target + i) + change);
    index += 4;
    value += 4;
  }
}

// @ts-ignore: decorator
@inline
function step(
  a: i32, dotProduct: f64, now: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize, violations: usize,
  counts: usize, scale: f64, stats: usize,
): f64 {
  const z = double(now, a);
  const l1 = double(l1s, a);
  const l2 = double(l2s, a);
  const h = double(hessians, a) * scale + l2;
  const g = (double(gradients, a) + dotProduct) * scale + l2 * z;
  addDouble(stats, 0, double(counts, a));
  if (!(h > 0)) {
    setDouble(violations, a, 0);
    return 0;
  }
  const next = softThreshold(h * z - g, l1) / h;
  const delta = next - z;
  const violation = l1 > 0 ? h * Math.abs(delta) : <f64>0;
  setDouble(violations, a, violation);
  if (violation > double(stats, 1)) setDouble(stats, 1, violation);
  if (delta == 0) return 0;
  addDouble(stats, 0, double(counts, a));
  addDouble(stats, 2, -(g * delta + 0.5 * h * delta * delta + l1 * (Math.abs(next) - Math.abs(z))));
  setDouble(now, a, next);
  return delta;
}

export function sumColumns(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32,
  slopes: usize, curvatures: usize, gradients: usize, hessians: usize,
): void {
  for (let a = begin; a < end; a++) {
    const last = int(offsets, a + 1);
    let k = int(offsets, a);
    let g = f64x2.splat(0);
    let h = f64x2.splat(0);
    for (; k + 1 < last; k += 2) {
      const i = int(indices, k);
      const n = int(indices, k + 1);
      const x = f64x2.promote_low_f32x4(v128.load64_zero(values + ((<usize>k) << 2)));
      g = f64x2.add(g, f64x2.mul(x, pair(slopes, i, n)));
      h = f64x2.add(h, f64x2.mul(f64x2.mul(x, x), pair(curvatures, i, n)));
    }
    let gradient = f64x2.extract_lane(g, 0) + f64x2.extract_lane(g, 1);
    let hessian = f64x2.extract_lane(h, 0) + f64x2.extract_lane(h, 1);
    if (k < last) {
      const i = int(indices, k);
      const x = float(values, k);
      gradient += x * double(slopes, i);
      hessian += x * x * double(curvatures, i);
    }
    setDouble(gradients, a - begin, gradient);
    setDouble(hessians, a - begin, hessian);
  }
}

export function countSharing(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, sharing: usize, shares: usize,
): void {
  const first = int(offsets, begin);
  const last = int(offsets, end);
  for (let k = first; k < last; k++) {
    const i = int(indices, k);
    setByte(sharing, i, byte(sharing, i) + 1);
  }
  for (let k = first; k < last; k++) setByte(shares, k, byte(sharing, int(indices, k)));
  for (let k = first; k < last; k++) setByte(sharing, int(indices, k), 0);
}

export function sumTogether(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32,
  slopes: usize, curvatures: usize, shares: usize, gradients: usize, hessians: usize,
): void {
  for (let a = begin; a < end; a++) {
    let gradient: f64 = 0;
    let hessian: f64 = 0;
    const last = int(offsets, a + 1);
    for (let k = int(offsets, a); k < last; k++) {
      const i = int(indices, k);
      const x = float(values, k);
      gradient += x * double(slopes, i);
      hessian += x * x * double(curvatures, i) * <f64>byte(shares, k);
    }
    setDouble(gradients, a - begin, gradient);
    setDouble(hessians, a - begin, hessian);
  }
}

export function sweepWorkingSet(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, curvatures: usize, moved: usize,
  now: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize, violations: usize, counts: usize,
  scale: f64, above: f64, stats: usize,
): void {
  for (let a = begin; a < end; a++) {
    if (double(violations, a) <= above) continue;
    const first = int(offsets, a);
    const last = int(offsets, a + 1);
    const product = dot(first, last, indices, values, moved);
    const delta = step(a, product, now, gradients, hessians, l1s, l2s, violations, counts, scale, stats);
    if (delta != 0) move(first, last, indices, values, delta, curvatures, moved);
  }
}

export function dotColumns(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, source: usize, result: usize,
): void {
  for (let a = begin; a < end; a++) {
    setDouble(result, a - begin, dot(int(offsets, a), int(offsets, a + 1), indices, values, source));
  }
}

export function stepWorkingSet(
  begin: i32, end: i32, dots: usize,
  now: usize, gradients: usize, hessians: usize, l1s: usize, l2s: usize, violations: usize, counts: usize,
  scale: f64, above: f64, deltas: usize, stats: usize,
): void {
  for (let a = begin; a < end; a++) {
    if (double(violations, a) <= above) {
      setDouble(deltas, a - begin, 0);
      continue;
    }
    const product = double(dots, a - begin);
    const delta = step(a, product, now, gradients, hessians, l1s, l2s, violations, counts, scale, stats);
    setDouble(deltas, a - begin, delta);
  }
}

export function moveColumns(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, deltas: usize, curvatures: usize, target: usize,
): void {
  for (let a = begin; a < end; a++) {
    const delta = double(deltas, a - begin);
    if (delta != 0) move(int(offsets, a), int(offsets, a + 1), indices, values, delta, curvatures, target);
  }
}

// @ts-ignore: decorator
@inline
function retreat(
  a: i32, dotProduct: f64, hessians: usize, l1s: usize, counts: usize, allowed: f64, scale: f64, stats: usize,
): f64 {
  const v = dotProduct * scale;
  const l1 = double(l1s, a);
  const h = double(hessians, a) * scale;
  const over = Math.abs(v) - l1;
  addDouble(stats, 0, double(counts, a));
  if (over <= allowed * l1 || !(h > 0)) return 0;
  addDouble(stats, 0, double(counts, a));
  addDouble(stats, 1, 1);
  return (longer * (v > 0 ? -over : over)) / h;
}

export function sweepDual(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, curvatures: usize, alpha: usize,
  hessians: usize, l1s: usize, counts: usize, allowed: f64, scale: f64, stats: usize,
): void {
  for (let a = begin; a < end; a++) {
    const first = int(offsets, a);
    const last = int(offsets, a + 1);
    const product = dot(first, last, indices, values, alpha);
    const delta = retreat(a, product, hessians, l1s, counts, allowed, scale, stats);
    if (delta != 0) move(first, last, indices, values, delta, curvatures, alpha);
  }
}

export function stepDual(
  begin: i32, end: i32, dots: usize,
  hessians: usize, l1s: usize, counts: usize, allowed: f64, scale: f64, deltas: usize, stats: usize,
): void {
  for (let a = begin; a < end; a++) {
    setDouble(deltas, a - begin, retreat(a, double(dots, a - begin), hessians, l1s, counts, allowed, scale, stats));
  }
}

// Σ a_k (b_k + c_k)
export function productOfSum(a: usize, b: usize, c: usize, count: i32): f64 {
  let sum = f64x2.splat(0);
  let k = 0;
  for (; k + 1 < count; k += 2) {
    const at = (<usize>k) << 3;
    sum = f64x2.add(sum, f64x2.mul(v128.load(a + at), f64x2.add(v128.load(b + at), v128.load(c + at))));
  }
  const both = f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
  return k < count ? both + double(a, k) * (double(b, k) + double(c, k)) : both;
}

// Σ a_k b_k c_k
export function productOfThree(a: usize, b: usize, c: usize, count: i32): f64 {
  let sum = f64x2.splat(0);
  let k = 0;
  for (; k + 1 < count; k += 2) {
    const at = (<usize>k) << 3;
    sum = f64x2.add(sum, f64x2.mul(f64x2.mul(v128.load(a + at), v128.load(b + at)), v128.load(c + at)));
  }
  const both = f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
  return k < count ? both + double(a, k) * double(b, k) * double(c, k) : both;
}

// target_k ← (to_k − from_k) factor_k
export function scaledChange(from: usize, to: usize, factor: usize, count: i32, target: usize): void {
  for (let k = 0; k < count; k++) setDouble(target, k, (double(to, k) - double(from, k)) * double(factor, k));
}

// target_k ← target_k + share · factor_k · source_k
export function addScaled(target: usize, share: f64, factor: usize, source: usize, count: i32): void {
  for (let k = 0; k < count; k++) addDouble(target, k, share * double(factor, k) * double(source, k));
}

// target_k ← target_k + share · source_k
export function addMultiple(target: usize, share: f64, source: usize, count: i32): void {
  for (let k = 0; k < count; k++) addDouble(target, k, share * double(source, k));
}

// Σ l1_a p_a sign(z_a), with side · |p_a| where z_a is 0
export function cornerSum(p: usize, z: usize, l1: usize, count: i32, side: f64): f64 {
  let sum: f64 = 0;
  for (let a = 0; a < count; a++) {
    const at = double(z, a);
    const change = double(p, a);
    const along = at > 0 ? change : at < 0 ? -change : side * Math.abs(change);
    sum += double(l1, a) * along;
  }
  return sum;
}

export function penaltySlopeBefore(from: usize, to: usize, l1: usize, l2: usize, count: i32, share: f64): f64 {
  let sum: f64 = 0;
  for (let a = 0; a < count; a++) {
    const change = double(to, a) - double(from, a);
    if (change == 0) continue;
    const z = share == 1 ? double(to, a) : double(from, a) + share * change;
    const corner = z > 0 ? change : z < 0 ? -change : -Math.abs(change);
    sum += double(l1, a) * corner + double(l2, a) * z * change;
  }
  return sum;
}

export function bendDirection(
  now: usize, direction: usize, l1: usize, bent: usize, count: i32, units: usize, deltas: usize,
): i32 {
  let number = 0;
  for (let a = 0; a < count; a++) {
    const z = double(now, a);
    const p = double(direction, a);
    if (p == 0 || double(l1, a) == 0 || !(z == 0 || (z + p) * z < 0)) {
      setDouble(bent, a, p);
      continue;
    }
    setDouble(bent, a, -z);
    setInt(units, number, a);
    setDouble(deltas, number, -z - p);
    number++;
  }
  return number;
}

export function moveWeights(now: usize, direction: usize, count: i32, share: f64, hit: i32): void {
  for (let a = 0; a < count; a++) {
    const p = double(direction, a);
    if (p == 0) continue;
    const z = double(now, a);
    setDouble(now, a, a == hit || (share == 1 && p == -z) ? 0 : z + share * p);
  }
}

export function measureViolations(
  weights: usize, image: usize, l1s: usize, l2s: usize, count: i32, level: f64, found: usize,
): void {
  let worst: f64 = 0;
  let norm: f64 = 0;
  let cost: f64 = 0;
  let ratio: f64 = 0;
  for (let j = 0; j < count; j++) {
    const l1 = double(l1s, j);
    if (l1 == 0) continue;
    const bound = level * l1;
    const w = double(weights, j);
    const v = double(image, j);
    const pull = v - level * double(l2s, j) * w;
    const over = Math.abs(pull) - bound;
    const excess = over > 0 ? over : 0;
    const off = w == 0 ? excess : Math.abs(pull - (w > 0 ? bound : -bound));
    if (off > worst) worst = off;
    const size = Math.abs(v) / l1;
    if (size > ratio) ratio = size;
    norm += Math.abs(w);
    cost += Math.abs(w) * excess;
  }
  setDouble(found, 0, worst);
  setDouble(found, 1, norm);
  setDouble(found, 2, cost);
  setDouble(found, 3, ratio);
}
