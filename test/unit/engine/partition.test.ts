import { describe, expect, test } from 'vitest';
import { workersOfRanks } from '../../../src/engine/block-layout.ts';
import {
  localPartition,
  type Partition,
  placeRowsAndColumns,
} from '../../../src/engine/partition.ts';
import { datasetOf, inParts, sample, zipfDataset } from '../../support/data.ts';
import { countEntries, partition } from '../../support/partition.ts';

const text = zipfDataset({ rows: 4000, columns: 3000, perRow: 20 });

const sorted = (array: Int32Array) => [...array].sort((a, b) => a - b);
const upTo = (count: number) => Array.from({ length: count }, (_, k) => k);

function lengths(starts: Int32Array): number[] {
  return upTo(starts.length - 1).map((k) => starts[k + 1] - starts[k]);
}

/** The largest share over the fair one, minus 1. */
function excess(shares: readonly number[]): number {
  const total = shares.reduce((sum, share) => sum + share, 0);
  return (Math.max(...shares) * shares.length) / total - 1;
}

function blockEntries({ size, columnStarts, columnCounts }: Partition): number[] {
  return upTo(size).map((block) =>
    columnCounts
      .subarray(columnStarts[block], columnStarts[block + 1])
      .reduce((sum, count) => sum + count, 0),
  );
}

describe.each([1, 2, 3, 8])('grid %i', (size) => {
  test.each([false, true])(
    'every row and column is in one position (intercept %s)',
    (intercept) => {
      const parts = partition(text, size, 1, intercept);
      const columns = text.columns + (intercept ? 1 : 0);
      expect(sorted(parts.rowOrder)).toEqual(upTo(text.rows));
      expect(sorted(parts.columnOrder)).toEqual(upTo(columns));
      for (const starts of [parts.rowStarts, parts.columnStarts]) {
        expect(starts).toHaveLength(size + 1);
        expect(starts[0]).toBe(0);
        expect(Math.min(...lengths(starts))).toBeGreaterThan(0);
      }
      expect(parts.rowStarts[size]).toBe(text.rows);
      expect(parts.columnStarts[size]).toBe(columns);
      for (let column = 0; column < columns; column++) {
        const position = parts.columnPosition[column];
        const block = parts.columnBlock[column];
        expect(parts.columnOrder[position]).toBe(column);
        expect(
          position >= parts.columnStarts[block] && position < parts.columnStarts[block + 1],
        ).toBe(true);
      }
    },
  );

  test('rows, columns and entries are balanced on skewed data', () => {
    const parts = partition(text, size, 1, false);
    expect(excess(lengths(parts.rowStarts))).toBeLessThan(0.03);
    expect(excess(lengths(parts.columnStarts))).toBeLessThan(0.01);
    expect(excess([...parts.workerNonzeros])).toBeLessThan(0.03);
    expect(excess(blockEntries(parts))).toBeLessThan(0.02);
  });
});

test('counts are those of the data, with the intercept in every row', () => {
  const { rows, dataset } = sample({ rows: 30, columns: 8, density: 0.3 });
  for (const intercept of [false, true]) {
    const extra = intercept ? 1 : 0;
    const parts = partition(dataset, 3, 4, intercept);
    const inRow = rows.map((row) => row.filter((x) => x !== 0).length + extra);
    const inColumn = upTo(8).map((j) => rows.filter((row) => row[j] !== 0).length);
    if (intercept) inColumn.push(rows.length);
    expect([...parts.rowCounts]).toEqual([...parts.rowOrder].map((row) => inRow[row]));
    expect([...parts.columnCounts]).toEqual([...parts.columnOrder].map((j) => inColumn[j]));
    const perWorker = upTo(3).map((worker) =>
      parts.rowCounts
        .subarray(parts.rowStarts[worker], parts.rowStarts[worker + 1])
        .reduce((sum, count) => sum + count, 0),
    );
    expect([...parts.workerNonzeros]).toEqual(perWorker);
  }
});

test('frequent columns come first in their block', () => {
  const { size, columnStarts, columnCounts } = partition(text, 4, 1, false);
  for (let block = 0; block < size; block++) {
    for (let position = columnStarts[block] + 1; position < columnStarts[block + 1]; position++) {
      expect(columnCounts[position]).toBeLessThanOrEqual(columnCounts[position - 1]);
    }
  }
});

test('depends on the data, the seed and the grid alone', () => {
  const first = partition(text, 4, 7, false);
  expect(partition(inParts(text, 97), 4, 7, false)).toEqual(first);
  expect(partition(text, 4, 8, false).rowOrder).not.toEqual(first.rowOrder);
  expect(partition(text, 3, 7, false).rowStarts).not.toEqual(first.rowStarts);
});

test('as many workers as rows, rows without entries, columns without entries', () => {
  const dataset = datasetOf(
    [
      [0, 0, 1, 0],
      [0, 0, 0, 0],
      [2, 0, 1, 0],
    ],
    [1, -1, 1],
  );
  const parts = partition(dataset, 3, 1, false);
  expect(sorted(parts.rowOrder)).toEqual([0, 1, 2]);
  expect(lengths(parts.rowStarts).reduce((sum, length) => sum + length)).toBe(3);
  expect(sorted(parts.columnOrder)).toEqual([0, 1, 2, 3]);
});

describe.each([1, 2, 3, 4])('the holdings of %i ranks', (ranks) => {
  const { dataset } = sample({ rows: 40, columns: 17, density: 0.3 });

  test.each([1, 2, 3, 4, 5, 6, 7])(
    'with %i workers are those of one process, dealt out',
    (size) => {
      const whole = partition(dataset, size, 2, true);
      const counts = countEntries(dataset, true);
      const placement = placeRowsAndColumns(counts, size, 2);
      const firsts = workersOfRanks(size, ranks);
      const parts = upTo(ranks).map((rank) =>
        localPartition(placement, counts, firsts[rank], firsts[rank + 1]),
      );
      for (const field of ['rowOrder', 'rowCounts', 'columnOrder', 'columnCounts'] as const) {
        expect(parts.flatMap((part) => [...part[field]])).toEqual([...whole[field]]);
      }
      for (const part of parts) {
        const { first, end, rowBounds, rowStarts, columnBounds, columnStarts } = part;
        expect([...rowBounds]).toEqual([...whole.rowStarts]);
        expect([...columnBounds]).toEqual([...whole.columnStarts]);
        expect([...part.columnPosition]).toEqual([...whole.columnPosition]);
        for (const worker of upTo(size)) {
          const mine = worker >= first && worker < end;
          const ends = (starts: Int32Array) => [starts[worker], starts[worker + 1]];
          const expected = (bounds: Int32Array) =>
            ends(bounds).map((bound) => bound - bounds[first]);
          const [from, to] = ends(rowStarts);
          if (mine) expect([from, to]).toEqual(expected(rowBounds));
          else expect(to).toBe(from);
          const [left, right] = ends(columnStarts);
          if (mine) expect([left, right]).toEqual(expected(columnBounds));
          else expect(right).toBe(left);
        }
      }
    },
  );
});
