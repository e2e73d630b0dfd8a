import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { badWeight, type DatasetPart } from '../dataset.ts';
import { largestIndex } from '../read/line-error.ts';
import {
  damaged,
  type EncodedSection,
  type Fail,
  failure,
  float64Values,
  packedIndices,
  padded,
  type SectionHeader,
  type SectionLocation,
  sealSection,
  sectionHeaderBytes,
  weightedRows,
} from './layout.ts';

/*
 * Packed indices: for every entry of a row the distance to the index before it, minus one (the first
 * one counts from -1), seven bits a byte, low bits first; all bytes but the last of a number have
 * the high bit set.
 */

/** A distance has at most 31 bits. */
const packedBytesPerIndex = 5;

/** Packs the rows into `out` from `start` on and returns the position behind. */
function packIndices(
  rowOffsets: Int32Array,
  rows: number,
  indices: Int32Array,
  out: Uint8Array,
  start: number,
): number {
  let position = start;
  for (let row = 0; row < rows; row += 1) {
    let next = 0;
    for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
      let rest = indices[entry] - next;
      next = indices[entry] + 1;
      while (rest > 127) {
        out[position++] = (rest & 127) | 128;
        rest >>>= 7;
      }
      out[position++] = rest;
    }
  }
  return position;
}

/** False unless all bytes are used up; an index beyond 2³¹ − 1 becomes negative, for the check. */
function unpackIndices(
  bytes: Uint8Array,
  rowOffsets: Int32Array,
  rows: number,
  indices: Int32Array,
): boolean {
  let position = 0;
  for (let row = 0; row < rows; row += 1) {
    let next = 0;
    for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
      let distance = bytes[position] | 0;
      if (distance < 128) {
        position = (position + 1) | 0;
      } else {
        // Most numbers that do not fit into one byte fit into two.
        distance = (distance & 127) | (bytes[position + 1] << 7);
        position = (position + 2) | 0;
        // The high bit of the last byte is at `shift` and says that there is one more.
        for (let shift = 14; shift <= 28 && distance >>> shift !== 0; shift += 7) {
          if (shift === 28 && bytes[position] > 7) return false;
          distance = (distance & ((1 << shift) - 1)) | (bytes[position] << shift);
          position = (position + 1) | 0;
        }
      }
      next = (next + distance) | 0;
      indices[entry] = next;
      next = (next + 1) | 0;
    }
  }
  return position === bytes.length;
}

/** The first `count` rows of the arrays, to be written. */
interface RowsToWrite extends DatasetPart {
  /** Of the first row in the data set, from 0. */
  readonly first: number;
  readonly count: number;
  /** The values as float64, to be stored instead. */
  readonly float64?: Float64Array | undefined;
  readonly pack: boolean;
}

export interface DecodedRows {
  readonly part: DatasetPart;
  /** Values as float64, when they are stored so and requested. */
  readonly float64?: Float64Array;
  /** Largest index; -1 without entries. */
  readonly largest: number;
}

/** More entries than this, a row of any real data does not have; offsets and lengths stay 32-bit. */
export const largestEntries = 2 ** 27;

const bigEndian = endianness() === 'BE';

/** Returns shared memory of at least this size. */
export type Reserve = (bytes: number, purpose: 'body' | 'indices' | 'values') => SharedArrayBuffer;

export const allocate: Reserve = (bytes) => new SharedArrayBuffer(bytes);

/** Where the arrays of a section begin, counted from the end of its header. */
interface ArrayStarts {
  readonly offsets: number;
  /** Where the indices begin, if there are none. */
  readonly weights: number;
  readonly indices: number;
  readonly values: number;
  readonly end: number;
}

type Shape = Pick<SectionHeader, 'count' | 'entries' | 'used' | 'flags'>;

function arrayStarts({ count, entries, used, flags }: Shape): ArrayStarts {
  const offsets = 8 * count;
  const weights = offsets + padded(4 * (count + 1));
  const indices = weights + ((flags & weightedRows) === 0 ? 0 : 8 * count);
  const values = indices + padded(used);
  return { offsets, weights, indices, values, end: values + padded(valueBytes(flags) * entries) };
}

function valueBytes(flags: number): number {
  return (flags & float64Values) === 0 ? 4 : 8;
}

/** A section of rows with its header; `reserve` returns a buffer of at least this size. */
export function encodeRows(
  rows: RowsToWrite,
  reserve: (bytes: number) => Uint8Array,
): EncodedSection {
  const { first, count, labels, weights, rowOffsets, indices, values, float64, pack } = rows;
  const flags =
    (float64 ? float64Values : 0) | (pack ? packedIndices : 0) | (weights ? weightedRows : 0);
  const entries = rowOffsets[count];
  const most = (pack ? packedBytesPerIndex : 4) * entries;
  const { end, indices: head } = arrayStarts({ count, entries, used: most, flags });
  const whole = reserve(sectionHeaderBytes + end);
  const body = whole.subarray(sectionHeaderBytes);
  const used = pack ? packIndices(rowOffsets, count, indices, body, head) - head : most;
  const starts = arrayStarts({ count, entries, used, flags });
  body.fill(0, starts.offsets + 4 * (count + 1), starts.weights);
  body.fill(0, head + used, starts.values);
  body.fill(0, starts.values + valueBytes(flags) * entries, starts.end);
  store(body, 0, labels.subarray(0, count));
  store(body, starts.offsets, rowOffsets.subarray(0, count + 1));
  if (weights) store(body, starts.weights, weights.subarray(0, count));
  if (!pack) store(body, starts.indices, indices.subarray(0, entries));
  store(body, starts.values, (float64 ?? values).subarray(0, entries));
  const bytes = whole.subarray(0, sectionHeaderBytes + starts.end);
  return sealSection(bytes, { kind: 'ROWS', first, count, entries, used }, flags, head);
}

type Numbers = Float64Array | Float32Array | Int32Array;

function store(body: Uint8Array, position: number, numbers: Numbers): void {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  body.set(bytes, position);
  if (bigEndian) swap(body.subarray(position, position + bytes.length), numbers.BYTES_PER_ELEMENT);
}

function swap(bytes: Uint8Array, width: number): void {
  const words = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (width === 8) words.swap64();
  else words.swap32();
}

/** The rows of a section: views of `body`, aligned to eight, or else in reserved memory. */
export function decodeRows(
  section: SectionLocation,
  body: Uint8Array<SharedArrayBuffer>,
  withFloat64 = false,
  reserve = allocate,
): DecodedRows {
  const { header } = section;
  const { count, entries, used, flags } = header;
  const { starts, ...heads } = decodeRowHeads(section, body);
  const { rowOffsets } = heads;
  const fail = failureOf(section);
  if (crc32(body.subarray(starts.indices)) !== header.checksum) fail(damaged('its entries'));
  const start = body.byteOffset;
  const stored = body.subarray(starts.indices, starts.indices + used);
  let indices: Int32Array<SharedArrayBuffer>;
  if ((flags & packedIndices) !== 0) {
    indices = new Int32Array(reserve(4 * entries, 'indices'), 0, entries);
    if (!unpackIndices(stored, rowOffsets, count, indices)) fail('its packed indices do not fit');
  } else {
    indices = new Int32Array(body.buffer, start + starts.indices, entries);
    if (bigEndian) swap(stored, 4);
  }
  const largest = checkIndices(rowOffsets, indices, fail);
  const width = valueBytes(flags);
  if (bigEndian) swap(body.subarray(starts.values, starts.values + width * entries), width);
  if (width === 4) {
    const values = new Float32Array(body.buffer, start + starts.values, entries);
    checkValues(values, fail);
    return { part: { ...heads, indices, values }, largest };
  }
  const float64 = new Float64Array(body.buffer, start + starts.values, entries);
  const values = new Float32Array(reserve(4 * entries, 'values'), 0, entries);
  values.set(float64);
  checkValues(values, fail);
  const part = { ...heads, indices, values };
  return withFloat64 ? { part, float64, largest } : { part, largest };
}

export type RowHeads = Pick<DatasetPart, 'labels' | 'rowOffsets' | 'weights'>;

/** Labels, offsets and weights alone, from the first `headBytes` or more behind the header. */
export function decodeRowHeads(
  section: SectionLocation,
  body: Uint8Array<SharedArrayBuffer>,
): RowHeads & { starts: ArrayStarts } {
  const { header } = section;
  const { count, entries } = header;
  const fail = failureOf(section);
  const starts = checkedStarts(header, fail);
  const head = body.subarray(0, starts.indices);
  if (crc32(head) !== header.headChecksum) fail(damaged('its labels and offsets'));
  if (bigEndian) {
    swap(head.subarray(0, starts.offsets), 8);
    swap(head.subarray(starts.offsets, starts.weights), 4);
    swap(head.subarray(starts.weights), 8);
  }
  const labels = new Float64Array(body.buffer, body.byteOffset, count);
  const rowOffsets = new Int32Array(body.buffer, body.byteOffset + starts.offsets, count + 1);
  checkLabels(labels, fail);
  const weights = weightsIn(header, body, starts, fail);
  for (let row = 0; row < count; row += 1) {
    if (rowOffsets[row + 1] < rowOffsets[row]) fail(`its row ${row + 1} ends before it begins`);
  }
  if (rowOffsets[0] !== 0 || rowOffsets[count] !== entries) fail('its offsets are not its own');
  return { labels, rowOffsets, ...(weights && { weights }), starts };
}

function weightsIn(
  { flags, count }: SectionHeader,
  body: Uint8Array<SharedArrayBuffer>,
  starts: ArrayStarts,
  fail: Fail,
): Float64Array | undefined {
  if ((flags & weightedRows) === 0) return undefined;
  const weights = new Float64Array(body.buffer, body.byteOffset + starts.weights, count);
  const bad = badWeight(weights);
  if (bad >= 0) fail(`the weight of its row ${bad + 1} is ${weights[bad]}; expected 0 or more`);
  return weights;
}

/** Bytes behind the header that `decodeRowHeads` needs. */
export function headBytes(header: SectionHeader): number {
  return arrayStarts(header).indices;
}

function checkedStarts(header: SectionHeader, fail: Fail): ArrayStarts {
  const { count, entries, used, flags, length } = header;
  const starts = arrayStarts(header);
  if (count > 0 && entries <= largestEntries && starts.end === length) {
    if ((flags & packedIndices) !== 0 || used === 4 * entries) return starts;
  }
  return fail(`${length} bytes for ${count} rows and ${entries} entries`);
}

/** Whether the section has the length that its rows and entries take: memory is reserved for them. */
export function checkRowsFit(section: SectionLocation): void {
  checkedStarts(section.header, failureOf(section));
}

function failureOf({ header: { first, count }, offset }: SectionLocation): Fail {
  return failure(offset, `the section of rows ${first + 1} to ${first + count}`);
}

/** Ascending from 0 in every row; without branches, since this is done for every entry there is. */
function checkIndices(rowOffsets: Int32Array, indices: Int32Array, fail: Fail): number {
  let largest = -1;
  for (let row = 0; row + 1 < rowOffsets.length; row += 1) {
    const end = rowOffsets[row + 1] | 0;
    let last = -1;
    let falling = -1;
    let signs = 0;
    for (let entry = rowOffsets[row] | 0; entry < end; entry = (entry + 1) | 0) {
      const index = indices[entry] | 0;
      // Negative as long as the row ascends. It cannot overflow unless an index is negative.
      falling &= (last - index) | 0;
      signs |= index;
      last = index;
    }
    if (falling >= 0 || signs < 0) fail(`the indices of its row ${row + 1} do not ascend from 0`);
    if (last > largest) largest = last;
  }
  if (largest > largestIndex) fail(`index ${largest}; the largest one is ${largestIndex}`);
  return largest;
}

function checkLabels(labels: Float64Array, fail: Fail): void {
  const bad = labels.findIndex((label) => !Number.isFinite(label));
  if (bad >= 0) fail(`the label of its row ${bad + 1} is ${labels[bad]}; expected a finite number`);
}

/** x − x is NaN for infinities and NaN, and stays so in a sum; several sums keep the adder busy. */
function checkValues(values: Float32Array, fail: Fail): void {
  const whole = values.length & ~3;
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (let entry = 0; entry < whole; entry = (entry + 4) | 0) {
    first += values[entry] - values[entry];
    second += values[entry + 1] - values[entry + 1];
    third += values[entry + 2] - values[entry + 2];
    fourth += values[entry + 3] - values[entry + 3];
  }
  for (let entry = whole; entry < values.length; entry += 1) first += values[entry] - values[entry];
  if (first + second + third + fourth === 0) return;
  const bad = values.findIndex((value) => !Number.isFinite(value));
  fail(`its value ${bad + 1} is ${values[bad]}; expected a finite number below 3.4e38`);
}
