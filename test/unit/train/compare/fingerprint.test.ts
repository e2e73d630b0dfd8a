import { expect, test } from 'vitest';
import { hashNumbers } from '../../../../src/data/fingerprint.ts';
import { summarizeData } from '../../../../src/train/compare/compare.ts';
import { datasetOf, inParts, sample } from '../../../support/data.ts';

const { rows, labels, dataset } = sample({ rows: 40, columns: 6 });
const { hash } = summarizeData(dataset);

test('does not depend on the cut into parts', () => {
  const cut = inParts(dataset, 7);
  expect(cut.parts.length).toBeGreaterThan(1);
  expect(summarizeData(cut)).toEqual(summarizeData(dataset));
});

test('changes with any label, value, index or column', () => {
  const changed = rows.map((row) => [...row]);
  const column = changed[3].findIndex((value) => value !== 0);
  changed[3][column] *= 2;
  const moved = rows.map((row) => [...row]);
  const gap = moved.findIndex((row) => row[0] === 0 && row[1] !== 0);
  [moved[gap][0], moved[gap][1]] = [moved[gap][1], 0];
  const others = [
    datasetOf(changed, labels),
    datasetOf(moved, labels),
    datasetOf(rows, labels.with(5, -labels[5])),
    datasetOf(rows, labels, 7),
    datasetOf(rows.slice(1), labels.slice(1)),
  ];
  const hashes = [hash, ...others.map((other) => summarizeData(other).hash)];
  expect(new Set(hashes).size).toBe(hashes.length);
});

test('hashes of numbers tell them apart', () => {
  expect(hashNumbers(Float64Array.of(1, 2))).not.toBe(hashNumbers(Float64Array.of(2, 1)));
});
