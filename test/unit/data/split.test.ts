import { expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../src/data/from-arrays.ts';
import { splitDataset } from '../../../src/data/split.ts';
import { DataError, UsageError } from '../../../src/errors.ts';
import { rowsOf } from './support/flat.ts';

/** Row i has label i and i % 4 entries, so that every row can be recognized. */
function numbered(first: number, count: number): Dataset {
  const numbers = Array.from({ length: count }, (_, row) => first + row);
  const rows = numbers.map((number) => {
    const indices = Array.from({ length: number % 4 }, (_, entry) => 2 * entry);
    return { indices, values: indices.map((index) => number + index + 1) };
  });
  return datasetFromRows({ rows, labels: numbers, name: 'train.svm', columns: 50 });
}

function inParts(...sizes: number[]): Dataset {
  let rows = 0;
  const pieces = sizes.map((size) => {
    const piece = numbered(rows, size);
    rows += size;
    return piece;
  });
  const nonzeros = pieces.reduce((sum, piece) => sum + piece.nonzeros, 0);
  return { ...pieces[0], rows, nonzeros, parts: pieces.flatMap((piece) => piece.parts) };
}

const labelsOf = (dataset: Dataset) => dataset.parts.flatMap((part) => [...part.labels]);

test('every row goes to one side, whole and in order', () => {
  const dataset = inParts(30, 1, 69);
  const { train, test: held } = splitDataset(dataset, 0.2, 1);
  expect(held.rows).toBe(20);
  expect(train.rows).toBe(80);
  expect(train.nonzeros + held.nonzeros).toBe(dataset.nonzeros);
  expect([train.columns, held.columns]).toEqual([50, 50]);
  for (const side of [train, held]) {
    const labels = labelsOf(side);
    expect(labels).toEqual([...labels].sort((left, right) => left - right));
    for (const part of side.parts) expect(part.values.buffer).toBeInstanceOf(SharedArrayBuffer);
  }
  const all = [...rowsOf(train), ...rowsOf(held)];
  all.sort((left, right) => Number(left[0]) - Number(right[0]));
  expect(all).toEqual(rowsOf(dataset));
});

test('depends on the seed, not on the parts', () => {
  const labels = (dataset: Dataset, seed: number) =>
    labelsOf(splitDataset(dataset, 0.3, seed).test);
  expect(labels(inParts(100), 5)).toEqual(labels(inParts(1, 50, 49), 5));
  expect(labels(inParts(100), 5)).not.toEqual(labels(inParts(100), 6));
});

test('every row is as likely to be held out as any other', () => {
  const dataset = inParts(10);
  const counts = new Array(10).fill(0);
  for (let seed = 0; seed < 2000; seed += 1) {
    for (const label of labelsOf(splitDataset(dataset, 0.3, seed).test)) counts[label] += 1;
  }
  // 600 expected, standard deviation 20.5.
  for (const count of counts) expect(Math.abs(count - 600)).toBeLessThan(100);
});

test('each side has a row', () => {
  expect(splitDataset(inParts(2), 0.001, 1).test.rows).toBe(1);
  expect(splitDataset(inParts(3), 0.999, 1).train.rows).toBe(1);
});

test('rejects what cannot be split', () => {
  expect(() => splitDataset(inParts(1), 0.5, 1)).toThrow(
    new DataError('train.svm: one row cannot be split; expected at least two'),
  );
  for (const fraction of [0, 1, -0.5, Number.NaN]) {
    expect(() => splitDataset(inParts(5), fraction, 1)).toThrow(UsageError);
  }
});
