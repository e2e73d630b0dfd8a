import { endianness } from 'node:os';
import { DataError, DsoError } from '../errors.ts';
import { decodeWeights as copyWeights, type WeightLayout } from './predict/decode.ts';

const wordBytes = 8;
const indexBytes = 4;

/** Bytes of a payload of this layout; see docs/model-format.md. */
export function payloadBytes({ encoding, stored, vectors, counted }: WeightLayout): number {
  if (encoding === 'dense') return stored * wordBytes;
  return (counted ? vectors * indexBytes : 0) + stored * (indexBytes + wordBytes);
}

/** Dense or sparse, whichever is smaller; −0 is stored, to keep every bit. */
export function encodeWeights(
  weights: Float64Array,
  vectors: number,
): { layout: WeightLayout; payload: Uint8Array } {
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
  for (let index = 0; index < weights.length; index++) {
    if (Object.is(weights[index], 0)) continue;
    indices[position] = index % columns;
    values[position++] = weights[index];
  }
  return Buffer.concat([counts, indices, values].map(littleEndianBytes));
}

/** `payload` has the length `payloadBytes` says; `name` is the file, for messages. */
export function decodeWeights(
  layout: WeightLayout,
  payload: Uint8Array,
  name: string,
): Float64Array {
  const { columns, encoding } = layout;
  const weights = allocateWeights(layout, name);
  if (encoding === 'sparse' && layout.counted) checkCounts(layout, payload, name);
  let last = -1;
  copyWeights(layout, payload, weights, (vector, column, weight) => {
    const index = vector * columns + column;
    if (!Number.isFinite(weight)) {
      throw new DataError(
        `${name}: the weight of ${nameOf(index, layout)} is ${weight}; weights are finite numbers`,
      );
    }
    if (index <= last || column < 0 || column >= columns) {
      const previous = Math.max(last - vector * columns, -1);
      throw new DataError(
        `${name}: column ${column} after column ${previous}; ` +
          `expected ascending columns below ${columns}`,
      );
    }
    last = index;
  });
  return weights;
}

/** Zeros for all weights: a small file may describe more of them than memory holds. */
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

/** For messages: the vector is named only where there are several. */
function nameOf(index: number, { columns, vectors }: Pick<WeightLayout, 'columns' | 'vectors'>) {
  const vector = Math.floor(index / columns);
  const column = index - vector * columns;
  return vectors === 1 ? `column ${column}` : `column ${column} in vector ${vector}`;
}

function checkCounts({ vectors, stored }: WeightLayout, payload: Uint8Array, name: string): void {
  const view = new DataView(payload.buffer, payload.byteOffset);
  const counts = Array.from({ length: vectors }, (_, vector) =>
    view.getInt32(vector * indexBytes, true),
  );
  const total = counts.reduce((sum, count) => (count < 0 ? NaN : sum + count), 0);
  if (total === stored) return;
  throw new DataError(
    `${name}: the vectors have ${counts.slice(0, 5).join(', ')}` +
      `${counts.length > 5 ? ', …' : ''} weights; expected ${stored} in all`,
  );
}

/** How many weights of each vector are not +0. */
function countStored(weights: Float64Array, columns: number, vectors: number): Int32Array {
  const counts = new Int32Array(vectors);
  for (let index = 0; index < weights.length; index++) {
    if (!Number.isFinite(weights[index])) {
      throw new DsoError(
        'failure',
        `the weight of ${nameOf(index, { columns, vectors })} is ${weights[index]}; ` +
          'a model with such a weight is not written',
      );
    }
    if (!Object.is(weights[index], 0)) counts[Math.floor(index / columns)]++;
  }
  return counts;
}

/** The bytes of the array itself, without a copy where the machine is little-endian. */
export function littleEndianBytes(array: Float64Array | Int32Array): Uint8Array {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  if (endianness() === 'LE') return bytes;
  const copy = Buffer.from(bytes);
  return array.BYTES_PER_ELEMENT === wordBytes ? copy.swap64() : copy.swap32();
}
