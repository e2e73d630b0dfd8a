import { isUtf8 } from 'node:buffer';
import { type DatasetPart, sharedFloat64, sharedPart } from '../dataset.ts';
import { Numbering } from '../fields/label-list.ts';
import { numberOf } from '../fields/options.ts';
import { orderRow, RepeatedIndex } from '../fields/row-order.ts';
import { LineError, labelError, largestIndex, pairError } from '../read/line-error.ts';
import { malformed, scanFloat32, scanFloat64 } from './decimal.ts';
import { endWithNewline, notUtf8, textOf } from './records.ts';

export interface LibsvmOptions {
  /** Feature indices start at 0 instead of 1. */
  readonly zeroBased?: boolean;
  /** Add up the values of an index that a row repeats, instead of rejecting the row. */
  readonly sumDuplicates?: boolean;
  /** Labels are texts: words, or several labels with commas between them, or none at all. */
  readonly textLabels?: boolean;
}

export interface ParseOptions extends LibsvmOptions {
  /** Whether values are read as float64 as well. */
  readonly float64?: boolean;
}

export interface ParsedChunk extends DatasetPart {
  /** Largest 0-based index, -1 without entries; indices with an explicit zero count. */
  readonly maxIndex: number;
  /** Lines of text, blank ones and comments included. */
  readonly lines: number;
  /** Lines whose `qid:` was ignored. */
  readonly qidLines: number;
  /** With `textLabels`: the labels of these rows; `labels` are positions in this list. */
  readonly labelTexts?: readonly string[];
  /** With `float64`: the values as float64, each of which rounds to its float32. */
  readonly float64?: Float64Array;
}

const firstLabel = /^\s*([^\s:#|]+)(?:\s+(?:\d+|qid):\S|\s*$|\s*#)/;
const numericLabel = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)$/i;

/** Whether the first row has several labels or a word; the parser reports what is not a row. */
export function hasTextLabels(line: string): boolean {
  const label = firstLabel.exec(line)?.[1];
  return label !== undefined && !numericLabel.test(label);
}

const tab = 9;
const newline = 10;
const carriageReturn = 13;
const space = 32;
const hash = 35;
const zero = 48;
const colon = 58;
const qid = [...Buffer.from('qid:')];

/** Entries of rows, the last of which is being read. */
export interface RowEntries {
  indices: Int32Array;
  values: Float32Array;
  entries: number;
  line: number;
}

/** Arrays that are large enough for any text of the chunk's size, and what the loops carry. */
interface Scratch extends RowEntries {
  labels: Float64Array;
  rowOffsets: Int32Array;
  /** Values as float64, if requested. */
  float64: Float64Array;
  qidLines: number;
  qidLine: number;
  /** The row's last index; -1 for an empty row. */
  last: number;
  /** Whether the row has to be sorted, merged, rid of zeros or rejected. */
  irregular: boolean;
}

const scratch: Scratch = {
  indices: new Int32Array(0),
  values: new Float32Array(0),
  labels: new Float64Array(0),
  rowOffsets: new Int32Array(1),
  float64: new Float64Array(0),
  entries: 0,
  line: 0,
  qidLines: 0,
  qidLine: 0,
  last: -1,
  irregular: false,
};

/**
 * Reads whole lines of LIBSVM text, `label index:value index:value … # comment`. Throws a
 * LineError for the first line that cannot be read.
 */
export function parseLibsvm(text: Uint8Array, options: ParseOptions = {}): ParsedChunk {
  const bytes = endWithNewline(text);
  const { float64 = false } = options;
  const base = options.zeroBased ? 0 : 1;
  const sumDuplicates = options.sumDuplicates ?? false;
  const labelTexts = options.textLabels ? new Numbering() : undefined;
  prepareScratch(bytes.length, float64);
  const { labels, rowOffsets } = scratch;
  let rows = 0;
  let maxIndex = -1;
  for (let position = 0; position < bytes.length; position += 1) {
    scratch.line += 1;
    position = skipBlanks(bytes, position);
    if (bytes[position] === hash) position = bytes.indexOf(newline, position);
    if (bytes[position] === newline) continue;
    const start = position;
    if (labelTexts) position = scanLabelText(bytes, start, labelTexts, labels, rows);
    else position = scanFloat64(bytes, start, labels, rows);
    if (position === malformed)
      throw new LineError(scratch.line, labelTexts ? notUtf8 : labelError(bytes, start));
    const pairs = position;
    position = scanPairs(bytes, pairs, base);
    if (float64) scanRowFloat64(bytes, pairs, rowOffsets[rows]);
    if (scratch.irregular) {
      const normalize = float64 ? normalizeFloat64Row : normalizeRow;
      maxIndex = Math.max(maxIndex, normalize(scratch, rowOffsets[rows], base, sumDuplicates));
    } else if (scratch.last > maxIndex) maxIndex = scratch.last;
    rows += 1;
    rowOffsets[rows] = scratch.entries;
  }
  return {
    ...sharedPart(scratch, rows),
    maxIndex,
    lines: scratch.line,
    qidLines: scratch.qidLines,
    ...(labelTexts && { labelTexts: labelTexts.texts }),
    ...(float64 && { float64: sharedFloat64(scratch.float64.subarray(0, scratch.entries)) }),
  };
}

/** Numbers the label at `start`, written in its shortest form; returns the position behind it. */
export function scanLabelText(
  bytes: Uint8Array,
  start: number,
  texts: Numbering,
  labels: Float64Array,
  row: number,
): number {
  let end = start;
  while (bytes[end] > space && bytes[end] !== hash && bytes[end] !== colon) end += 1;
  // A line that begins with a pair has no label, written as the empty text.
  const behind = bytes[end] === colon ? start : end;
  // Labels of another encoding would become one.
  if (!isUtf8(bytes.subarray(start, behind))) return malformed;
  const text = textOf(bytes, start, behind);
  const number = numberOf(text);
  labels[row] = texts.of(Number.isFinite(number) ? `${number + 0}` : text);
  return behind;
}

/** A pair and its blank take at least four bytes, a row and its line end two. */
function prepareScratch(length: number, float64: boolean): void {
  const entries = (length >>> 2) + 1;
  const rows = (length >>> 1) + 1;
  if (scratch.indices.length < entries) {
    scratch.indices = new Int32Array(entries);
    scratch.values = new Float32Array(entries);
  }
  if (float64 && scratch.float64.length < entries) scratch.float64 = new Float64Array(entries);
  if (scratch.labels.length < rows) {
    scratch.labels = new Float64Array(rows);
    scratch.rowOffsets = new Int32Array(rows + 1);
  }
  scratch.entries = 0;
  scratch.line = 0;
  scratch.qidLines = 0;
  scratch.qidLine = 0;
}

function skipBlanks(bytes: Uint8Array, start: number): number {
  let position = start;
  let byte = bytes[position];
  while (byte === space || byte === tab || byte === carriageReturn) byte = bytes[++position];
  return position;
}

/**
 * Reads the pairs of one row into the scratch and returns the position of the line end. `| 0`
 * says to the compiler that a sum stays in 32 bits, which spares a check per byte.
 */
function scanPairs(bytes: Uint8Array, start: number, base: number): number {
  const { indices, values } = scratch;
  let entries = scratch.entries | 0;
  let last = -1;
  let irregular = false;
  let position = start | 0;
  for (;;) {
    let digit = bytes[position] - zero;
    if (digit === space - zero) {
      position = (position + 1) | 0;
      digit = bytes[position] - zero;
    }
    const token = position;
    let index = 0;
    while (digit >>> 0 <= 9) {
      index = (Math.imul(index, 10) + digit) | 0;
      position = (position + 1) | 0;
      digit = bytes[position] - zero;
    }
    // Nine digits cannot overflow; all the rest is rare.
    if (digit !== colon - zero || (position - token - 1) >>> 0 > 8) {
      if (bytes[token] === newline) break;
      const behind = skipAside(bytes, token) | 0;
      if (behind !== malformed) {
        position = behind;
        continue;
      }
      index = longIndex(bytes, token, position) | 0;
    }
    position = scanFloat32(bytes, position + 1, values, entries) | 0;
    if (position === malformed) throw new LineError(scratch.line, pairError(bytes, token));
    index = (index - base) | 0;
    indices[entries] = index;
    // Also true for index 0 where indices start at 1: it has become -1.
    if (index <= last || values[entries] === 0) irregular = true;
    last = index;
    entries = (entries + 1) | 0;
  }
  scratch.entries = entries;
  scratch.last = last;
  scratch.irregular = irregular;
  return position;
}

/** Behind further blanks, a comment or a `qid:` token; `malformed` where there is none of them. */
function skipAside(bytes: Uint8Array, token: number): number {
  const behindBlanks = skipBlanks(bytes, token);
  if (behindBlanks > token) return behindBlanks;
  if (bytes[token] === hash) return bytes.indexOf(newline, token);
  const isQid = qid.every((byte, index) => bytes[token + index] === byte);
  if (!isQid) return malformed;
  if (scratch.qidLine !== scratch.line) scratch.qidLines += 1;
  scratch.qidLine = scratch.line;
  return tokenEnd(bytes, token);
}

function tokenEnd(bytes: Uint8Array, start: number): number {
  let position = start;
  while (bytes[position] > space && bytes[position] !== hash) position += 1;
  return position;
}

function longIndex(bytes: Uint8Array, token: number, end: number): number {
  const index = end > token && bytes[end] === colon ? decimalIndex(bytes, token, end) : malformed;
  if (index === malformed) throw new LineError(scratch.line, pairError(bytes, token));
  return index;
}

function decimalIndex(bytes: Uint8Array, start: number, end: number): number {
  let index = 0;
  for (let position = start; position < end; position += 1) {
    index = index * 10 + (bytes[position] - zero);
    if (index > largestIndex) return malformed;
  }
  return index;
}

/** Sorts and checks the last row, and merges its repeats; returns its largest index. */
export function normalizeRow(
  row: RowEntries,
  from: number,
  base: number,
  sumDuplicates: boolean,
): number {
  const { indices, values, line } = row;
  let largest = -1;
  for (let entry = from; entry < row.entries; entry += 1) {
    if (indices[entry] < 0) {
      throw new LineError(line, 'feature index 0; indices start at 1 (use --zero-based)');
    }
    largest = Math.max(largest, indices[entry]);
  }
  try {
    row.entries = orderRow(indices, values, from, row.entries, sumDuplicates);
  } catch (error) {
    if (!(error instanceof RepeatedIndex)) throw error;
    const index = error.index + base;
    throw new LineError(
      line,
      `feature index ${index} appears more than once; ` +
        'indices must be distinct (use --sum-duplicates to add the values up)',
    );
  }
  for (let entry = from; entry < row.entries; entry += 1) {
    if (Number.isFinite(values[entry])) continue;
    const index = indices[entry] + base;
    throw new LineError(line, `the values of feature ${index} add up to more than 3.4e38`);
  }
  return largest;
}

const lastOfQid = qid[2];
const number = new Float64Array(1);
const word = new BigInt64Array(number.buffer);

/** Reads the values of the last row once more, as float64. */
function scanRowFloat64(bytes: Uint8Array, start: number, from: number): void {
  const { values, float64, entries } = scratch;
  let position = start;
  for (let entry = from; entry < entries; ) {
    const behind = bytes.indexOf(colon, position) + 1;
    if (bytes[behind - 2] === lastOfQid) position = tokenEnd(bytes, behind);
    else {
      position = scanFloat64(bytes, behind, float64, entry);
      float64[entry] = towards(float64[entry], values[entry]);
      entry += 1;
    }
  }
}

/**
 * The float64 or, where that rounds to another float32 than the decimal did, its neighbour on the
 * side of the right one: the float64 was then in the middle of the two.
 */
function towards(float64: number, value: number): number {
  if (Math.fround(float64) === value) return float64;
  number[0] = float64;
  word[0] += Math.abs(value) > Math.abs(float64) ? 1n : -1n;
  return number[0];
}

/** The same as `normalizeRow`, and moves the float64 values along. */
function normalizeFloat64Row(
  row: Scratch,
  from: number,
  base: number,
  sumDuplicates: boolean,
): number {
  const { indices, values, float64 } = row;
  const found = new Map<number, number>();
  for (let entry = from; entry < row.entries; entry += 1) {
    const isRepeated = found.has(indices[entry]);
    found.set(indices[entry], isRepeated ? NaN : float64[entry]);
  }
  const largest = normalizeRow(row, from, base, sumDuplicates);
  for (let entry = from; entry < row.entries; entry += 1) {
    const value = found.get(indices[entry])!;
    float64[entry] = Number.isNaN(value) ? values[entry] : value;
  }
  return largest;
}
