import { describe, expect, test } from 'vitest';
import { datasetFromCsr, datasetFromRows } from '../../../src/data/from-arrays.ts';
import { DataError } from '../../../src/errors.ts';
import { rowsOf } from './support/flat.ts';

const rows = [
  { indices: [2, 0], values: [0.5, 1] },
  { indices: [], values: [] },
  { indices: Int32Array.of(1, 3), values: Float32Array.of(-2, 0) },
];
const labels = [1, -1, -0];
const expected = [[1, [0, 1], [2, 0.5]], [-1], [0, [1, -2]]];

describe('rows', () => {
  test('are copied, sorted, rounded to float32 and rid of zeros', () => {
    const dataset = datasetFromRows({ rows, labels });
    expect(rowsOf(dataset)).toEqual(expected);
    expect(dataset).toMatchObject({ name: 'array', rows: 3, columns: 4, nonzeros: 3, notices: [] });
    const rounded = datasetFromRows({ rows: [{ indices: [0], values: [0.1] }], labels: [1] });
    expect(rounded.parts[0].values[0]).toBe(Math.fround(0.1));
  });

  test('lie on shared memory', () => {
    const [part] = datasetFromRows({ rows, labels }).parts;
    for (const array of [part.labels, part.rowOffsets, part.indices, part.values]) {
      expect(array.buffer).toBeInstanceOf(SharedArrayBuffer);
    }
    expect(part.values.buffer.byteLength).toBe(12);
  });

  test('a number of columns', () => {
    expect(datasetFromRows({ rows, labels, columns: 9 }).columns).toBe(9);
  });

  test.each([
    [{ rows, labels: [1] }, 'array: 3 rows but 1 labels'],
    [{ rows: [], labels: [] }, 'array: no rows; expected at least one'],
    [
      { rows: [{ indices: [1, 2], values: [1] }], labels: [1] },
      'array: row 0: 2 indices but 1 values',
    ],
    [
      { rows: [rows[0], { indices: [1, -1], values: [1, 1] }], labels: [1, 1], name: 'mine' },
      'mine: row 1, entry 1: index -1; expected a whole number from 0 to 2147483646',
    ],
    [
      { rows: [{ indices: [0.5], values: [1] }], labels: [1] },
      'array: row 0, entry 0: index 0.5; expected a whole number from 0 to 2147483646',
    ],
    [
      { rows: [{ indices: [2 ** 31 - 1], values: [1] }], labels: [1] },
      'array: row 0, entry 0: index 2147483647; expected a whole number from 0 to 2147483646',
    ],
    [
      { rows: [{ indices: [4], values: [1] }], labels: [1], columns: 4 },
      'array: row 0, entry 0: index 4; expected a whole number from 0 to 3',
    ],
    [
      { rows: [{ indices: [4], values: [Number.NaN] }], labels: [1] },
      'array: row 0, entry 0: value NaN; expected a number below 3.4e38',
    ],
    [
      { rows: [{ indices: [4], values: [1e39] }], labels: [1] },
      'array: row 0, entry 0: value 1e+39; expected a number below 3.4e38',
    ],
    [
      { rows: [{ indices: [4, 1, 4], values: [1, 2, 3] }], labels: [1] },
      'array: row 0: index 4 appears more than once; expected distinct indices',
    ],
    [
      { rows: [{ indices: [], values: [] }], labels: [Infinity] },
      'array: row 0: label Infinity; expected a finite number',
    ],
    [{ rows, labels, columns: 1.5 }, 'array: 1.5 columns; expected a whole number'],
  ])('rejected %#', (input, message) => {
    expect(() => datasetFromRows(input)).toThrow(new DataError(message));
  });
});

describe('compressed rows', () => {
  const csr = {
    rowOffsets: [0, 2, 2, 4],
    indices: [2, 0, 1, 3],
    values: [0.5, 1, -2, 0],
    labels,
  };

  test('give the same dataset', () => {
    expect(datasetFromCsr(csr)).toEqual(datasetFromRows({ rows, labels }));
  });

  test('the input stays as it was', () => {
    const indices = Int32Array.of(2, 0, 1, 3);
    datasetFromCsr({ ...csr, indices });
    expect(Array.from(indices)).toEqual([2, 0, 1, 3]);
  });

  test.each([
    [{ rowOffsets: [0, 2, 4] }, 'array: 3 row offsets; expected one more than the 3 labels'],
    [{ rowOffsets: [1, 2, 2, 4] }, 'array: row offset 0 is 1; expected 0'],
    [{ rowOffsets: [0, 3, 2, 4] }, 'array: row offset 2 is 2; expected a whole number ≥ 3'],
    [{ rowOffsets: [0, 1.5, 2, 4] }, 'array: row offset 1 is 1.5; expected a whole number ≥ 0'],
    [{ rowOffsets: [0, 2, 2, 5] }, 'array: the last row offset is 5; expected 4'],
    [{ values: [1, 2] }, 'array: 4 indices but 2 values'],
    [
      { indices: [2, 0, 1, -3] },
      'array: row 2, entry 1: index -3; expected a whole number from 0 to 2147483646',
    ],
  ])('rejected %#', (change, message) => {
    expect(() => datasetFromCsr({ ...csr, ...change })).toThrow(new DataError(message));
  });
});
