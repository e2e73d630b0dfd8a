import { endianness } from 'node:os';
import { DataError, DsoError } from '../errors.ts';

/** How the weights of a model lie in the payload of its file; see docs/model-format.md. */
export type WeightEncoding = 'dense' | 'sparse';

/** How many weights there are, and how they lie in the payload. */
export interface WeightLayout {
  readonly columns: number;
  readonly vectors: number;
  readonly encoding: WeightEncoding;
  /** Weights in the payload: all of them (dense) or those that are not +0 (sparse). */
  readonly stored: number;
  /** Whether the sparse payload begins with the count of each vector; version 1 had no counts. */
  readonly counted: boolean;
}

export interface EncodedWeights {
  readonly layout: WeightLayout;
  readonly payload: Uint8Array;
}

const wordBytes = 8;
const indexBytes = 4;
const bigEndian = endianness() === 'BE';

/** Bytes of a payload of this layout. */
export function payloadBytes({ encoding, stored, vectors, counted }: WeightLayout): number {
  if (encoding === 'dense') return stored * wordBytes;
  return (counted ? vectors * indexBytes : 0) + stored * (indexBytes + wordBytes);
}

/** Dense or sparse, whichever is smaller; −0 is stored, to keep every bit. */
export function encodeWeights(weights: Float64Array, vectors: number): EncodedWeights {
  const columns = weights.length / vectors;
  const counts = countStored(weights, columns, vectors);
  const stored = counts.reduce((sum, count) => sum + count, 0);
  const shape = { columns, vectors, counted: true };
  const dense: WeightLayout = { ...shape, encoding: 'dense', stored: weights.length };
  const sparse: WeightLayout = { ...shape, encoding: 'sparse', stored };
  return payloadBytes(sparse) < payloadBytes(dense)
    ? { layout: sparse, payload: sparsePayload(weights, counts, stored) }
    : { layout: dense, payload: littleEndianBytes(weights) };
}

function sparsePayload(weights: Float64Array, counts: Int32Array, stored: number): Uint8Array {
  const columns = weights.length / counts.length;
  const indices = new Int32Array(stored);
  const values = new Float64Array(stored);
  let position = 0;
  for (let vector = 0; vector < counts.length; vector++) {
    const start = vector * columns;
    for (let column = 0; column < columns; column++) {
      const weight = weights[start + column];
      if (isPlusZero(weight)) continue;
      indices[position] = column;
      values[position++] = weight;
    }
  }
  return Buffer.concat([counts, indices, values].map(littleEndianBytes));
}

/** `payload` has the length `payloadBytes` says; `name` is the file, for messages. */
export function decodeWeights(
  layout: WeightLayout,
  payload: Uint8Array,
  name: string,
): Float64Array {
  const { vectors, encoding, stored } = layout;
  const weights = allocateWeights(layout, name);
  if (encoding === 'dense') {
    copyLittleEndian(payload, weights);
    checkFinite(weights, (index) => nameOf(index, layout), name);
  } else {
    const counts = layout.counted ? new Int32Array(vectors) : Int32Array.of(stored);
    const indices = new Int32Array(stored);
    const values = new Float64Array(stored);
    const start = payload.length - stored * (indexBytes + wordBytes);
    if (layout.counted) copyLittleEndian(payload.subarray(0, start), counts);
    copyLittleEndian(payload.subarray(start, start + stored * indexBytes), indices);
    copyLittleEndian(payload.subarray(start + stored * indexBytes), values);
    checkCounts(counts, stored, name);
    scatter(counts, indices, values, weights, name);
    // Only stored weights are checked: they may be few of many.
    checkFinite(values, (entry) => nameOf(indexOf(entry, counts, indices, layout), layout), name);
  }
  return weights;
}

/** Zeros for all weights: a small file may ask for more of them than memory holds. */
export function allocateWeights(
  { columns, vectors }: Pick<WeightLayout, 'columns' | 'vectors'>,
  name: string,
): Float64Array {
  try {
    return new Float64Array(columns * vectors);
  } catch (cause) {
    const gigabytes = ((columns * vectors * wordBytes) / 1e9).toFixed(1);
    throw new DataError(
      `${name}: ${columns} columns in ${vectors} vectors are ${gigabytes} GB of weights, ` +
        'for which there is no room in memory',
      { cause },
    );
  }
}

function checkFinite(values: Float64Array, called: (index: number) => string, name: string): void {
  for (let index = 0; index < values.length; index++) {
    if (Number.isFinite(values[index])) continue;
    throw new DataError(
      `${name}: the weight of ${called(index)} is ${values[index]}; weights are finite numbers`,
    );
  }
}

/** Where a stored weight goes. */
function indexOf(
  entry: number,
  counts: Int32Array,
  indices: Int32Array,
  { columns }: WeightLayout,
): number {
  let vector = 0;
  for (let end = counts[0]; end <= entry; end += counts[vector]) vector++;
  return vector * columns + indices[entry];
}

/** For messages: the vector is named only where there are several. */
function nameOf(index: number, { columns, vectors }: Pick<WeightLayout, 'columns' | 'vectors'>) {
  const vector = Math.floor(index / columns);
  const column = index - vector * columns;
  return vectors === 1 ? `column ${column}` : `column ${column} in vector ${vector}`;
}

function checkCounts(counts: Int32Array, stored: number, name: string): void {
  const total = counts.reduce((sum, count) => (count < 0 ? NaN : sum + count), 0);
  if (total === stored) return;
  throw new DataError(
    `${name}: the vectors have ${[...counts.subarray(0, 5)].join(', ')}` +
      `${counts.length > 5 ? ', …' : ''} weights; wanted ${stored} in all`,
  );
}

function scatter(
  counts: Int32Array,
  indices: Int32Array,
  values: Float64Array,
  weights: Float64Array,
  name: string,
): void {
  const columns = weights.length / counts.length;
  let position = 0;
  for (let vector = 0; vector < counts.length; vector++) {
    const end = position + counts[vector];
    let previous = -1;
    for (; position < end; position++) {
      const column = indices[position];
      if (column <= previous || column >= columns) {
        throw new DataError(
          `${name}: column ${column} after column ${previous}; ` +
            `wanted ascending columns below ${columns}`,
        );
      }
      weights[vector * columns + column] = values[position];
      previous = column;
    }
  }
}

/** How many weights of each vector are not +0. */
function countStored(weights: Float64Array, columns: number, vectors: number): Int32Array {
  const counts = new Int32Array(vectors);
  for (let vector = 0; vector < vectors; vector++) {
    const end = (vector + 1) * columns;
    let stored = 0;
    for (let index = vector * columns; index < end; index++) {
      const weight = weights[index];
      if (!Number.isFinite(weight)) {
        throw new DsoError(
          'failure',
          `the weight of ${nameOf(index, { columns, vectors })} is ${weight}; ` +
            'a model with such a weight is not written',
        );
      }
      if (!isPlusZero(weight)) stored++;
    }
    counts[vector] = stored;
  }
  return counts;
}

function isPlusZero(weight: number): boolean {
  return weight === 0 && 1 / weight > 0;
}

function littleEndianBytes(array: Float64Array | Int32Array): Uint8Array {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return bigEndian ? swapped(bytes, array.BYTES_PER_ELEMENT) : bytes;
}

function copyLittleEndian(bytes: Uint8Array, target: Float64Array | Int32Array): void {
  const source = bigEndian ? swapped(bytes, target.BYTES_PER_ELEMENT) : bytes;
  new Uint8Array(target.buffer).set(source);
}

function swapped(bytes: Uint8Array, elementBytes: number): Uint8Array {
  const copy = Buffer.from(bytes);
  return elementBytes === wordBytes ? copy.swap64() : copy.swap32();
}
