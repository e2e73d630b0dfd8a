import { expect, test } from 'vitest';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { DataError } from '../../../../src/errors.ts';
import { checkLabels, losses } from '../../../../src/losses/index.ts';
import { train } from '../../../../src/train/train.ts';

function labelled(...labels: number[]) {
  const rows = labels.map(() => ({ indices: [0], values: [1] }));
  return datasetFromRows({ rows, labels, columns: 1 });
}

test('counts of 0 and more are what Poisson regression wants', () => {
  expect(() => checkLabels(losses.poisson(), labelled(0, 1, 2.5, 1e80))).not.toThrow();
});

test.each([-1, -1e-300, Number.NaN, Infinity, 1e81])('%g is refused, with its row', (label) => {
  const dataset = { name: 'counts', parts: [{ labels: Float64Array.of(3, label, 0) }] };
  expect(() => checkLabels(losses.poisson(), dataset)).toThrow(DataError);
  expect(() => checkLabels(losses.poisson(), dataset, 100)).toThrow(
    `row 102 has label ${label}; the poisson loss wants a number from 0 to 1e80`,
  );
});

test('other losses take any label', () => {
  expect(() => checkLabels(losses.square(), labelled(-1, 1e90))).not.toThrow();
});

test('training refuses them, of the rows trained on and of the test rows', async () => {
  const options = { loss: losses.poisson() };
  await expect(train(labelled(1, 2, -3), options)).rejects.toThrow('row 3 has label -3');
  await expect(train(labelled(1, 2, 3), { ...options, test: labelled(1, -2) })).rejects.toThrow(
    'row 2 has label -2',
  );
  await expect(train(labelled(1, 2, -3, 4), { ...options, holdout: 0.5 })).rejects.toThrow(
    'row 3 has label -3',
  );
});
