import { describe, expect, test } from 'vitest';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { describeQuality, type Quality } from '../../../../src/data/quality/quality.ts';
import { datasetOf, inParts } from '../../../support/data.ts';
import { fc } from '../../../support/property.ts';

type Rows = readonly (readonly number[])[];

/** What the definitions say, over dense rows and all pairs of them. */
function naive(rows: Rows, labels: readonly number[]) {
  const columns = rows[0].map((_, column) => rows.map((row) => row[column]));
  const same = (left: readonly number[], right: readonly number[]) =>
    left.every((value, position) => value === right[position]);
  const firstEqual = (all: Rows, position: number) =>
    all.findIndex((one) => same(one, all[position]));
  const empty = (line: readonly number[]) => line.every((value) => value === 0);
  const positions = (all: Rows, isMatch: (line: readonly number[], position: number) => boolean) =>
    [...all.keys()].filter((position) => isMatch(all[position], position));
  const repeats = (all: Rows) =>
    positions(all, (line, position) => !empty(line) && firstEqual(all, position) < position);
  return {
    emptyRows: positions(rows, empty),
    emptyColumns: positions(columns, empty),
    constantColumns: positions(
      columns,
      (line) =>
        !empty(line) &&
        same(
          line,
          line.map(() => line[0]),
        ),
    ),
    equalColumns: repeats(columns).map((column) => [column, firstEqual(columns, column)]),
    equalRows: repeats(rows).map((row) => [row, firstEqual(rows, row)]),
    otherLabel: repeats(rows).filter((row) => labels[row] !== labels[firstEqual(rows, row)]).length,
  };
}

function found(quality: Quality) {
  return {
    emptyRows: quality.emptyRows.first,
    emptyColumns: quality.emptyColumns.first.map(({ column }) => column),
    constantColumns: quality.constantColumns.first.map(({ column }) => column),
    equalColumns: quality.equalColumns.first.map(({ column, earlier }) => [column, earlier.column]),
    equalRows: quality.equalRows.first.map(({ row, earlier }) => [row, earlier]),
    otherLabel: quality.equalRows.otherLabel,
  };
}

/** Few values, so that rows and columns repeat. */
const tables = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
  .chain(([height, width]) => {
    const value = fc.constantFrom(0, 0, 0, 1, 1, -0.5);
    const row = fc.array(value, { minLength: width, maxLength: width });
    return fc.record({
      rows: fc.array(row, { minLength: height, maxLength: height }),
      labels: fc.array(fc.constantFrom(-1, 1), { minLength: height, maxLength: height }),
    });
  });

describe('what is found', () => {
  test('is what the definitions say, in any parts', () => {
    fc.assert(
      fc.property(tables, fc.integer({ min: 1, max: 9 }), ({ rows, labels }, rowsPerPart) => {
        const dataset = inParts(datasetOf(rows, labels), rowsPerPart);
        expect(found(describeQuality(dataset))).toEqual(naive(rows, labels));
      }),
      { numRuns: 300 },
    );
  });

  test('is the same among a thousand times as many empty columns', () => {
    const at = (column: number) => 1000 * column + 3;
    fc.assert(
      fc.property(tables, ({ rows, labels }) => {
        const near = datasetOf(rows, labels);
        const columns = at(rows[0].length);
        const parts = near.parts.map((part) => ({ ...part, indices: part.indices.map(at) }));
        const quality = describeQuality({ ...near, parts, columns });
        const expected = naive(rows, labels);
        expect(found(quality)).toEqual({
          ...expected,
          emptyColumns: [
            0,
            1,
            2,
            ...(expected.emptyColumns[0] === 0 ? [3] : []),
            4,
            5,
            6,
            7,
            8,
            9,
            10,
          ].slice(0, 10),
          constantColumns: expected.constantColumns.map(at),
          equalColumns: expected.equalColumns.map((pair) => pair.map(at)),
        });
        expect(quality.emptyColumns.count).toBe(
          columns - rows[0].length + expected.emptyColumns.length,
        );
      }),
      { numRuns: 100 },
    );
  });

  test('needs no memory for the columns in front of a large index', () => {
    const columns = 2 ** 31 - 1;
    const rows = [
      { indices: [0, 4], values: [1, 2] },
      { indices: [2, columns - 1], values: [1, 1.5] },
    ];
    // Arrays of so many columns would be tens of gigabytes.
    const quality = describeQuality(datasetFromRows({ rows, labels: [1, -1], columns }));
    expect(quality.emptyColumns.count).toBe(columns - 4);
    expect(quality.emptyColumns.first.map(({ column }) => column)).toEqual([
      1, 3, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
    expect(quality.scales).toMatchObject({ smallest: { column: 0 }, largest: { column: 4 } });
  });

  test('is counted in full and listed in part', () => {
    const rows = Array.from({ length: 30 }, () => [1, 0, 1]);
    const quality = describeQuality(
      datasetOf(
        rows,
        rows.map(() => 1),
      ),
    );
    expect(quality.equalRows.count).toBe(29);
    expect(quality.equalRows.first).toHaveLength(10);
    expect(quality.constantColumns).toEqual({
      count: 2,
      first: [
        { column: 0, value: 1 },
        { column: 2, value: 1 },
      ],
    });
  });

  test('does not take columns of the same values in other rows for equal', () => {
    const rows = [
      [2, 0],
      [0, 2],
      [3, 3],
    ];
    expect(describeQuality(datasetOf(rows, [1, -1, 1])).equalColumns.count).toBe(0);
  });

  test('has names where the data has', () => {
    const dataset = datasetOf([[0, 5, 5]], [1]);
    const quality = describeQuality({ ...dataset, featureNames: ['a', 'b', 'c'] });
    expect(quality.emptyColumns.first).toEqual([{ column: 0, name: 'a' }]);
    expect(quality.equalColumns.first).toEqual([
      { column: 2, name: 'c', earlier: { column: 1, name: 'b' } },
    ]);
  });

  test('is the same with the entries on disk', () => {
    const rows = [
      [1, 0, 1],
      [0, 0, 0],
      [1, 0, 1],
    ];
    const dataset = datasetOf(rows, [1, -1, -1]);
    const none = { indices: new Int32Array(0), values: new Float32Array(0) };
    const stored = {
      ...dataset,
      parts: dataset.parts.map((part) => ({ ...part, ...none })),
      stored: { folder: '', scan: () => dataset.parts, countColumns: () => new Int32Array(3) },
    };
    expect(describeQuality(stored)).toEqual(describeQuality(dataset));
  });
});

describe('sizes', () => {
  test('lengths of rows, density, values, scales', () => {
    const rows = [
      [1, 0, 0, 0],
      [1, 2, -8, 0],
      [0, 2, 0, 0],
      [0, 0, 0, 0],
    ];
    expect(describeQuality(datasetOf(rows, [1, -1, 1, -1]))).toMatchObject({
      rows: 4,
      columns: 4,
      nonzeros: 5,
      density: 5 / 16,
      rowLengths: { smallest: 0, median: 1, largest: 3 },
      values: { smallest: -8, largest: 2, whole: true },
      scales: { smallest: { column: 0, size: 1 }, largest: { column: 2, size: 8 }, ratio: 8 },
    });
  });

  test('distinguishes whole numbers from others', () => {
    expect(describeQuality(datasetOf([[1, 0.5]], [1])).values?.whole).toBe(false);
  });

  test('data without any entry has no values and no scales', () => {
    const quality = describeQuality(datasetOf([[0], [0]], [1, -1], 1));
    expect(quality).toMatchObject({ density: 0, emptyColumns: { count: 1 } });
    expect(quality).not.toHaveProperty('values');
    expect(quality).not.toHaveProperty('scales');
    expect(describeQuality(datasetOf([[]], [1], 0)).density).toBe(0);
  });
});

describe('labels', () => {
  test('the most frequent first, then the smaller', () => {
    const labels = [3, 1, 2, 3, 1, 7];
    const { labels: quality } = describeQuality(
      datasetOf(
        labels.map(() => [1]),
        labels,
      ),
    );
    expect(quality.distinct).toBe(4);
    expect(quality.top.map(({ label, count }) => [label, count])).toEqual([
      [1, 2],
      [3, 2],
      [2, 1],
      [7, 1],
    ]);
    expect(quality.range).toEqual({ smallest: 1, largest: 7, mean: 17 / 6 });
  });

  test('have their names, and no range', () => {
    const dataset = datasetOf([[1], [1], [1]], [0, 1, 1]);
    const { labels } = describeQuality({ ...dataset, labelNames: ['ham', 'spam'] });
    expect(labels).toEqual({
      distinct: 2,
      top: [
        { label: 'spam', count: 2, share: 2 / 3 },
        { label: 'ham', count: 1, share: 1 / 3 },
      ],
    });
  });

  test('are not counted one by one where nearly every row has its own', () => {
    const labels = Array.from({ length: 1200 }, (_, row) => row / 7);
    const quality = describeQuality(
      datasetOf(
        labels.map(() => [1]),
        labels,
      ),
    );
    expect(quality.labels).toMatchObject({ distinct: null, top: [], range: { smallest: 0 } });
  });
});

test('weights: a part without any has weights of 1', () => {
  const [first, second] = inParts(datasetOf([[1], [1], [1]], [1, -1, 1]), 2).parts;
  const dataset = datasetOf([[1], [1], [1]], [1, -1, 1]);
  const weighted = { ...first, weights: Float64Array.of(0, 2.5) };
  expect(describeQuality({ ...dataset, parts: [weighted, second] }).weights).toEqual({
    sum: 3.5,
    smallest: 0,
    largest: 2.5,
    zeros: 1,
  });
  expect(describeQuality(dataset)).not.toHaveProperty('weights');
});
