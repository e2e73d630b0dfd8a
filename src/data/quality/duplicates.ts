import type { DatasetPart } from '../dataset.ts';
import { HashTable } from './hash-table.ts';

/** Odd numbers without a pattern, as in the fingerprint of data. */
const first = 0xbb67ae85 | 0;
const second = 0x3c6ef373 | 0;
const third = 0xa54ff53b | 0;
const fourth = 0x510e527f | 0;

export interface EqualRows {
  /** Rows whose features are those of an earlier row; empty rows are left out. */
  readonly count: number;
  /** Those of them whose label is not the one of that row. */
  readonly otherLabel: number;
  /** The first few, each with the earlier row, from 0. */
  readonly first: readonly { readonly row: number; readonly earlier: number }[];
}

/** Hashes of the features of rows, and then which rows are equal. */
export class RowSurvey {
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
    for (let place = 0; place < labels.length; place += 1) {
      const end = rowOffsets[place + 1];
      let left = 0;
      let right = 0;
      for (let entry = rowOffsets[place]; entry < end; entry += 1) {
        left = Math.imul(left ^ indices[entry], first) + Math.imul(bits[entry], second);
        left ^= left >>> 15;
        right = Math.imul(right + bits[entry], third) + Math.imul(indices[entry], fourth);
        right ^= right >>> 13;
      }
      this.#left[firstRow + place] = Math.imul(left ^ (left >>> 16), third);
      this.#right[firstRow + place] = Math.imul(right ^ (right >>> 16), first);
      this.#empty[firstRow + place] = rowOffsets[place] === end ? 1 : 0;
    }
  }

  /**
   * Which rows are equal. With the parts at hand the rows are compared; without, equal hashes of 64
   * bits have to do.
   */
  equalRows(shown: number, parts?: readonly DatasetPart[]): EqualRows {
    const table = new HashTable(this.#left, this.#right);
    const comparison = parts === undefined ? undefined : new RowComparison(parts);
    const examples: { row: number; earlier: number }[] = [];
    let count = 0;
    let otherLabel = 0;
    for (let row = 0; row < this.#left.length; row += 1) {
      if (this.#empty[row] === 1) continue;
      const earlier = table.earlier(row);
      if (earlier < 0 || comparison?.equal(earlier, row) === false) continue;
      count += 1;
      if (this.#labels[earlier] !== this.#labels[row]) otherLabel += 1;
      if (examples.length < shown) examples.push({ row, earlier });
    }
    return { count, otherLabel, first: examples };
  }
}

/** Rows of all parts by their number in the data. */
class RowComparison {
  readonly #parts: readonly DatasetPart[];
  /** The first row of each part, and the number of rows. */
  readonly #starts: Float64Array;

  constructor(parts: readonly DatasetPart[]) {
    this.#parts = parts;
    this.#starts = new Float64Array(parts.length + 1);
    parts.forEach(({ labels }, part) => {
      this.#starts[part + 1] = this.#starts[part] + labels.length;
    });
  }

  equal(left: number, right: number): boolean {
    const ours = this.#find(left);
    const theirs = this.#find(right);
    const length = ours.end - ours.start;
    if (theirs.end - theirs.start !== length) return false;
    for (let entry = 0; entry < length; entry += 1) {
      const [our, their] = [ours.start + entry, theirs.start + entry];
      if (ours.part.indices[our] !== theirs.part.indices[their]) return false;
      if (ours.part.values[our] !== theirs.part.values[their]) return false;
    }
    return true;
  }

  #find(row: number): { part: DatasetPart; start: number; end: number } {
    let low = 0;
    let high = this.#parts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#starts[middle] <= row) low = middle;
      else high = middle - 1;
    }
    const part = this.#parts[low];
    const place = row - this.#starts[low];
    return { part, start: part.rowOffsets[place], end: part.rowOffsets[place + 1] };
  }
}
