// The paper's update. Twin of src/kernels/plain/saddle.ts: the same operations in the same order.
import { clamp } from "../src/math/scalars.ts";
import * as loss from "./loss";
import { double, float, int, setDouble } from "./memory";

// @ts-ignore: decorator
@inline
function sign(w: f64): f64 {
  return w > 0 ? 1 : w < 0 ? -1 : 0;
}

// One inlined body, four specialisations: adagrad and svrg are constants at every call below.
// @ts-ignore: decorator
@inline
function saddle(
  adagrad: bool, svrg: bool,
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, alphas: usize, accumulators: usize, inverseCounts: usize, lows: usize, highs: usize,
  snapshots: usize, snapshotGradients: usize, columns: usize,
  weightStep: f64, alphaStep: f64, l1: f64, l2: f64, inverseRows: f64, parameter: f64,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const y = double(labels, i);
    const share = double(inverseCounts, i);
    const low = double(lows, i);
    const high = double(highs, i);
    const alpha0 = double(snapshots, i);
    const gradient0 = double(snapshotGradients, i);
    const slope0 = svrg ? loss.conjugateDerivative(-alpha0, y, parameter) : 0;
    let alpha = double(alphas, i);
    let accumulator = double(accumulators, i);
    const last = int(offsets, i + 1);
    for (let k = int(offsets, i); k < last; k++) {
      const at = columns + ((<usize>int(indices, k)) << 6);
      const x = float(values, k) * inverseRows;
      const w = load<f64>(at);
      const slope = loss.conjugateDerivative(-alpha, y, parameter);
      let weightGradient: f64;
      let alphaGradient: f64;
      if (svrg) {
        const w0 = load<f64>(at, 24);
        weightGradient =
          (l1 * (sign(w) - sign(w0)) + l2 * (w - w0)) * load<f64>(at, 16) - (alpha - alpha0) * x + load<f64>(at, 32);
        alphaGradient = (slope - slope0) * share - (w - w0) * x + gradient0;
      } else {
        weightGradient = (l1 * sign(w) + l2 * w) * load<f64>(at, 16) - alpha * x;
        alphaGradient = slope * share - w * x;
      }
      let weightMove = weightStep * weightGradient;
      let alphaMove = alphaStep * alphaGradient;
      if (adagrad) {
        const weightSquares = load<f64>(at, 8) + weightGradient * weightGradient;
        store<f64>(at, weightSquares, 8);
        accumulator += alphaGradient * alphaGradient;
        weightMove = weightSquares > 0 ? weightMove / Math.sqrt(weightSquares) : 0;
        alphaMove = accumulator > 0 ? alphaMove / Math.sqrt(accumulator) : 0;
      }
      store<f64>(at, clamp(w - weightMove, -load<f64>(at, 40), load<f64>(at, 40)));
      alpha = clamp(alpha + alphaMove, low, high);
    }
    setDouble(alphas, i, alpha);
    setDouble(accumulators, i, accumulator);
  }
}

export function saddleRows(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, alphas: usize, accumulators: usize, inverseCounts: usize, lows: usize, highs: usize,
  snapshots: usize, snapshotGradients: usize, columns: usize,
  weightStep: f64, alphaStep: f64, adagrad: i32, svrg: i32, l1: f64, l2: f64,
  inverseRows: f64, parameter: f64,
): void {
  if (adagrad != 0) {
    if (svrg != 0) {
      saddle(
        true, true, offsets, indices, values, order, begin, end, labels, alphas, accumulators, inverseCounts,
        lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseRows, parameter,
      );
    } else {
      saddle(
        true, false, offsets, indices, values, order, begin, end, labels, alphas, accumulators, inverseCounts,
        lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseRows, parameter,
      );
    }
  } else if (svrg != 0) {
    saddle(
      false, true, offsets, indices, values, order, begin, end, labels, alphas, accumulators, inverseCounts,
      lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseRows, parameter,
    );
  } else {
    saddle(
      false, false, offsets, indices, values, order, begin, end, labels, alphas, accumulators, inverseCounts,
      lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseRows, parameter,
    );
  }
}
