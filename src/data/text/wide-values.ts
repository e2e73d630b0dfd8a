import { scanFloat64 } from './decimal.ts';
import type { ParsedChunk } from './libsvm.ts';

const tab = 9;
const newline = 10;
const carriageReturn = 13;
const space = 32;
const hash = 35;
const zero = 48;
const colon = 58;
const letterQ = 113;

const number = new Float64Array(1);
const word = new BigInt64Array(number.buffer);

/**
 * The values of text that has been parsed, again, as float64. Each one rounds to the float32 that was
 * parsed; values that were added up are that float32.
 */
export function float64Values(
  text: Uint8Array,
  chunk: ParsedChunk,
  zeroBased: boolean,
): Float64Array {
  const bytes = endWithNewline(text);
  const base = zeroBased ? 0 : 1;
  const wide = new Float64Array(new SharedArrayBuffer(8 * chunk.values.length)).fill(NaN);
  let row = 0;
  for (let position = 0; position < bytes.length; position += 1) {
    position = skipBlanks(bytes, position);
    if (bytes[position] !== newline && bytes[position] !== hash) {
      position = skipToken(bytes, position);
      position = readRow(bytes, position, base, chunk, row, wide);
      row += 1;
    }
    position = bytes.indexOf(newline, position);
  }
  return wide;
}

/** Reads the pairs of a row; returns the position of its line end or comment. */
function readRow(
  bytes: Uint8Array,
  start: number,
  base: number,
  { rowOffsets, indices, values }: ParsedChunk,
  row: number,
  wide: Float64Array,
): number {
  const from = rowOffsets[row];
  const to = rowOffsets[row + 1];
  let expected = from;
  let position = skipBlanks(bytes, start);
  while (bytes[position] !== newline && bytes[position] !== hash) {
    if (bytes[position] === letterQ) {
      position = skipBlanks(bytes, skipToken(bytes, position));
      continue;
    }
    let index = 0;
    for (; bytes[position] !== colon; position += 1) index = index * 10 + bytes[position] - zero;
    position = scanFloat64(bytes, position + 1, number, 0);
    // Pairs mostly come in the order in which they are kept.
    const entry =
      indices[expected] === index - base && expected < to
        ? expected
        : find(indices, from, to, index - base);
    // Not found: a zero, which is not kept. Found again: one of several that were added up.
    if (entry >= 0) {
      wide[entry] = Number.isNaN(wide[entry]) ? towards(number[0], values[entry]) : values[entry];
      expected = entry + 1;
    }
    position = skipBlanks(bytes, position);
  }
  return position;
}

/**
 * The float64, or where that rounds to another float32 than the decimal itself did, its neighbour on
 * the side of the right one: the float64 was then in the middle of the two.
 */
function towards(wide: number, value: number): number {
  if (Math.fround(wide) === value) return wide;
  number[0] = wide;
  word[0] += Math.abs(value) > Math.abs(wide) ? 1n : -1n;
  return number[0];
}

function find(indices: Int32Array, from: number, to: number, index: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (indices[middle] < index) low = middle + 1;
    else high = middle;
  }
  return low < to && indices[low] === index ? low : -1;
}

function skipBlanks(bytes: Uint8Array, start: number): number {
  let position = start;
  let byte = bytes[position];
  while (byte === space || byte === tab || byte === carriageReturn) byte = bytes[++position];
  return position;
}

/** To the blank, line end or comment behind a label or a `qid:`. */
function skipToken(bytes: Uint8Array, start: number): number {
  let position = start;
  while (bytes[position] > space && bytes[position] !== hash) position += 1;
  return position;
}

function endWithNewline(text: Uint8Array): Uint8Array {
  if (text.length === 0 || text[text.length - 1] === newline) return text;
  const bytes = new Uint8Array(text.length + 1);
  bytes.set(text);
  bytes[text.length] = newline;
  return bytes;
}
