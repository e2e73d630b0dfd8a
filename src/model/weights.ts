import { endianness } from 'node:os';
import { DataError, DsoError } from '../errors.ts';

/** How the weights of a model lie in the payload of its file; see docs/model-format.md. */
export type WeightEncoding = 'dense' | 'sparse';

export interface EncodedWeights {
  readonly encoding: WeightEncoding;
  /** Weights in the payload: all columns (dense) or those that are not +0 (sparse). */
  readonly stored: number;
  readonly payload: Uint8Array;
}

const wordBytes = 8;
const indexBytes = 4;
const bigEndian = endianness() === 'BE';

/** Bytes of a payload with this many stored weights. */
export function payloadBytes(encoding: WeightEncoding, stored: number): number {
  return stored * (encoding === 'dense' ? wordBytes : wordBytes + indexBytes);
}

/** Sparse when fewer than half of the weights are stored; −0 is stored, to keep every bit. */
export function encodeWeights(weights: Float64Array): EncodedWeights {
  const stored = countStored(weights);
  if (2 * stored >= weights.length) {
    return { encoding: 'dense', stored: weights.length, payload: littleEndianBytes(weights) };
  }
  const indices = new Int32Array(stored);
  const values = new Float64Array(stored);
  let position = 0;
  for (let column = 0; column < weights.length; column++) {
    const weight = weights[column];
    if (!isPlusZero(weight)) {
      indices[position] = column;
      values[position++] = weight;
    }
  }
  const payload = new Uint8Array(payloadBytes('sparse', stored));
  payload.set(littleEndianBytes(indices), 0);
  payload.set(littleEndianBytes(values), stored * indexBytes);
  return { encoding: 'sparse', stored, payload };
}

/** `payload` has the length `payloadBytes` says; `name` is the file, for messages. */
export function decodeWeights(
  encoding: WeightEncoding,
  stored: number,
  columns: number,
  payload: Uint8Array,
  name: string,
): Float64Array {
  const weights = new Float64Array(columns);
  if (encoding === 'dense') {
    copyLittleEndian(payload, weights);
  } else {
    const indices = new Int32Array(stored);
    const values = new Float64Array(stored);
    copyLittleEndian(payload.subarray(0, stored * indexBytes), indices);
    copyLittleEndian(payload.subarray(stored * indexBytes), values);
    scatter(indices, values, weights, name);
  }
  for (let column = 0; column < columns; column++) {
    if (!Number.isFinite(weights[column])) {
      throw new DataError(
        `${name}: the weight of column ${column} is ${weights[column]}; ` +
          'weights are finite numbers',
      );
    }
  }
  return weights;
}

function scatter(
  indices: Int32Array,
  values: Float64Array,
  weights: Float64Array,
  name: string,
): void {
  let previous = -1;
  for (let position = 0; position < indices.length; position++) {
    const column = indices[position];
    if (column <= previous || column >= weights.length) {
      throw new DataError(
        `${name}: column ${column} after column ${previous}; ` +
          `wanted ascending columns below ${weights.length}`,
      );
    }
    weights[column] = values[position];
    previous = column;
  }
}

function countStored(weights: Float64Array): number {
  let stored = 0;
  for (let column = 0; column < weights.length; column++) {
    const weight = weights[column];
    if (!Number.isFinite(weight)) {
      throw new DsoError(
        'failure',
        `the weight of column ${column} is ${weight}; a model with such a weight is not written`,
      );
    }
    if (!isPlusZero(weight)) stored++;
  }
  return stored;
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
