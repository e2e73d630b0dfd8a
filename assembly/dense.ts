// Products of dense rows, and of sparse rows into a dense matrix; triangular solves. Twin of src/solvers/kernels/plain/dense.ts.
import { addDouble, double, float, int, setDouble } from "./memory";

/** Columns of the result that are worked on together: their rows of `a` stay in the cache. */
const WIDTH = 64;

// @ts-ignore: decorator
@inline
function at(base: usize, row: i32, stride: i32): usize {
  return base + ((<usize>row * <usize>stride) << 3);
}

// @ts-ignore: decorator
@inline
function pairSum(sum: v128): f64 {
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** One entry: the sums of the even and of the odd terms, then the last of an odd number. */
function product(x: usize, y: usize, count: i32): f64 {
  let sum = f64x2.splat(0);
  let k = 0;
  for (; k + 2 <= count; k += 2) {
    const here = <usize>k << 3;
    sum = f64x2.add(sum, f64x2.mul(v128.load(x + here), v128.load(y + here)));
  }
  const even = pairSum(sum);
  return k < count ? even + double(x, k) * double(y, k) : even;
}

export function addProducts(
  a: usize, stride: i32, begin: i32, end: i32, count: i32, c: usize, rowStride: i32, sign: f64,
): void {
  for (let first = 0; first < end; first += WIDTH) {
    for (let i = max(begin, first); i < end; i += 4) {
      const rows = min(4, end - i);
      const last = min(first + WIDTH, i + rows);
      for (let j = first; j < last; j += 2) {
        if (rows == 4 && j + 1 <= i && j + 1 < last && (count & 1) == 0) {
          addTile(at(a, i, stride), at(a, j, stride), stride << 3, count, at(c, i - begin, rowStride) + (<usize>j << 3), rowStride << 3, sign);
          continue;
        }
        for (let row = i; row < i + rows; row++) {
          for (let column = j; column < min(j + 2, last); column++) {
            if (column > row) continue;
            addDouble(at(c, row - begin, rowStride), column, sign * product(at(a, row, stride), at(a, column, stride), count));
          }
        }
      }
    }
  }
}

/** Four rows and two columns of the result: eight sums at a time. Strides are in bytes. */
function addTile(x: usize, y: usize, stride: usize, count: i32, c: usize, rowStride: usize, sign: f64): void {
  let s00 = f64x2.splat(0);
  let s01 = f64x2.splat(0);
  let s10 = f64x2.splat(0);
  let s11 = f64x2.splat(0);
  let s20 = f64x2.splat(0);
  let s21 = f64x2.splat(0);
  let s30 = f64x2.splat(0);
  let s31 = f64x2.splat(0);
  const x1 = x + stride;
  const x2 = x1 + stride;
  const x3 = x2 + stride;
  const y1 = y + stride;
  const end = <usize>count << 3;
  for (let k: usize = 0; k < end; k += 16) {
    const left = v128.load(y + k);
    const right = v128.load(y1 + k);
    let row = v128.load(x + k);
    s00 = f64x2.add(s00, f64x2.mul(row, left));
    s01 = f64x2.add(s01, f64x2.mul(row, right));
    row = v128.load(x1 + k);
    s10 = f64x2.add(s10, f64x2.mul(row, left));
    s11 = f64x2.add(s11, f64x2.mul(row, right));
    row = v128.load(x2 + k);
    s20 = f64x2.add(s20, f64x2.mul(row, left));
    s21 = f64x2.add(s21, f64x2.mul(row, right));
    row = v128.load(x3 + k);
    s30 = f64x2.add(s30, f64x2.mul(row, left));
    s31 = f64x2.add(s31, f64x2.mul(row, right));
  }
  addDouble(c, 0, sign * pairSum(s00));
  addDouble(c, 1, sign * pairSum(s01));
  addDouble(c + rowStride, 0, sign * pairSum(s10));
  addDouble(c + rowStride, 1, sign * pairSum(s11));
  addDouble(c + 2 * rowStride, 0, sign * pairSum(s20));
  addDouble(c + 2 * rowStride, 1, sign * pairSum(s21));
  addDouble(c + 3 * rowStride, 0, sign * pairSum(s30));
  addDouble(c + 3 * rowStride, 1, sign * pairSum(s31));
}

export function addRowProducts(
  rows: i32, _blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize,
  block: i32, scales: usize, gram: usize, stride: i32,
): void {
  const own = block * (rows + 1);
  const start = int(starts, block);
  for (let i = 0; i < rows; i++) {
    const scale = double(scales, i);
    if (scale == 0) continue;
    const first = int(offsets, own + i);
    const last = int(offsets, own + i + 1);
    for (let k = first; k < last; k++) {
      const here = int(indices, k);
      const factor = scale * float(values, k);
      const target = at(gram, here, stride);
      const column = gram + (<usize>(start + here) << 3);
      for (let b = 0; b < block; b++) {
        const before = target + (<usize>int(starts, b) << 3);
        const to = int(offsets, b * (rows + 1) + i + 1);
        for (let n = int(offsets, b * (rows + 1) + i); n < to; n++) {
          addDouble(before, int(indices, n), factor * float(values, n));
        }
      }
      for (let n = first; n <= k; n++) {
        const there = int(indices, n);
        // Without a branch: which one is larger cannot be foreseen.
        const entry = select<usize>(target + (<usize>(start + there) << 3), at(column, there, stride), there <= here);
        addDouble(entry, 0, factor * float(values, n));
      }
    }
  }
}

export function addColumnProducts(
  rowOffsets: usize, rowIndices: usize, rowValues: usize,
  offsets: usize, indices: usize, values: usize, places: usize,
  scales: usize, begin: i32, end: i32, gram: usize, stride: i32,
): void {
  for (let j = begin; j < end; j++) {
    const target = at(gram, j - begin, stride);
    const last = int(offsets, j + 1);
    for (let k = int(offsets, j); k < last; k++) {
      const i = int(indices, k);
      const factor = double(scales, i) * float(values, k);
      if (factor == 0) continue;
      const to = int(places, k);
      for (let n = int(rowOffsets, i); n <= to; n++) {
        addDouble(target, int(rowIndices, n), factor * float(rowValues, n));
      }
    }
  }
}

/** Rows that are solved in turn, so that none waits for its last entry. */
const TOGETHER = 8;

export function solveRows(matrix: usize, size: i32, first: i32, end: i32, from: i32, to: i32): void {
  const begin = <usize>first << 3;
  for (let group = from; group < to; group += TOGETHER) {
    const last = min(to, group + TOGETHER);
    for (let j = first; j < end; j++) {
      const other = at(matrix, j, size);
      const pivot = double(other, j);
      for (let i = group; i < last; i++) {
        const row = at(matrix, i, size);
        setDouble(row, j, (double(row, j) - product(row + begin, other + begin, j - first)) / pivot);
      }
    }
  }
}

export function solveFactor(matrix: usize, size: i32, x: usize): void {
  for (let i = 0; i < size; i++) {
    const row = at(matrix, i, size);
    setDouble(x, i, (double(x, i) - product(row, x, i)) / double(row, i));
  }
  for (let i = size - 1; i >= 0; i--) {
    const row = at(matrix, i, size);
    const value = double(x, i) / double(row, i);
    setDouble(x, i, value);
    const both = f64x2.splat(value);
    let k = 0;
    for (; k + 2 <= i; k += 2) {
      const here = <usize>k << 3;
      v128.store(x + here, f64x2.sub(v128.load(x + here), f64x2.mul(both, v128.load(row + here))));
    }
    if (k < i) setDouble(x, k, double(x, k) - value * double(row, k));
  }
}
