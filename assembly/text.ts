/**
 * Reads LIBSVM text. A pair with few digits, which most are, is read from 16 bytes at a time and
 * without a branch per digit; all others digit by digit. What is rare is left to the caller, whose
 * functions may throw. src/data/text/libsvm.ts is the oracle, to the last bit.
 */

/** Reads a label into its slot; returns the position behind it. */
// @ts-ignore: decorator
@external("text", "label")
declare function readLabel(start: usize, row: i32): usize;

/** Sorts and checks the entries from … of a row; returns the new end. */
// @ts-ignore: decorator
@external("text", "order")
declare function orderRow(from: i32, end: i32): i32;

/** The float32 nearest to a decimal, without its sign. */
// @ts-ignore: decorator
@external("text", "round")
declare function roundText(start: usize, end: usize): f64;

/** Throws an error about the pair that starts there. */
// @ts-ignore: decorator
@external("text", "fault")
declare function reject(token: usize): void;

/** What has been read so far. */
export let entries: i32 = 0;
export let rows: i32 = 0;
export let line: i32 = 0;
export let qidLines: i32 = 0;
/** Largest index of the rows that are in order. */
export let largest: i32 = -1;

let qidLine: i32 = 0;
let powers: usize = 0;
let indices: usize = 0;
let values: usize = 0;
/** Of the row: its last index, and whether it has to be ordered. */
let last: i32 = -1;
let irregular: bool = false;
/** Of the last pair. */
let index: i32 = 0;
let value: f32 = 0;

const largestIndex: i64 = 2147483646;
const powerZero: i64 = 308;
const malformed: usize = 0;
const none: i32 = -1;

// @ts-ignore: decorator
@inline
function at(position: usize): i32 {
  return <i32>load<u8>(position);
}

/** Whether a byte may follow a token: blank, tab, line end or the start of a comment. */
// @ts-ignore: decorator
@inline
function endsToken(byte: i32): bool {
  return byte == 32 || byte == 10 || byte == 13 || byte == 9 || byte == 35;
}

/** Bit k is set where byte k of 16 is no digit. */
// @ts-ignore: decorator
@inline
function otherBytes(position: usize): i32 {
  const digits = i8x16.sub(v128.load(position), i8x16.splat(48));
  return i8x16.bitmask(i8x16.gt_u(digits, i8x16.splat(9)));
}

/** The number that `count` digits are, 1 to 8 of them. */
// @ts-ignore: decorator
@inline
function digitsAt(position: usize, count: i32): i32 {
  let word = (load<u64>(position) & 0x0f0f0f0f0f0f0f0f) << (64 - 8 * count);
  word = (word * 2561) >> 8;
  word = ((word & 0x00ff00ff00ff00ff) * 6553601) >> 16;
  return <i32>(((word & 0x0000ffff0000ffff) * 42949672960001) >> 32);
}

// @ts-ignore: decorator
@inline
function power(exponent: i64): f64 {
  return load<f64>(powers + (<usize>(exponent + powerZero) << 3));
}

/**
 * Reads whole lines. `powersOfTen` has 10^(k − 308), `texts` says that every label is left to the
 * caller; 16 bytes behind the end must be readable.
 */
export function parse(
  start: usize,
  end: usize,
  powersOfTen: usize,
  toIndices: usize,
  toValues: usize,
  labels: usize,
  offsets: usize,
  base: i32,
  texts: bool,
): void {
  powers = powersOfTen;
  indices = toIndices;
  values = toValues;
  entries = 0;
  rows = 0;
  line = 0;
  qidLines = 0;
  qidLine = 0;
  largest = -1;
  store<i32>(offsets, 0);
  for (let position = start; position < end; position += 1) {
    line += 1;
    position = skipBlanks(position);
    if (at(position) == 35) position = lineEnd(position);
    if (at(position) == 10) continue;
    position = texts ? readLabel(position, rows) : scanLabel(position, labels);
    const from = entries;
    last = -1;
    irregular = false;
    position = scanPairs(position, base);
    if (irregular) entries = orderRow(from, entries);
    else if (last > largest) largest = last;
    rows += 1;
    store<i32>(offsets + (<usize>rows << 2), entries);
  }
}

// @ts-ignore: decorator
@inline
function skipBlanks(position: usize): usize {
  while (at(position) == 32 || at(position) == 9 || at(position) == 13) position += 1;
  return position;
}

function lineEnd(position: usize): usize {
  while (at(position) != 10) position += 1;
  return position;
}

/** Most labels are a sign and one digit; −0 is the label 0. */
// @ts-ignore: decorator
@inline
function scanLabel(start: usize, labels: usize): usize {
  const sign = at(start);
  const position = sign == 45 || sign == 43 ? start + 1 : start;
  const digit = at(position) - 48;
  if (<u32>digit > 9 || !endsToken(at(position + 1))) return readLabel(start, rows);
  store<f64>(labels + (<usize>rows << 3), <f64>(sign == 45 ? -digit : digit));
  return position + 1;
}

/**
 * Reads the pairs of one row; returns the position of the line end. A common pair fits into 32 bytes
 * and has an index of up to 8 digits and a value of up to 8 digits before and behind the point, 9 in
 * total, with neither a plus nor an exponent: the quotient of two exact float64 rounds to the right
 * float32 (see src/data/text/decimal.ts). The bits of the bytes that are no digits tell where its
 * pieces end, so that the next pair does not wait for this one's numbers.
 */
function scanPairs(start: usize, base: i32): usize {
  let position = start;
  let entry = entries;
  let previous = -1;
  let unordered = false;
  if (at(position) == 32) position += 1;
  for (;;) {
    let ending: i32 = 0;
    const window = <u64>otherBytes(position) | (<u64>otherBytes(position + 16) << 16) | (1 << 32);
    const colon = <i32>ctz(window);
    let rest = window & (window - 1);
    const negative = (rest >> <u64>(colon + 1)) & 1;
    rest &= rest - negative;
    const first = colon + 1 + <i32>negative;
    const point = <i32>ctz(rest);
    const whole = point - first;
    let end = point;
    let fraction = 0;
    if (at(position + <usize>point) == 46) {
      end = <i32>ctz(rest & (rest - 1));
      fraction = end - point - 1;
    }
    const hasPoint = <i32>(end > point);
    if (
      <u32>(colon - 1) < 8 &&
      <u32>(whole - 1) < 8 &&
      <u32>(fraction - hasPoint) < 8 &&
      whole + fraction <= 9 &&
      end < 32 &&
      at(position + <usize>colon) == 58 &&
      (at(position + <usize>(colon + 1)) == 45) == <bool>negative &&
      ((ending = at(position + <usize>end)) == 32 || endsToken(ending))
    ) {
      const scale = power(fraction);
      const head = position + <usize>first;
      let mantissa = <f64>(whole == 1 ? at(head) - 48 : digitsAt(head, whole));
      if (hasPoint) {
        mantissa = mantissa * scale + <f64>digitsAt(position + <usize>(point + 1), fraction);
      }
      index = digitsAt(position, colon);
      value = <f32>((mantissa / scale) * <f64>(1 - 2 * <i32>negative));
      position += <usize>end;
    } else {
      if (at(position) == 10) break;
      index = none;
      position = rarePair(position);
      if (index == none) continue;
    }
    const column = index - base;
    const slot = <usize>entry << 2;
    store<i32>(indices + slot, column);
    store<f32>(values + slot, value);
    // Also true for index 0 where indices start at 1: it has become −1.
    unordered = unordered || column <= previous || value == 0;
    previous = column;
    entry += 1;
    // A branch, which is foreseen: the next pair need not wait for the byte.
    if (ending == 32) position += 1;
    else if (ending == 10) break;
  }
  entries = entry;
  last = previous;
  irregular = unordered;
  return position;
}

/** Blanks, a comment, a qid: token or any pair, whose index is then known; returns the position behind it. */
function rarePair(token: usize): usize {
  const behindBlanks = skipBlanks(token);
  if (behindBlanks > token) return behindBlanks;
  if (at(token) == 35) return lineEnd(token);
  if (at(token) == 113 && at(token + 1) == 105 && at(token + 2) == 100 && at(token + 3) == 58) {
    if (qidLine != line) qidLines += 1;
    qidLine = line;
    return tokenEnd(token);
  }
  let number: i64 = 0;
  let position = token;
  for (let digit = at(position) - 48; <u32>digit <= 9; digit = at(position) - 48) {
    if (number <= largestIndex) number = number * 10 + <i64>digit;
    position += 1;
  }
  if (position == token || at(position) != 58 || number > largestIndex) reject(token);
  position = longValue(position + 1);
  if (position == malformed) reject(token);
  index = <i32>number;
  return position;
}

function tokenEnd(position: usize): usize {
  while (at(position) > 32 && at(position) != 35) position += 1;
  return position;
}

/** Behind the exponent; `exponent` is what it says, at most 10^12. */
let exponent: i64 = 0;

/** Any decimal, by the same steps as scanLongFloat32 of src/data/text/decimal.ts. */
function longValue(start: usize): usize {
  let position = start;
  let byte = at(position);
  const negative = byte == 45;
  if (negative || byte == 43) position += 1;
  let mantissa: f64 = 0;
  let significant: i64 = 0;
  let digits: i64 = 0;
  let truncated = false;
  let pastPoint = false;
  exponent = 0;
  for (; ; position += 1) {
    byte = at(position);
    const digit = byte - 48;
    if (<u32>digit <= 9) {
      digits += 1;
      if (significant > 0 || digit > 0) significant += 1;
      if (significant <= 15) {
        mantissa = mantissa * 10 + <f64>digit;
        if (pastPoint) exponent -= 1;
      } else {
        truncated = truncated || digit > 0;
        if (!pastPoint) exponent += 1;
      }
    } else if (byte == 46 && !pastPoint) pastPoint = true;
    else break;
  }
  if (digits == 0) return malformed;
  if ((byte | 32) == 101) position = scanExponent(position + 1);
  if (position == malformed || !endsToken(at(position))) return malformed;
  const magnitude = nearest(mantissa, truncated, start, position);
  if (magnitude == Infinity) return malformed;
  value = <f32>(negative ? -magnitude : magnitude);
  return position;
}

function scanExponent(start: usize): usize {
  let position = start;
  const negative = at(position) == 45;
  if (negative || at(position) == 43) position += 1;
  const first = position;
  let scanned: i64 = 0;
  for (let digit = at(position) - 48; <u32>digit <= 9; digit = at(position) - 48) {
    scanned = min<i64>(scanned * 10 + <i64>digit, 1000000000000);
    position += 1;
  }
  if (position == first) return malformed;
  exponent += negative ? -scanned : scanned;
  return position;
}

/** The float32 nearest to mantissa · 10^exponent, and less than one more if truncated. */
function nearest(mantissa: f64, truncated: bool, start: usize, end: usize): f64 {
  if (mantissa == 0) return 0;
  const slot = exponent + powerZero;
  if (slot < 0 || slot >= 617) return roundText(start, end);
  const product = mantissa * power(exponent);
  const upper = truncated ? (mantissa + 1) * power(exponent) : product;
  // Factors that reach past every number whose float64 image is off by at most 2^-52.
  const low = <f32>(product * (1 - 4.440892098500626e-16));
  const high = <f32>(upper * (1 + 4.440892098500626e-16));
  return low == high ? <f64>low : roundText(start, end);
}
