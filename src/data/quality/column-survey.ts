import type { DatasetPart } from '../dataset.ts';

/** Odd numbers without a pattern, as in the fingerprint of data. */
const first = 0xbb67ae85 | 0;
const second = 0x3c6ef373 | 0;
const third = 0xa54ff53b | 0;
const fourth = 0x510e527f | 0;

/** What one pass over the rows tells of each column: 20 bytes a column. */
export class ColumnSurvey {
  /** Entries that are not 0; their smallest and largest value. */
  readonly counts: Int32Array;
  readonly smallest: Float32Array;
  readonly largest: Float32Array;
  /** Both halves of a hash of the column's pairs of row and value. */
  readonly hashes: readonly [Int32Array, Int32Array];
  /** Whether every value that was met is a whole number. */
  allWhole = true;

  constructor(columns: number) {
    this.counts = new Int32Array(columns);
    this.smallest = new Float32Array(columns).fill(Number.POSITIVE_INFINITY);
    this.largest = new Float32Array(columns).fill(Number.NEGATIVE_INFINITY);
    this.hashes = [new Int32Array(columns), new Int32Array(columns)];
  }

  /** Takes in the rows of a part, which begin with row `firstRow` of the data. */
  add({ rowOffsets, labels, indices, values }: DatasetPart, firstRow: number): void {
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    const { counts, smallest, largest } = this;
    const [left, right] = this.hashes;
    for (let place = 0; place < labels.length; place += 1) {
      const row = firstRow + place;
      const rowLeft = Math.imul(row ^ (row >>> 16), first);
      const rowRight = Math.imul(row + 1, third);
      for (let entry = rowOffsets[place]; entry < rowOffsets[place + 1]; entry += 1) {
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
