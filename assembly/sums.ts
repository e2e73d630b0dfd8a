// Sums over rows. Twin of src/kernels/plain/sums.ts: the same operations in the same order.
import { clamp } from "../src/math/scalars.ts";
import * as loss from "./loss";
import { double, setDouble } from "./memory";

export function lossSum(margins: usize, labels: usize, begin: i32, end: i32, parameter: f64): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) sum += loss.value(double(margins, i), double(labels, i), parameter);
  return sum;
}

export function conjugateSum(
  alpha: usize, labels: usize, begin: i32, end: i32, scale: f64, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    sum += loss.conjugate(-(scale * double(alpha, i)), double(labels, i), parameter);
  }
  return sum;
}

export function conjugateSlope(
  from: usize, to: usize, labels: usize, begin: i32, end: i32, eta: f64, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    const delta = double(to, i) - double(from, i);
    if (delta != 0) {
      sum += delta * loss.conjugateDerivative(-(double(from, i) + eta * delta), double(labels, i), parameter);
    }
  }
  return sum;
}

export function lossSlope(
  from: usize, to: usize, labels: usize, begin: i32, end: i32, eta: f64, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    const delta = double(to, i) - double(from, i);
    if (delta != 0) sum += delta * loss.derivative(double(from, i) + eta * delta, double(labels, i), parameter);
  }
  return sum;
}

export function dualPoint(
  margins: usize, labels: usize, begin: i32, end: i32, alpha: usize, parameter: f64,
): void {
  for (let i = begin; i < end; i++) {
    setDouble(alpha, i, -loss.derivative(double(margins, i), double(labels, i), parameter));
  }
}

export function dualSlopes(
  alpha: usize, labels: usize, begin: i32, end: i32, target: usize, parameter: f64,
): void {
  for (let i = begin; i < end; i++) {
    setDouble(target, i, loss.conjugateDerivative(-double(alpha, i), double(labels, i), parameter));
  }
}

export function shiftAlpha(
  alpha: usize, labels: usize, begin: i32, end: i32, shift: f64, target: usize, parameter: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = begin; i < end; i++) {
    const y = double(labels, i);
    const low = -loss.conjugateHigh(y, parameter);
    const high = -loss.conjugateLow(y, parameter);
    const moved = clamp(double(alpha, i) + shift, low, high);
    setDouble(target, i, moved);
    sum += moved;
  }
  return sum;
}
