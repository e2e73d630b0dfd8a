import type { DatasetPart } from '../dataset.ts';
import { hashFactors } from '../fingerprint.ts';
import { RowFinder } from '../row-packing.ts';

/** Finds earlier items with the same 64-bit hash, by open addressing with linear probing. */
class HashTable {
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  /** Item + 1, or 0. */
  readonly #slots: Int32Array;

  /** Both halves of the hashes, by item. */
  constructor(first: Int32Array, second: Int32Array) {
    let size = 16;
    while (size < 1.5 * first.length) size *= 2;
    this.#first = first;
    this.#second = second;
    this.#slots = new Int32Array(size);
  }

  /** The earlier item with the same hash; -1 if there is none, and then this item is stored. */
  earlier(item: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const first = this.#first[item];
    const second = this.#second[item];
    let slot = (first ^ (first >>> 15)) & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const other = slots[slot] - 1;
      if (this.#first[other] === first && this.#second[other] === second) return other;
    }
    slots[slot] = item + 1;
    return -1;
  }
}

const [first, second, third, fourth] = hashFactors;

export interface EqualRows {
  /** Rows whose features are those of an earlier row; empty rows are left out. */
  readonly count: number;
  /** Those among them whose label differs from that of the earlier row. */
  readonly otherLabel: number;
  /** The first few, each with the earlier row, from 0. */
  readonly first: readonly { readonly row: number; readonly earlier: number }[];
}

/** Hashes of the features of rows, and then which rows are equal. */
export class RowHashTable {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #labels: Float64Array;
  readonly #empty: Uint8Array;

  constructor(rows: number) {
    this.#left = new Int32Array(rows);
    this.#right = new Int32Array(rows);
    this.#labels = new Float64Array(rows);
    this.#empty = new Uint8Array(rows);
  }

  add({ rowOffsets, labels, indices, values }: DatasetPart, firstRow: number): void {
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    this.#labels.set(labels, firstRow);
    for (let local = 0; local < labels.length; local += 1) {
      const end = rowOffsets[local + 1];
      let left = 0;
      let right = 0;
      for (let entry = rowOffsets[local]; entry < end; entry += 1) {
        left = Math.imul(left ^ indices[entry], first) + Math.imul(bits[entry], second);
        left ^= left >>> 15;
        right = Math.imul(right + bits[entry], third) + Math.imul(indices[entry], fourth);
        right ^= right >>> 13;
      }
      this.#left[firstRow + local] = Math.imul(left ^ (left >>> 16), third);
      this.#right[firstRow + local] = Math.imul(right ^ (right >>> 16), first);
      this.#empty[firstRow + local] = rowOffsets[local] === end ? 1 : 0;
    }
  }

  /** Compares the rows if the parts are given; otherwise equal hashes of 64 bits decide. */
  equalRows(shown: number, parts?: readonly DatasetPart[]): EqualRows {
    const table = new HashTable(this.#left, this.#right);
    const finders = parts && [new RowFinder(parts), new RowFinder(parts)];
    const differ = (ours: number, theirs: number) =>
      finders && !areEqual(finders[0].find(ours), finders[1].find(theirs));
    const examples: { row: number; earlier: number }[] = [];
    let count = 0;
    let otherLabel = 0;
    for (let row = 0; row < this.#left.length; row += 1) {
      if (this.#empty[row] === 1) continue;
      const earlier = table.earlier(row);
      if (earlier < 0 || differ(earlier, row)) continue;
      count += 1;
      if (this.#labels[earlier] !== this.#labels[row]) otherLabel += 1;
      if (examples.length < shown) examples.push({ row, earlier });
    }
    return { count, otherLabel, first: examples };
  }
}

function areEqual(left: RowFinder, right: RowFinder): boolean {
  if (left.length !== right.length) return false;
  for (let entry = 0; entry < left.length; entry += 1) {
    const [ours, theirs] = [left.from + entry, right.from + entry];
    if (left.part.indices[ours] !== right.part.indices[theirs]) return false;
    if (left.part.values[ours] !== right.part.values[theirs]) return false;
  }
  return true;
}

/**
 * Columns that equal an earlier one: by column, the first that is equal. Hashes give candidates, which
 * a second pass over the rows confirms. Empty columns are left out.
 */
export function equalColumns(
  statistics: ColumnStatistics,
  scan: () => Iterable<DatasetPart>,
): ReadonlyMap<number, number> {
  const duplicates = candidates(statistics);
  if (duplicates.size === 0) return duplicates;
  const matches = countMatches(duplicates, statistics.counts.length, scan());
  for (const column of duplicates.keys()) {
    // Both have as many entries, so that all of one are all of the other.
    if (matches[column] !== statistics.counts[column]) duplicates.delete(column);
  }
  return duplicates;
}

function candidates({ counts, hashes }: ColumnStatistics): Map<number, number> {
  const table = new HashTable(...hashes);
  const duplicates = new Map<number, number>();
  for (let column = 0; column < counts.length; column += 1) {
    if (counts[column] === 0) continue;
    const earlier = table.earlier(column);
    if (earlier >= 0 && counts[earlier] === counts[column]) duplicates.set(column, earlier);
  }
  return duplicates;
}

/** How many entries of each column equal those of the earlier column in the same row. */
function countMatches(
  duplicates: ReadonlyMap<number, number>,
  columns: number,
  parts: Iterable<DatasetPart>,
): Int32Array {
  const earlierOf = new Int32Array(columns).fill(-1);
  for (const [column, earlier] of duplicates) earlierOf[column] = earlier;
  const matches = new Int32Array(columns);
  for (const { rowOffsets, labels, indices, values } of parts) {
    for (let row = 0; row < labels.length; row += 1) {
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
        const earlier = earlierOf[indices[entry]];
        if (earlier < 0) continue;
        const other = lowerBound(earlier, indices, rowOffsets[row], entry);
        if (indices[other] === earlier && values[other] === values[entry]) {
          matches[indices[entry]] += 1;
        }
      }
    }
  }
  return matches;
}

/** The first of the ascending indices from … to - 1 that is not below the column; `to` if none. */
function lowerBound(column: number, indices: Int32Array, from: number, to: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (indices[middle] < column) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Statistics of each column from one pass over the rows: 20 bytes per column. */
export class ColumnStatistics {
  /** Entries that are not 0; their smallest and largest value. */
  readonly counts: Int32Array;
  readonly smallest: Float32Array;
  readonly largest: Float32Array;
  /** Both halves of a hash of the column's pairs of row and value. */
  readonly hashes: readonly [Int32Array, Int32Array];
  /** Whether every value is a whole number. */
  allWhole = true;

  constructor(columns: number) {
    this.counts = new Int32Array(columns);
    this.smallest = new Float32Array(columns).fill(Number.POSITIVE_INFINITY);
    this.largest = new Float32Array(columns).fill(Number.NEGATIVE_INFINITY);
    this.hashes = [new Int32Array(columns), new Int32Array(columns)];
  }

  add({ rowOffsets, labels, indices, values }: DatasetPart, firstRow: number): void {
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    const { counts, smallest, largest } = this;
    const [left, right] = this.hashes;
    for (let local = 0; local < labels.length; local += 1) {
      const row = firstRow + local;
      const rowLeft = Math.imul(row ^ (row >>> 16), first);
      const rowRight = Math.imul(row + 1, third);
      for (let entry = rowOffsets[local]; entry < rowOffsets[local + 1]; entry += 1) {
        const column = indices[entry];
        const value = values[entry];
        counts[column] += 1;
        if (value < smallest[column]) smallest[column] = value;
        if (value > largest[column]) largest[column] = value;
        // Rows come in one order for all columns, so that the hash may depend on it.
        let word = Math.imul(rowLeft ^ Math.imul(bits[entry], second), third);
        word ^= word >>> 15;
        left[column] = Math.imul(left[column], fourth) + word;
        word = Math.imul(rowRight + Math.imul(bits[entry], fourth), first);
        right[column] += word ^ (word >>> 13);
      }
    }
    if (this.allWhole) this.allWhole = values.every(Number.isInteger);
  }

  /** The largest |value| of a column; 0 if it is empty. */
  size(column: number): number {
    if (this.counts[column] === 0) return 0;
    return Math.max(Math.abs(this.smallest[column]), Math.abs(this.largest[column]));
  }
}
