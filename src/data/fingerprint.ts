import { createHash } from 'node:crypto';
import { endianness } from 'node:os';
import type { Dataset, DatasetPart } from './dataset.ts';

/**
 * The sum, modulo 2³² in each of its words, of a 128-bit hash of every row. The hash of a row
 * depends on its number in the data, so the order of the rows counts, but not how they are cut into
 * parts, nor which process has which of them: sums of shards add up to the sum of the whole.
 */
export type RowHashes = Uint32Array;

/** Odd numbers without a pattern: 32 bits behind the point of √3, √5, √7 and √11, the last one set. */
export const hashFactors = [
  0xbb67ae85 | 0,
  0x3c6ef373 | 0,
  0xa54ff53b | 0,
  0x510e527f | 0,
] as const;
const [first, second, third, fourth] = hashFactors;

const words = 4;
const wordRange = 2 ** 32;
const highWord = endianness() === 'LE' ? 1 : 0;

/** The sum over the rows of a shard, which begins with row `firstRow` (from 0) of the whole data. */
export function hashShard(
  { parts, stored }: Pick<Dataset, 'parts' | 'stored'>,
  firstRow: number,
): RowHashes {
  const sums = new Int32Array(words);
  let row = firstRow;
  for (const part of stored?.scan() ?? parts) {
    addRows(part, row, sums);
    row += part.labels.length;
  }
  return new Uint32Array(sums.buffer);
}

/** The hash of the data that the shards, in any order, make up. */
export function joinHashes(shards: readonly RowHashes[], columns: number, rows: number): string {
  const sums = new Uint32Array(words);
  for (const shard of shards) for (let word = 0; word < words; word += 1) sums[word] += shard[word];
  return hashText([columns, rows, ...sums].join(' '));
}

/** A hash of everything training sees of the data. */
export function hashData(dataset: Dataset): string {
  return joinHashes([hashShard(dataset, 0)], dataset.columns, dataset.rows);
}

/**
 * Adds the hashes of the rows of a part to the sums.
 *
 * Four 32-bit words begin as number and label of the row and take in an entry after the other,
 * two words each. For any entries that follow, every step can be undone, so rows that differ in one
 * entry only never have the same hash. A weight is taken in first, in the same way, unless it is 1:
 * what counts as if it had no weight has the same hash. `scramble` then makes the words depend on one another
 * without any regularity that a sum could cancel.
 */
function addRows(
  { labels, weights, rowOffsets, indices, values }: DatasetPart,
  row: number,
  sums: Int32Array,
) {
  const labelBits = new Int32Array(labels.buffer, labels.byteOffset, 2 * labels.length);
  const weightBits =
    weights && new Int32Array(weights.buffer, weights.byteOffset, 2 * labels.length);
  const valueBits = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let local = 0; local < labels.length; local += 1) {
    const number = row + local;
    const from = rowOffsets[local] | 0;
    const end = rowOffsets[local + 1] | 0;
    let a = number | 0;
    let b = Math.floor(number / wordRange) ^ Math.imul(end - from, first);
    let c = labelBits[2 * local + 1 - highWord] | 0;
    let d = labelBits[2 * local + highWord] | 0;
    if (weightBits && weights[local] !== 1) {
      a = (Math.imul(a, third) + Math.imul(weightBits[2 * local + 1 - highWord], first)) | 0;
      b = (Math.imul(b, fourth) + Math.imul(weightBits[2 * local + highWord], second)) | 0;
      c = (c + a) | 0;
      d ^= b;
    }
    for (let entry = from; entry < end; entry = (entry + 1) | 0) {
      const index = Math.imul(indices[entry], first);
      const value = Math.imul(valueBits[entry], second);
      a = (Math.imul((a << 13) | (a >>> 19), third) + index) | 0;
      b = (Math.imul((b << 17) | (b >>> 15), fourth) + value) | 0;
      c = (((c << 11) | (c >>> 21)) + a) | 0;
      d = (((d << 7) | (d >>> 25)) ^ b) | 0;
      a ^= d;
      b = (b + c) | 0;
    }
    scramble(sums, a, b, c, d);
  }
}

/** Mixes four words thoroughly and adds them to the sums. */
function scramble(sums: Int32Array, a: number, b: number, c: number, d: number): void {
  for (let round = 1; round <= 4; round += 1) {
    a = Math.imul(a ^ (a >>> 16) ^ Math.imul(round, fourth), first);
    b = Math.imul((b ^ (b >>> 15)) + a, second);
    c = Math.imul((c ^ (c >>> 16)) + b, third);
    d = Math.imul((d ^ (d >>> 15)) + c, fourth);
    a = (a + (d ^ (d >>> 13))) | 0;
  }
  sums[0] += a;
  sums[1] += b;
  sums[2] += c;
  sums[3] += d;
}

export function hashNumbers(numbers: Float64Array): string {
  return shortened(createHash('sha256').update(numbers).digest('hex'));
}

export function hashText(text: string): string {
  return shortened(createHash('sha256').update(text).digest('hex'));
}

/** 64 bits: enough for data that was not made to collide. */
function shortened(digest: string): string {
  return digest.slice(0, 16);
}
