// Products of the data with eight vectors at a time. Twin of src/solvers/kernels/plain/panels.ts.
import { int } from "./memory";

// @ts-ignore: decorator
@inline
function valueOf(values: usize, k: i32): v128 {
  return f64x2.splat(<f64>load<f32>(values + (<usize>k << 2)));
}

// @ts-ignore: decorator
@inline
function put(target: usize, stride: usize, pair: v128): void {
  store<f64>(target, f64x2.extract_lane(pair, 0));
  store<f64>(target + stride, f64x2.extract_lane(pair, 1));
}

// @ts-ignore: decorator
@inline
function take(source: usize, stride: usize): v128 {
  return f64x2.replace_lane(f64x2.splat(load<f64>(source)), 1, load<f64>(source + stride));
}

export function gatherPanel(
  offsets: usize, indices: usize, values: usize, count: i32, panel: usize,
  results: usize, sizes: usize, stride: i32,
): void {
  const step = <usize>stride << 3;
  for (let i = 0; i < count; i++) {
    let s0 = f64x2.splat(0);
    let s1 = f64x2.splat(0);
    let s2 = f64x2.splat(0);
    let s3 = f64x2.splat(0);
    let t0 = f64x2.splat(0);
    let t1 = f64x2.splat(0);
    let t2 = f64x2.splat(0);
    let t3 = f64x2.splat(0);
    const last = int(offsets, i + 1);
    for (let k = int(offsets, i); k < last; k++) {
      const x = valueOf(values, k);
      const from = panel + (<usize>int(indices, k) << 6);
      let term = f64x2.mul(x, v128.load(from));
      s0 = f64x2.add(s0, term);
      t0 = f64x2.add(t0, f64x2.abs(term));
      term = f64x2.mul(x, v128.load(from, 16));
      s1 = f64x2.add(s1, term);
      t1 = f64x2.add(t1, f64x2.abs(term));
      term = f64x2.mul(x, v128.load(from, 32));
      s2 = f64x2.add(s2, term);
      t2 = f64x2.add(t2, f64x2.abs(term));
      term = f64x2.mul(x, v128.load(from, 48));
      s3 = f64x2.add(s3, term);
      t3 = f64x2.add(t3, f64x2.abs(term));
    }
    const at = <usize>i << 3;
    put(results + at, step, s0);
    put(results + at + 2 * step, step, s1);
    put(results + at + 4 * step, step, s2);
    put(results + at + 6 * step, step, s3);
    put(sizes + at, step, t0);
    put(sizes + at + 2 * step, step, t1);
    put(sizes + at + 4 * step, step, t2);
    put(sizes + at + 6 * step, step, t3);
  }
}

// @ts-ignore: decorator
@inline
function addTo(target: usize, size: usize, term: v128): void {
  v128.store(target, f64x2.add(v128.load(target), term));
  v128.store(size, f64x2.add(v128.load(size), f64x2.abs(term)));
}

export function scatterPanel(
  offsets: usize, indices: usize, values: usize, count: i32, sources: usize, stride: i32,
  panel: usize, sizes: usize,
): void {
  const step = <usize>stride << 3;
  for (let i = 0; i < count; i++) {
    const at = sources + (<usize>i << 3);
    const a0 = take(at, step);
    const a1 = take(at + 2 * step, step);
    const a2 = take(at + 4 * step, step);
    const a3 = take(at + 6 * step, step);
    const last = int(offsets, i + 1);
    for (let k = int(offsets, i); k < last; k++) {
      const x = valueOf(values, k);
      const line = <usize>int(indices, k) << 6;
      const target = panel + line;
      const size = sizes + line;
      addTo(target, size, f64x2.mul(x, a0));
      addTo(target + 16, size + 16, f64x2.mul(x, a1));
      addTo(target + 32, size + 32, f64x2.mul(x, a2));
      addTo(target + 48, size + 48, f64x2.mul(x, a3));
    }
  }
}
