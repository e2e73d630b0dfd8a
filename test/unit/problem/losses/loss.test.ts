import { expect, test } from 'vitest';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { DataError } from '../../../../src/errors.ts';
import {
  checkLabels,
  lossByName,
  losses,
  lossNames,
  meanOfScore,
  traitsOf,
} from '../../../../src/problem/losses/index.ts';
import type { EpochEvent } from '../../../../src/train/events.ts';
import { train } from '../../../../src/train/train.ts';
import { sampleFor } from '../../../support/data.ts';

test('a score of Poisson regression is the logarithm of a mean', () => {
  expect(lossNames.filter((name) => traitsOf({ name }).link === 'log')).toEqual(['poisson']);
  expect(meanOfScore('log', 0)).toBe(1);
  expect(meanOfScore('log', Math.log(5))).toBeCloseTo(5, 14);
});

test('of other losses it is the prediction itself', () => {
  expect(meanOfScore('identity', -2.5)).toBe(-2.5);
});

test('the error on test rows while training is that of the means', async () => {
  const loss = losses.poisson();
  const { dataset } = sampleFor(loss);
  const { dataset: held, rows, labels } = sampleFor(loss, { seed: 2 });
  let last: EpochEvent | undefined;
  const { model } = await train(dataset, {
    loss,
    test: held,
    lambda: 0.1,
    threads: 1,
    onEpoch: (event) => {
      last = event;
    },
  });
  const squares = rows.map((row, i) => {
    const score = row.reduce((sum, x, j) => sum + x * model.weights[j], 0);
    return (Math.exp(score) - labels[i]) ** 2;
  });
  const mean = squares.reduce((sum, square) => sum + square, 0) / rows.length;
  expect(last?.testError).toBeCloseTo(mean, 10);
});

test('the traits of a model’s loss are those of its entry; a custom loss of that name has none', () => {
  for (const name of lossNames) {
    const loss = lossByName(name);
    expect(traitsOf({ name }).link ?? 'identity').toBe(loss.link);
    expect(traitsOf({ name }).givesProbabilities ?? false).toBe(loss.givesProbabilities);
    expect(traitsOf({ name, module: 'file:///own.js' })).toEqual({});
  }
  expect(traitsOf({ name: 'toString' })).toEqual({});
});

function labelled(...labels: number[]) {
  const rows = labels.map(() => ({ indices: [0], values: [1] }));
  return datasetFromRows({ rows, labels, columns: 1 });
}

test('counts of 0 and more are what Poisson regression needs', () => {
  expect(() => checkLabels(losses.poisson(), labelled(0, 1, 2.5, 1e80))).not.toThrow();
});

test.each([-1, -1e-300, Number.NaN, Infinity, 1e81])('%g is refused, with its row', (label) => {
  const dataset = { name: 'counts', parts: [{ labels: Float64Array.of(3, label, 0) }] };
  expect(() => checkLabels(losses.poisson(), dataset)).toThrow(DataError);
  expect(() => checkLabels(losses.poisson(), dataset, 100)).toThrow(
    `row 102 has label ${label}; the poisson loss needs a number from 0 to 1e80`,
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
