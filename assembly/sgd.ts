// Stochastic gradient descent. Twin of src/solvers/kernels/plain/stochastic.ts: the same operations in the same order.
import { decayed, meanOfDecay } from "../src/math/decay.ts";
import { clamp } from "../src/math/scalars.ts";
import * as loss from "./loss";
import { double, int, setDouble } from "./memory";

// Bytes from the start of a column's line, which begins with w: see sgdSlot.
const SQUARES: usize = 8;
const RATE: usize = 16;
const SEEN: usize = 24;
const SUM: usize = 32;
const L1: usize = 40;
const L2: usize = 48;
const SCALE: usize = 56;
// And of a worker's clock, which begins with the time: see sgdClock.
const AGE: usize = 8;
const WORK: usize = 16;

// @ts-ignore: decorator
@inline
function lineOf(lines: usize, start: i32, at: usize): usize {
  return lines + ((<usize>(start + load<i32>(at))) << 6);
}

// @ts-ignore: decorator
@inline
function caughtUp(line: usize, time: f64): f64 {
  const before = load<f64>(line);
  const elapsed = time - load<f64>(line, SEEN);
  if (elapsed == 0) return before;
  store<f64>(line, time, SEEN);
  if (before == 0) return before;
  const missed = load<f64>(line, RATE) * elapsed;
  const l1 = load<f64>(line, L1);
  const l2 = load<f64>(line, L2);
  const now = decayed(before, missed, l1, l2);
  store<f64>(line, now);
  store<f64>(line, load<f64>(line, SUM) + elapsed * meanOfDecay(before, now, missed, l1, l2), SUM);
  return now;
}

// One inlined body, four specialisations: adagrad and bounded are constants at every call below.
// @ts-ignore: decorator
@inline
function descend(
  adagrad: bool, bounded: bool, rowCount: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize,
  order: usize, begin: i32, end: i32, labels: usize, rowWeights: usize, alphas: usize, lines: usize, clock: usize,
  stepSize: f64, aging: f64, rowShare: f64, low: f64, high: f64, parameter: f64,
): void {
  const stride = rowCount + 1;
  let time = load<f64>(clock);
  let age = load<f64>(clock, AGE);
  let work = load<f64>(clock, WORK);
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    let u: f64 = 0;
    let entries: i32 = 0;
    for (let block = 0, from = i; block < blocks; block++, from += stride) {
      const first = int(offsets, from);
      const last = int(offsets, from + 1);
      const start = int(starts, block);
      entries += last - first;
      let at = indices + ((<usize>first) << 2);
      let valueAt = values + ((<usize>first) << 2);
      const stop = indices + ((<usize>last) << 2);
      for (; at < stop; at += 4, valueAt += 4) {
        u += caughtUp(lineOf(lines, start, at), time) * <f64>load<f32>(valueAt);
      }
    }
    const c = double(rowWeights, i);
    const derivative: f64 = c == 0 ? 0 : loss.derivative(u, double(labels, i), parameter);
    const slope = derivative * (c * rowShare);
    const eta: f64 = adagrad ? 1 : stepSize / Math.sqrt(age);
    setDouble(alphas, i, 0 - c * derivative);
    work += <f64>entries;
    time += eta;
    age += aging;
    if (slope == 0) continue;
    work += <f64>entries;
    for (let block = 0, from = i; block < blocks; block++, from += stride) {
      const start = int(starts, block);
      let at = indices + ((<usize>int(offsets, from)) << 2);
      let valueAt = values + ((<usize>int(offsets, from)) << 2);
      const stop = indices + ((<usize>int(offsets, from + 1)) << 2);
      for (; at < stop; at += 4, valueAt += 4) {
        const line = lineOf(lines, start, at);
        const gradient = slope * <f64>load<f32>(valueAt);
        let rate = eta;
        if (adagrad) {
          const squares = load<f64>(line, SQUARES) + gradient * gradient;
          if (!(squares > 0)) continue;
          rate = load<f64>(line, SCALE) / Math.sqrt(squares);
          store<f64>(line, squares, SQUARES);
          store<f64>(line, rate, RATE);
        }
        const next = load<f64>(line) - rate * gradient;
        // The flow of the penalty leads to 0, which is in the box: only a step can leave it.
        if (bounded && load<f64>(line, L1) + load<f64>(line, L2) > 0) store<f64>(line, clamp(next, low, high));
        else store<f64>(line, next);
      }
    }
  }
  store<f64>(clock, time);
  store<f64>(clock, age, AGE);
  store<f64>(clock, work, WORK);
}

export function sgdRows(
  rowCount: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize,
  order: usize, begin: i32, end: i32, labels: usize, rowWeights: usize, alphas: usize, lines: usize, clock: usize,
  adagrad: i32, stepSize: f64, aging: f64, rowShare: f64, parameter: f64,
): void {
  if (adagrad != 0) {
    descend(
      true, false, rowCount, blocks, offsets, indices, values, starts, order, begin, end, labels, rowWeights, alphas, lines,
      clock, stepSize, aging, rowShare, 0, 0, parameter,
    );
  } else {
    descend(
      false, false, rowCount, blocks, offsets, indices, values, starts, order, begin, end, labels, rowWeights, alphas, lines,
      clock, stepSize, aging, rowShare, 0, 0, parameter,
    );
  }
}

export function sgdRowsBounded(
  rowCount: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize,
  order: usize, begin: i32, end: i32, labels: usize, rowWeights: usize, alphas: usize, lines: usize, clock: usize,
  adagrad: i32, stepSize: f64, aging: f64, rowShare: f64, parameter: f64, low: f64, high: f64,
): void {
  if (adagrad != 0) {
    descend(
      true, true, rowCount, blocks, offsets, indices, values, starts, order, begin, end, labels, rowWeights, alphas, lines,
      clock, stepSize, aging, rowShare, low, high, parameter,
    );
  } else {
    descend(
      false, true, rowCount, blocks, offsets, indices, values, starts, order, begin, end, labels, rowWeights, alphas, lines,
      clock, stepSize, aging, rowShare, low, high, parameter,
    );
  }
}

export function sgdSettle(lines: usize, held: usize, count: i32, clock: usize): void {
  const time = load<f64>(clock);
  for (let k = 0; k < count; k++) {
    const line = lines + ((<usize>int(held, k)) << 6);
    caughtUp(line, time);
    store<f64>(line, 0, SEEN);
  }
  store<f64>(clock, 0);
}
