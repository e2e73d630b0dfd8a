// Rows of one worker across its cells. Twin of src/solvers/kernels/plain/rows.ts.
import { addDouble, double, float, int, setDouble, setInt } from "./memory";
import { stepRow } from "./row-step";
import { dualStep, inverseOf } from "./weighted";

// Columns of a block count from its start.
// @ts-ignore: decorator
@inline
function dot(
  i: i32, stride: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize, weights: usize, start: f64,
): f64 {
  let u = start;
  for (let block = 0; block < blocks; block++) {
    const at = block * stride + i;
    const last = int(offsets, at + 1);
    const part = weights + ((<usize>int(starts, block)) << 3);
    for (let k = int(offsets, at); k < last; k++) {
      u += double(part, int(indices, k)) * float(values, k);
    }
  }
  return u;
}

// @ts-ignore: decorator
@inline
function update(
  i: i32, stride: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize, inverse: usize,
  weights: usize, scaled: f64,
): void {
  for (let block = 0; block < blocks; block++) {
    const at = block * stride + i;
    const last = int(offsets, at + 1);
    const start = (<usize>int(starts, block)) << 3;
    for (let k = int(offsets, at); k < last; k++) {
      const j = int(indices, k);
      addDouble(weights + start, j, scaled * float(values, k) * double(inverse + start, j));
    }
  }
}

export function sweepWholeRows(
  rowCount: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize,
  order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, counts: usize,
  inverseTotalWeight: f64, inverse: usize, weights: usize, parameter: f64, stats: usize,
): void {
  const stride = rowCount + 1;
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const c = double(rowWeights, i);
    if (c == 0) continue;
    const u = dot(i, stride, blocks, offsets, indices, values, starts, weights, 0);
    const alpha = double(alphas, i);
    const q = double(norms, i) * inverseTotalWeight;
    const next = dualStep(c, inverseOf(c), alpha, u, q, double(labels, i), parameter);
    const delta = next - alpha;
    addDouble(stats, 0, (delta != 0 ? <f64>2 : <f64>1) * <f64>int(counts, i));
    if (delta == 0) continue;
    setDouble(alphas, i, next);
    update(i, stride, blocks, offsets, indices, values, starts, inverse, weights, delta * inverseTotalWeight);
  }
}

export function stepWholeRows(
  rowCount: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize,
  order: usize, begin: i32, end: i32, margins: usize,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, deltaScale: f64, shrink: i32, parameter: f64,
  pull: usize, drift: usize, units: usize, deltas: usize, stats: usize,
): i32 {
  const stride = rowCount + 1;
  let count = 0;
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    const u = dot(i, stride, blocks, offsets, indices, values, starts, drift, double(margins, i));
    const delta = stepRow(
      i, u, labels, rowWeights, alphas, norms, collisions, counts, levels, skips,
      damping, inverseTotalWeight, shrink, parameter, stats,
    );
    addDouble(stats, 0, (delta != 0 ? <f64>2 : <f64>1) * <f64>int(counts, i));
    if (delta == 0) continue;
    update(i, stride, blocks, offsets, indices, values, starts, pull, drift, delta * inverseTotalWeight);
    setInt(units, count, i);
    setDouble(deltas, count, delta * deltaScale);
    count++;
  }
  return count;
}
