// Coarse stages of row mode. Twin of src/solvers/kernels/plain/stages.ts.
import { double, int, setDouble } from "./memory";
import { at, dot, updatePulled } from "./row-products";
import { stepRow } from "./row-step";

export function sweepStage(
  rowCount: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize,
  order: usize, begin: i32, end: i32,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, deltaScale: f64, shrink: i32, parameter: f64,
  pull: usize, hot: usize, weights: usize, stats: usize,
): void {
  const stride = rowCount + 1;
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    let u: f64 = 0;
    for (let block = 0; block < blocks; block++) {
      const unit = block * stride + i;
      u = dot(int(offsets, unit), int(offsets, unit + 1), indices, values, at(weights, int(starts, block)), u);
    }
    const delta = stepRow(
      i, u, labels, rowWeights, alphas, norms, collisions, counts, levels, skips,
      damping, inverseTotalWeight, shrink, parameter, stats,
    );
    if (delta == 0) continue;
    const scaled = delta * deltaScale;
    for (let block = 0; block < blocks; block++) {
      const unit = block * stride + i;
      const start = int(starts, block);
      updatePulled(
        int(offsets, unit), int(offsets, unit + 1), indices, values, at(weights, start), scaled, at(pull, start), int(hot, block),
      );
    }
  }
}

// @ts-ignore: decorator
@inline
function previous(worker: i32, workers: i32): i32 {
  return worker == 0 ? workers - 1 : worker - 1;
}

export function addChanges(
  target: usize, base: usize, copies: usize, stride: i32, workers: i32, first: i32, end: i32, share: usize, hot: i32,
): void {
  const evenEnd = end & -2;
  let j = 0;
  for (; j < evenEnd; j += 2) {
    const before = v128.load(at(base, j));
    const part = v128.load64_lane(at(share, j + 1 < hot ? j + 1 : hot), v128.load64_zero(at(share, j < hot ? j : hot)), 1);
    let sum = v128.load(at(target, j));
    for (let k = 0, worker = first; k < workers; k++, worker = previous(worker, workers)) {
      sum = f64x2.add(sum, f64x2.mul(f64x2.sub(v128.load(at(copies, worker * stride + j)), before), part));
    }
    v128.store(at(target, j), sum);
  }
  for (; j < end; j++) {
    const before = double(base, j);
    const part = double(share, j < hot ? j : hot);
    let sum = double(target, j);
    for (let k = 0, worker = first; k < workers; k++, worker = previous(worker, workers)) {
      sum += (double(copies, worker * stride + j) - before) * part;
    }
    setDouble(target, j, sum);
  }
}
