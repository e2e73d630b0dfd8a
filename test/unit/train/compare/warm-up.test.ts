import { expect, test } from 'vitest';
import { datasetFromCsr } from '../../../../src/data/from-arrays.ts';
import { warmUpSample } from '../../../../src/train/compare/compare.ts';
import { inParts, sample } from '../../../support/data.ts';

test('small data is taken as it is', () => {
  const { dataset } = sample();
  expect(warmUpSample(dataset)).toBe(dataset);
});

test('of large data every n-th row, wherever parts begin', () => {
  // Every value of row i is i + 1; 30,000 rows of 50 make 1.5 million.
  const rows = 30_000;
  const perRow = 50;
  const large = datasetFromCsr({
    rowOffsets: Int32Array.from({ length: rows + 1 }, (_, row) => row * perRow),
    indices: Int32Array.from({ length: rows * perRow }, (_, k) => k % perRow),
    values: Float32Array.from({ length: rows * perRow }, (_, k) => Math.floor(k / perRow) + 1),
    labels: Float64Array.from({ length: rows }, (_, row) => (row % 2 ? 1 : -1)),
    columns: 60,
  });
  const taken = warmUpSample(inParts(large, 997));
  expect(taken.rows).toBe(10_000);
  expect(taken.nonzeros).toBe(500_000);
  expect(taken.columns).toBe(60);
  const firsts = taken.parts.flatMap((part) =>
    [...part.labels].map((_, row) => part.values[part.rowOffsets[row]]),
  );
  expect(firsts).toEqual(Array.from({ length: 10_000 }, (_, k) => 3 * k + 1));
  const labels = taken.parts.flatMap((part) => [...part.labels]);
  expect(labels.slice(0, 3)).toEqual([-1, 1, -1]);
});
