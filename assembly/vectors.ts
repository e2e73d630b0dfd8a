// Loops over whole vectors. Twin of src/solvers/kernels/plain/vectors.ts: the same operations in the same order.
import { clamp, softThreshold } from "../src/math/scalars.ts";
import { byte, double, int, setByte, setDouble, setInt } from "./memory";

export function extrapolate(now: usize, start: usize, previous: usize, count: i32, beta: f64): void {
  for (let k = 0; k < count; k++) {
    const value = double(now, k);
    setDouble(start, k, value);
    setDouble(now, k, value + beta * (value - double(previous, k)));
    setDouble(previous, k, value);
  }
}

export function interpolate(target: usize, from: usize, to: usize, count: i32, share: f64): void {
  for (let k = 0; k < count; k++) {
    const value = double(from, k);
    setDouble(target, k, value + share * (double(to, k) - value));
  }
}

export function scaleInto(source: usize, target: usize, count: i32, factor: f64): void {
  for (let k = 0; k < count; k++) setDouble(target, k, double(source, k) * factor);
}

export function combine(target: usize, a: usize, b: usize, count: i32, factor: f64): void {
  for (let k = 0; k < count; k++) setDouble(target, k, double(a, k) + factor * double(b, k));
}

export function multiplyInto(a: usize, b: usize, target: usize, count: i32): void {
  for (let k = 0; k < count; k++) setDouble(target, k, double(a, k) * double(b, k));
}

export function penaltySum(weights: usize, l1: usize, l2: usize, count: i32): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < count; j++) {
    const w = double(weights, j);
    sum += double(l1, j) * Math.abs(w) + 0.5 * double(l2, j) * w * w;
  }
  return sum;
}

export function penaltyConjugateSum(image: usize, l1: usize, l2: usize, count: i32): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < count; j++) {
    if (double(l2, j) > 0) {
      const excess = softThreshold(double(image, j), double(l1, j));
      sum += (excess * excess) / (2 * double(l2, j));
    }
  }
  return sum;
}

export function boundedConjugateSum(
  image: usize, l1: usize, l2: usize, lows: usize, highs: usize, count: i32, scale: f64,
): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < count; j++) {
    const excess = softThreshold(scale * double(image, j), double(l1, j));
    if (excess == 0) continue;
    let w = excess > 0 ? double(highs, j) : double(lows, j);
    if (double(l2, j) > 0) w = clamp(excess / double(l2, j), double(lows, j), double(highs, j));
    if (Math.abs(w) < Infinity) sum += w * (excess - 0.5 * double(l2, j) * w);
  }
  return sum;
}

export function penaltySlope(from: usize, to: usize, l1: usize, l2: usize, count: i32, share: f64): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < count; j++) {
    const change = double(to, j) - double(from, j);
    if (change == 0) continue;
    const w = double(from, j) + share * change;
    const corner = w > 0 ? change : w < 0 ? -change : Math.abs(change);
    sum += double(l1, j) * corner + double(l2, j) * w * change;
  }
  return sum;
}

export function changeAlong(from: usize, to: usize, count: i32): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < count; j++) sum += double(from, j) * (double(to, j) - double(from, j));
  return sum;
}

export function changeSquare(from: usize, to: usize, count: i32): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < count; j++) {
    const change = double(to, j) - double(from, j);
    sum += change * change;
  }
  return sum;
}

export function mapWeights(
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize, count: i32,
): void {
  for (let j = 0; j < count; j++) {
    const v = double(image, j) + double(shift, j);
    setDouble(weights, j, softThreshold(v, double(threshold, j)) * double(inverse, j));
  }
}

export function mapBounded(
  image: usize, threshold: usize, inverse: usize, shift: usize, weights: usize, count: i32,
  lows: usize, highs: usize,
): void {
  for (let j = 0; j < count; j++) {
    const v = double(image, j) + double(shift, j);
    const free = softThreshold(v, double(threshold, j)) * double(inverse, j);
    setDouble(weights, j, clamp(free, double(lows, j), double(highs, j)));
  }
}

export function mappedSlope(
  image: usize, threshold: usize, inverse: usize, shift: usize, start: usize, count: i32, share: f64,
): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < count; j++) {
    const change = double(image, j) - double(start, j);
    const v = double(start, j) + share * change + double(shift, j);
    sum += change * softThreshold(v, double(threshold, j)) * double(inverse, j);
  }
  return sum;
}

export function boundedSlope(
  image: usize, threshold: usize, inverse: usize, shift: usize, start: usize, count: i32, share: f64,
  lows: usize, highs: usize,
): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < count; j++) {
    const change = double(image, j) - double(start, j);
    const v = double(start, j) + share * change + double(shift, j);
    const free = softThreshold(v, double(threshold, j)) * double(inverse, j);
    sum += change * clamp(free, double(lows, j), double(highs, j));
  }
  return sum;
}

export function dealRuns(
  runs: usize, runCount: i32, length: i32, units: i32, skip: usize, now: usize, start: usize, active: usize,
): i32 {
  let count = 0;
  for (let k = 0; k < runCount; k++) {
    const first = int(runs, k) * length;
    const end = min(first + length, units);
    for (let unit = first; unit < end; unit++) {
      const rest = byte(skip, unit);
      if (rest > 0) {
        setByte(skip, unit, rest - 1);
        if (double(now, unit) == double(start, unit)) continue;
      }
      setInt(active, count, unit);
      count++;
    }
  }
  return count;
}
