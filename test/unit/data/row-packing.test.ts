import { describe, expect, test } from 'vitest';
import type { DatasetPart } from '../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../src/data/from-arrays.ts';
import {
  columnCounts,
  packedBytes,
  packRows,
  rowLengths,
  unpackRows,
} from '../../../src/data/row-packing.ts';
import { fc } from '../../support/property.ts';
import { anyDataset, bitsOf } from './binary/support.ts';
import { cutAt } from './support/cut.ts';
import { rowsOf } from './support/flat.ts';

const sample = datasetFromRows({
  rows: [
    { indices: [0, 2], values: [1, 2] },
    { indices: [], values: [] },
    { indices: [1, 2, 5], values: [3, 4, 5] },
  ],
  labels: [1, -1, 0.5],
});

/** A data set made of parts. */
function madeOf(parts: readonly DatasetPart[], columns: number) {
  const rows = parts.reduce((sum, { labels }) => sum + labels.length, 0);
  const nonzeros = parts.reduce((sum, { values }) => sum + values.length, 0);
  return { name: 'parts', parts, rows, columns, nonzeros, notices: [] };
}

describe('facts of a share', () => {
  test('lengths of rows and counts of columns', () => {
    expect([...rowLengths(sample)]).toEqual([2, 0, 3]);
    expect([...columnCounts(sample, 8)]).toEqual([1, 1, 2, 0, 0, 1, 0, 0]);
    expect(rowLengths(sample).buffer).toBeInstanceOf(SharedArrayBuffer);
    expect([...rowLengths({ parts: [], rows: 0 })]).toEqual([]);
    expect([...columnCounts({ parts: [] }, 2)]).toEqual([0, 0]);
  });

  test('add up, however the rows are cut', () => {
    const shares = cutAt(sample, [1, 1, 2]);
    expect(shares.flatMap((share) => [...rowLengths(share)])).toEqual([2, 0, 3]);
    const counts = shares.map((share) => columnCounts(share, 6));
    const sums = Array.from({ length: 6 }, (_, column) =>
      counts.reduce((sum, count) => sum + count[column], 0),
    );
    expect(sums).toEqual([...columnCounts(sample, 6)]);
  });
});

describe('packed rows', () => {
  test('are labels, then indices, then values, on shared memory', () => {
    const bytes = packRows(sample, Int32Array.of(2, 0));
    expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(bytes.length).toBe(packedBytes(Int32Array.of(3, 2)));
    expect([...new Float64Array(bytes.buffer, 0, 2)]).toEqual([0.5, 1]);
    expect([...new Int32Array(bytes.buffer, 16, 5)]).toEqual([1, 2, 5, 0, 2]);
    expect([...new Float32Array(bytes.buffer, 36, 5)]).toEqual([3, 4, 5, 1, 2]);
  });

  test('are not copied where they can be used as they lie', () => {
    const bytes = packRows(sample, Int32Array.of(0, 2));
    const lengths = Int32Array.of(2, 3);
    const [part] = unpackRows(bytes, lengths);
    expect(part.values.buffer).toBe(bytes.buffer);
    const odd = new Uint8Array(new SharedArrayBuffer(bytes.length + 4)).subarray(4);
    odd.set(bytes);
    for (const other of [odd, Uint8Array.from(bytes)]) {
      const [copy] = unpackRows(other, lengths);
      expect(copy.values.buffer).toBeInstanceOf(SharedArrayBuffer);
      expect(bitsOf(madeOf([copy], 6))).toEqual(bitsOf(madeOf([part], 6)));
    }
    // Room for more in front: rows received into one large buffer.
    const large = new Uint8Array(new SharedArrayBuffer(bytes.length + 16));
    large.set(bytes, 16);
    const [view] = unpackRows(large.subarray(16), lengths);
    expect(view.labels.buffer).toBe(large.buffer);
    expect(rowsOf(madeOf([view], 6))).toEqual(rowsOf(madeOf([part], 6)));
  });

  test('come in several parts when there are too many entries for one', () => {
    const bytes = packRows(sample, Int32Array.of(0, 1, 2, 0));
    const lengths = Int32Array.of(2, 0, 3, 2);
    const whole = unpackRows(bytes, lengths);
    expect(whole).toHaveLength(1);
    for (const { most, rows } of [
      // A row has a part of its own if it is too long, and an empty row fits anywhere.
      { most: 1, rows: [1, 1, 1, 1] },
      { most: 2, rows: [2, 1, 1] },
      { most: 5, rows: [3, 1] },
      { most: 7, rows: [4] },
    ]) {
      const parts = unpackRows(bytes, lengths, most);
      expect(parts.map(({ labels }) => labels.length)).toEqual(rows);
      expect(bitsOf(madeOf(parts, 6))).toEqual(bitsOf(madeOf(whole, 6)));
    }
  });

  test('none', () => {
    expect(packRows({ parts: [] }, new Int32Array(0))).toHaveLength(0);
    expect(unpackRows(new Uint8Array(0), new Int32Array(0))).toEqual([]);
  });

  test('mistakes of the caller', () => {
    expect(() => packRows(sample, Int32Array.of(3))).toThrow(RangeError);
    expect(() => packRows(sample, Int32Array.of(-1))).toThrow(RangeError);
    expect(() => packRows({ parts: [] }, Int32Array.of(0))).toThrow(RangeError);
    const bytes = packRows(sample, Int32Array.of(0));
    expect(() => unpackRows(bytes, Int32Array.of(3))).toThrow(RangeError);
  });

  test('go to any owners and are the same rows there', () => {
    fc.assert(
      fc.property(
        anyDataset,
        fc.array(fc.nat(20), { maxLength: 5 }),
        fc.array(fc.nat(4), { minLength: 20, maxLength: 20 }),
        (whole, positions, owners) => {
          const shares = cutAt(whole, positions);
          const lengths = rowLengths(whole);
          const expected = rowsOf(whole);
          for (let owner = 0; owner < 5; owner += 1) {
            const mine = expected.filter((_, row) => owners[row] === owner);
            const parts: DatasetPart[] = [];
            let first = 0;
            for (const share of shares) {
              const numbers = Array.from({ length: share.rows }, (_, row) => row).filter(
                (row) => owners[first + row] === owner,
              );
              const bytes = packRows(share, Int32Array.from(numbers));
              const sizes = Int32Array.from(numbers, (row) => lengths[first + row]);
              parts.push(...unpackRows(bytes, sizes));
              first += share.rows;
            }
            expect(rowsOf(madeOf(parts, whole.columns))).toEqual(mine);
          }
        },
      ),
    );
  });
});
