import { expect, test } from 'vitest';
import { hasLogLink, losses, lossNames, meanOfScore } from '../../../src/losses/index.ts';
import type { EpochEvent } from '../../../src/train/events.ts';
import { train } from '../../../src/train/train.ts';
import { sampleFor } from '../../support/data.ts';

test('a score of Poisson regression is the logarithm of a mean', () => {
  expect(lossNames.filter(hasLogLink)).toEqual(['poisson']);
  expect(meanOfScore('poisson', 0)).toBe(1);
  expect(meanOfScore('poisson', Math.log(5))).toBeCloseTo(5, 14);
});

test('of other losses it is the prediction itself', () => {
  expect(meanOfScore('square', -2.5)).toBe(-2.5);
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
