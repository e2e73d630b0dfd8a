// Sums over rows. Twin of src/solvers/kernels/plain/vectors.ts: the same operations in the same order.
import { clamp } from "../src/math/scalars.ts";
import * as loss from "./loss";
import { double, setDouble } from "./memory";
import { conjugate, conjugateDerivative, value } from "./weighted";

export function lossSum(
  margins: usize, labels: usize, rowWeights: usize, begin: i32, end: i32, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    sum += value(double(rowWeights, i), double(margins, i), double(labels, i), parameter);
  }
  return sum;
}

export function conjugateSum(
  alpha: usize, labels: usize, rowWeights: usize, begin: i32, end: i32, scale: f64, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    const s = -(scale * double(alpha, i));
    sum += conjugate(double(rowWeights, i), s, double(labels, i), parameter);
  }
  return sum;
}

export function conjugateSlope(
  from: usize, to: usize, labels: usize, rowWeights: usize, begin: i32, end: i32, eta: f64, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    const delta = double(to, i) - double(from, i);
    if (delta != 0) {
      const s = -(double(from, i) + eta * delta);
      sum += delta * conjugateDerivative(double(rowWeights, i), s, double(labels, i), parameter);
    }
  }
  return sum;
}

export function lossSlope(
  from: usize, to: usize, labels: usize, rowWeights: usize, begin: i32, end: i32, eta: f64, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    const delta = double(to, i) - double(from, i);
    if (delta != 0) {
      const slope = loss.derivative(double(from, i) + eta * delta, double(labels, i), parameter);
      sum += delta * (double(rowWeights, i) * slope);
    }
  }
  return sum;
}

export function dualPoint(
  margins: usize, labels: usize, rowWeights: usize, begin: i32, end: i32, alpha: usize, parameter: f64,
): void {
  for (let i = begin; i < end; i++) {
    const slope = loss.derivative(double(margins, i), double(labels, i), parameter);
    setDouble(alpha, i, -(double(rowWeights, i) * slope));
  }
}

/** How far from where ℓ* has its slope, relative to it, a score is on a straight part. */
const STRAIGHT_FROM = 1e-9;

export function expandLoss(
  margins: usize, labels: usize, rowWeights: usize, begin: i32, end: i32, isBent: i32, alpha: usize, curvatures: usize,
  parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    const u = double(margins, i);
    const y = double(labels, i);
    const c = double(rowWeights, i);
    const here = loss.value(u, y, parameter);
    const slope = loss.derivative(u, y, parameter);
    const size = Math.abs(slope);
    let curvature: f64 = 0;
    if (isBent != 0 || isOnCurve(u, slope, y, parameter)) {
      const known = loss.curvature(u, y, parameter, slope);
      curvature = min(known, 1 / loss.conjugateCurvature(slope, y, parameter));
    }
    const chord = (0.25 * size * size) / here;
    if (chord < size && chord > curvature) curvature = chord;
    if (c != 0) sum += c * here;
    setDouble(alpha, i, -(c * slope));
    setDouble(curvatures, i, c * curvature);
  }
  return sum;
}

// @ts-ignore: decorator
@inline
function isOnCurve(u: f64, slope: f64, y: f64, parameter: f64): bool {
  const distance = Math.abs(u - loss.conjugateDerivative(slope, y, parameter));
  return !(distance > STRAIGHT_FROM * (1 + Math.abs(u)));
}

export function dualSlopes(
  alpha: usize, labels: usize, rowWeights: usize, begin: i32, end: i32, target: usize, parameter: f64,
): void {
  for (let i = begin; i < end; i++) {
    const c = double(rowWeights, i);
    const slope = conjugateDerivative(c, -double(alpha, i), double(labels, i), parameter);
    setDouble(target, i, slope);
  }
}

export function shiftAlpha(
  alpha: usize, labels: usize, rowWeights: usize, begin: i32, end: i32, shift: f64, target: usize, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    const y = double(labels, i);
    const c = double(rowWeights, i);
    let moved: f64 = 0;
    if (c != 0) {
      const low = -(c * loss.conjugateHigh(y, parameter));
      const high = -(c * loss.conjugateLow(y, parameter));
      moved = clamp(double(alpha, i) + c * shift, low, high);
    }
    setDouble(target, i, moved);
    sum += moved;
  }
  return sum;
}
