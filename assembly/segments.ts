// Sums in the order that threads, processes and devices share; src/solvers/kernels/segments.ts has it.
// Twin of src/solvers/kernels/plain/segments.ts.
import { double, float, int, setDouble } from "./memory";

const SEGMENT = 512;

// @ts-ignore: decorator
@inline
const PRODUCT = 0;
// @ts-ignore: decorator
@inline
const SQUARE = 1;
// @ts-ignore: decorator
@inline
const DOT = 2;
// @ts-ignore: decorator
@inline
const SUM = 3;

// @ts-ignore: decorator
@inline
function at(base: usize, index: i32): usize {
  return base + ((<usize>index) << 3);
}

/** Term k of a sum. Of vectors `x` and `y` are their addresses, of a unit `x` are indices and `y` values. */
// @ts-ignore: decorator
@inline
function term(kind: i32, k: i32, x: usize, y: usize, source: usize): f64 {
  if (kind == SUM) return double(x, k);
  if (kind == DOT) return double(x, k) * double(y, k);
  const value = float(y, k);
  return (kind == SQUARE ? value * value : value) * double(source, int(x, k));
}

/** Terms k and k + 1. */
// @ts-ignore: decorator
@inline
function pair(kind: i32, k: i32, x: usize, y: usize, source: usize): v128 {
  if (kind == SUM) return v128.load(at(x, k));
  if (kind == DOT) return f64x2.mul(v128.load(at(x, k)), v128.load(at(y, k)));
  const index = x + ((<usize>k) << 2);
  const value = f64x2.promote_low_f32x4(v128.load64_zero(y + ((<usize>k) << 2)));
  const entries = v128.load64_lane(
    at(source, load<i32>(index, 4)), v128.load64_zero(at(source, load<i32>(index))), 1,
  );
  return f64x2.mul(kind == SQUARE ? f64x2.mul(value, value) : value, entries);
}

/** Term k in the first of two lanes: adding 0 to the other changes no bit, as no lane is ever −0. */
// @ts-ignore: decorator
@inline
function single(kind: i32, k: i32, x: usize, y: usize, source: usize): v128 {
  return f64x2.replace_lane(f64x2.splat(0), 0, term(kind, k, x, y, source));
}

/** The eight lanes in one: lane l adds lane l + 4, then l + 2, then l + 1. */
// @ts-ignore: decorator
@inline
function exchange(a: v128, b: v128, c: v128, d: v128): f64 {
  const sum = f64x2.add(f64x2.add(a, c), f64x2.add(b, d));
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** A segment: terms first … last-1, at most 512. */
// @ts-ignore: decorator
@inline
function segment(kind: i32, first: i32, last: i32, x: usize, y: usize, source: usize): f64 {
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let c = f64x2.splat(0);
  let d = f64x2.splat(0);
  let k = first;
  for (; k + 8 <= last; k += 8) {
    a = f64x2.add(a, pair(kind, k, x, y, source));
    b = f64x2.add(b, pair(kind, k + 2, x, y, source));
    c = f64x2.add(c, pair(kind, k + 4, x, y, source));
    d = f64x2.add(d, pair(kind, k + 6, x, y, source));
  }
  const rest = last - k;
  if (rest == 0) return exchange(a, b, c, d);
  if (rest == 1) return exchange(f64x2.add(a, single(kind, k, x, y, source)), b, c, d);
  a = f64x2.add(a, pair(kind, k, x, y, source));
  if (rest == 2) return exchange(a, b, c, d);
  if (rest == 3) return exchange(a, f64x2.add(b, single(kind, k + 2, x, y, source)), c, d);
  b = f64x2.add(b, pair(kind, k + 2, x, y, source));
  if (rest == 4) return exchange(a, b, c, d);
  if (rest == 5) return exchange(a, b, f64x2.add(c, single(kind, k + 4, x, y, source)), d);
  c = f64x2.add(c, pair(kind, k + 4, x, y, source));
  if (rest == 6) return exchange(a, b, c, d);
  return exchange(a, b, c, f64x2.add(d, single(kind, k + 6, x, y, source)));
}

function segmentOf(kind: i32, first: i32, last: i32, x: usize, y: usize, source: usize): f64 {
  if (kind == PRODUCT) return segment(PRODUCT, first, last, x, y, source);
  if (kind == SQUARE) return segment(SQUARE, first, last, x, y, source);
  if (kind == DOT) return segment(DOT, first, last, x, y, source);
  return segment(SUM, first, last, x, y, source);
}

/** Terms first … last-1, more than one segment: the sums of parts of `length` = 512^n terms, summed alike. */
function tree(kind: i32, first: i32, last: i32, length: i32, x: usize, y: usize, source: usize): f64 {
  let a: f64 = 0;
  let b: f64 = 0;
  let c: f64 = 0;
  let d: f64 = 0;
  let e: f64 = 0;
  let f: f64 = 0;
  let g: f64 = 0;
  let h: f64 = 0;
  let lane = 0;
  for (let from = first; from < last;) {
    const to = last - from > length ? from + length : last;
    const sum = length == SEGMENT
      ? segmentOf(kind, from, to, x, y, source)
      : tree(kind, from, to, length / SEGMENT, x, y, source);
    if (lane == 0) a += sum;
    else if (lane == 1) b += sum;
    else if (lane == 2) c += sum;
    else if (lane == 3) d += sum;
    else if (lane == 4) e += sum;
    else if (lane == 5) f += sum;
    else if (lane == 6) g += sum;
    else h += sum;
    lane = (lane + 1) & 7;
    from = to;
  }
  return a + e + (c + g) + (b + f + (d + h));
}

function longSum(kind: i32, first: i32, last: i32, x: usize, y: usize, source: usize): f64 {
  let length = SEGMENT;
  while ((last - first - 1) / SEGMENT >= length) length *= SEGMENT;
  return tree(kind, first, last, length, x, y, source);
}

// @ts-ignore: decorator
@inline
function multiply(
  kind: i32, offsets: usize, indices: usize, values: usize, begin: i32, end: i32, fresh: i32, source: usize, result: usize,
): void {
  let first = int(offsets, begin);
  for (let i = begin; i < end; i++) {
    const last = int(offsets, i + 1);
    const sum = last - first <= SEGMENT
      ? segment(kind, first, last, indices, values, source)
      : longSum(kind, first, last, indices, values, source);
    setDouble(result, i, fresh ? sum : double(result, i) + sum);
    first = last;
  }
}

export function segmentProducts(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, fresh: i32, source: usize, result: usize,
): void {
  multiply(PRODUCT, offsets, indices, values, begin, end, fresh, source, result);
}

export function segmentSquares(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, fresh: i32, source: usize, result: usize,
): void {
  multiply(SQUARE, offsets, indices, values, begin, end, fresh, source, result);
}

export function segmentSum(vector: usize, count: i32): f64 {
  if (count <= SEGMENT) return segment(SUM, 0, count, vector, 0, 0);
  return longSum(SUM, 0, count, vector, 0, 0);
}

export function segmentDot(x: usize, y: usize, count: i32): f64 {
  if (count <= SEGMENT) return segment(DOT, 0, count, x, y, 0);
  return longSum(DOT, 0, count, x, y, 0);
}
