import { describe, expect, test } from 'vitest';
import {
  cutSegments,
  localPartition,
  placeRowsAndColumns,
  rowsTogether,
} from '../../../src/engine/partition.ts';
import { intervalOf } from '../../../src/math/vectors.ts';

/** A partition of rows that have so many entries each. */
function partitionOf(rows: number, perRow: (row: number) => number, size: number) {
  const counts = {
    rows: Int32Array.from({ length: rows }, (_, row) => perRow(row)),
    columns: new Int32Array(size).fill(1),
  };
  return localPartition(placeRowsAndColumns(counts, size, 1), counts, 0, size);
}

describe('segments', () => {
  test('small data has one for each worker', () => {
    const partition = partitionOf(3000, () => 100, 2);
    for (const [worker, starts] of cutSegments(partition).entries()) {
      expect([...starts]).toEqual([
        0,
        partition.rowBounds[worker + 1] - partition.rowBounds[worker],
      ]);
    }
  });

  test('are whole runs of rows with about as many entries each', () => {
    const partition = partitionOf(20_000, (row) => 50 + (row % 20), 2);
    for (const [worker, starts] of cutSegments(partition).entries()) {
      const rows = partition.rowBounds[worker + 1] - partition.rowBounds[worker];
      expect(starts[0]).toBe(0);
      expect(starts[starts.length - 1]).toBe(rows);
      const inner = [...starts].slice(0, -1);
      expect(inner.every((start) => start % rowsTogether === 0)).toBe(true);
      const entries = inner.map((start, segment) => {
        const from = partition.rowStarts[worker];
        const counts = partition.rowCounts.subarray(from + start, from + starts[segment + 1]);
        return counts.reduce((sum, count) => sum + count, 0);
      });
      expect(entries.length).toBeGreaterThan(100);
      expect(Math.min(...entries.slice(0, -1))).toBeGreaterThanOrEqual(4096);
      expect(Math.max(...entries)).toBeLessThan(4096 + 70 * rowsTogether);
    }
  });

  test('are not longer than a megabyte, but for a run of long rows', () => {
    const [starts] = cutSegments(partitionOf(4000, () => 20_000, 1));
    expect(starts[1]).toBe(rowsTogether);
    const [many] = cutSegments(partitionOf(1_600_000, () => 200, 1));
    expect(many[1]).toBe(Math.ceil(2 ** 17 / 200 / rowsTogether) * rowsTogether);
  });

  test('a worker without rows has none', () => {
    const counts = { rows: Int32Array.of(5), columns: Int32Array.of(1, 1) };
    const partition = localPartition(placeRowsAndColumns(counts, 2, 1), counts, 0, 2);
    expect(cutSegments(partition).map(({ length }) => length - 1)).toEqual([1, 0]);
  });

  test('are found by row', () => {
    const starts = Int32Array.of(0, 16, 48, 60);
    expect([0, 15, 16, 47, 48, 59].map((row) => intervalOf(starts, row))).toEqual([
      0, 0, 1, 1, 2, 2,
    ]);
  });
});
