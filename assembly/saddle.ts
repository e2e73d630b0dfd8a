// The paper's update. Twin of src/solvers/kernels/plain/stochastic.ts: the same operations in the same order.
// Scalars ride in vectors here, because the engine's vector minimum, maximum and root take no branch
// and wait for no register they do not need; a lane rounds as a scalar does. w and α keep vectors of
// their own: in one, α's next value would have to wait for w's.
import * as loss from "./loss";
import { double, int, setDouble } from "./memory";

// Bytes from the start of a column's line, which begins with w: see saddleSlot.
const SQUARES: usize = 8;
const SHARE: usize = 16;
const SNAPSHOT: usize = 24;
const GRADIENT: usize = 32;
const LOW: usize = 40;
const HIGH: usize = 48;

// Without a branch: the sign of a weight cannot be foretold.
// @ts-ignore: decorator
@inline
function sign(w: f64): f64 {
  return <f64>(<i32>(w > 0) - <i32>(w < 0));
}

/** from + step · gradient (over the root of its squares), bounded. */
// @ts-ignore: decorator
@inline
function moved(
  adagrad: bool, from: f64, step: f64, gradient: f64, squares: f64, low: f64, high: f64,
): f64 {
  let move = f64x2.splat(step * gradient);
  if (adagrad) {
    const root = f64x2.splat(squares);
    move = v128.and(f64x2.div(move, f64x2.sqrt(root)), f64x2.gt(root, f64x2.splat(0)));
  }
  const free = f64x2.add(f64x2.splat(from), move);
  return f64x2.extract_lane(f64x2.pmin(f64x2.pmax(free, f64x2.splat(low)), f64x2.splat(high)), 0);
}

// One inlined body for rows that count 1 and one for all others, whose α/c takes products that every
// entry would have to wait for: `weighted` is a constant at both calls, adagrad and svrg at all of them.
// @ts-ignore: decorator
@inline
function visitRow(
  weighted: bool, adagrad: bool, svrg: bool, c: f64, i: i32,
  offsets: usize, indices: usize, values: usize,
  labels: usize, alphas: usize, accumulators: usize, inverseCounts: usize, lows: usize, highs: usize,
  snapshots: usize, snapshotGradients: usize, columns: usize,
  weightStep: f64, alphaStep: f64, l1: f64, l2: f64, inverseTotalWeight: f64, parameter: f64,
): void {
  const y = double(labels, i);
  const inverse: f64 = weighted && c > 0 ? 1 / c : 0;
  const rowStep = weighted ? c * alphaStep : alphaStep;
  const share = double(inverseCounts, i);
  const low: f64 = !weighted ? double(lows, i) : c > 0 ? c * double(lows, i) : 0;
  const high: f64 = !weighted ? double(highs, i) : c > 0 ? c * double(highs, i) : 0;
  const alpha0 = double(snapshots, i);
  const gradient0 = double(snapshotGradients, i);
  const slope0 = svrg
    ? loss.conjugateDerivative(weighted ? -(alpha0 * inverse) : -alpha0, y, parameter)
    : 0;
  let alpha = double(alphas, i);
  let accumulator = double(accumulators, i);
  let at = indices + ((<usize>int(offsets, i)) << 2);
  let valueAt = values + ((<usize>int(offsets, i)) << 2);
  const last = indices + ((<usize>int(offsets, i + 1)) << 2);
  for (; at < last; at += 4, valueAt += 4) {
    const line = columns + ((<usize>load<i32>(at)) << 6);
    const x = <f64>load<f32>(valueAt) * inverseTotalWeight;
    const w = load<f64>(line);
    const slope = loss.conjugateDerivative(weighted ? -(alpha * inverse) : -alpha, y, parameter);
    let weightGradient: f64;
    let alphaGradient: f64;
    if (svrg) {
      const w0 = load<f64>(line, SNAPSHOT);
      weightGradient =
        (l1 * (sign(w) - sign(w0)) + l2 * (w - w0)) * load<f64>(line, SHARE) - (alpha - alpha0) * x + load<f64>(line, GRADIENT);
      alphaGradient = (slope - slope0) * share - (w - w0) * x + gradient0;
    } else {
      weightGradient = (l1 * sign(w) + l2 * w) * load<f64>(line, SHARE) - alpha * x;
      alphaGradient = slope * share - w * x;
    }
    let squares: f64 = 0;
    if (adagrad) {
      squares = load<f64>(line, SQUARES) + weightGradient * weightGradient;
      store<f64>(line, squares, SQUARES);
      accumulator += alphaGradient * alphaGradient;
    }
    // w goes down its gradient, α up.
    store<f64>(
      line,
      moved(adagrad, w, -weightStep, weightGradient, squares, load<f64>(line, LOW), load<f64>(line, HIGH)),
    );
    alpha = moved(adagrad, alpha, rowStep, alphaGradient, accumulator, low, high);
  }
  setDouble(alphas, i, alpha);
  setDouble(accumulators, i, accumulator);
}

// One inlined body, four specialisations: adagrad and svrg are constants at every call below.
// @ts-ignore: decorator
@inline
function saddle(
  adagrad: bool, svrg: bool,
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, alphas: usize, accumulators: usize, inverseCounts: usize, lows: usize, highs: usize,
  snapshots: usize, snapshotGradients: usize, columns: usize,
  weightStep: f64, alphaStep: f64, l1: f64, l2: f64, inverseTotalWeight: f64, parameter: f64,
): void {
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const c = double(rowWeights, i);
    if (c == 1) {
      visitRow(
        false, adagrad, svrg, c, i, offsets, indices, values, labels, alphas, accumulators, inverseCounts,
        lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseTotalWeight, parameter,
      );
    } else {
      visitRow(
        true, adagrad, svrg, c, i, offsets, indices, values, labels, alphas, accumulators, inverseCounts,
        lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseTotalWeight, parameter,
      );
    }
  }
}

export function saddleRows(
  offsets: usize, indices: usize, values: usize, order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, alphas: usize, accumulators: usize, inverseCounts: usize, lows: usize, highs: usize,
  snapshots: usize, snapshotGradients: usize, columns: usize,
  weightStep: f64, alphaStep: f64, adagrad: i32, svrg: i32, l1: f64, l2: f64,
  inverseTotalWeight: f64, parameter: f64,
): void {
  if (adagrad != 0) {
    if (svrg != 0) {
      saddle(
        true, true, offsets, indices, values, order, begin, end, labels, rowWeights, alphas, accumulators, inverseCounts,
        lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseTotalWeight, parameter,
      );
    } else {
      saddle(
        true, false, offsets, indices, values, order, begin, end, labels, rowWeights, alphas, accumulators, inverseCounts,
        lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseTotalWeight, parameter,
      );
    }
  } else if (svrg != 0) {
    saddle(
      false, true, offsets, indices, values, order, begin, end, labels, rowWeights, alphas, accumulators, inverseCounts,
      lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseTotalWeight, parameter,
    );
  } else {
    saddle(
      false, false, offsets, indices, values, order, begin, end, labels, rowWeights, alphas, accumulators, inverseCounts,
      lows, highs, snapshots, snapshotGradients, columns, weightStep, alphaStep, l1, l2, inverseTotalWeight, parameter,
    );
  }
}
