import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { UsageError } from '../../../src/errors.ts';
import { encodeModel } from '../../../src/model/file.ts';
import { predict } from '../../../src/model/predict/predict.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { startFromModel } from '../../../src/train/warm-start.ts';
import { zipfDataset } from '../../support/data.ts';

const logistic = { loss: losses.logistic(), intercept: true, threads: 1 } as const;

/** Rows of two words, every `period`th of which is the rare one, up to what the data says. */
function wordsOf(first: string, rare: string, period: number): Dataset {
  const data = zipfDataset({ rows: 200, columns: 30, perRow: 6 });
  let row = 0;
  const parts = data.parts.map((part) => ({
    ...part,
    labels: part.labels.map((label) => Number(label > 0 && row++ % period === 0)),
  }));
  return { ...data, parts, labelNames: [first, rare] };
}

const data = wordsOf('ok', 'fraud', 2);
const trained = (dataset: Dataset, options: TrainOptions = {}) =>
  train(dataset, { ...logistic, ...options });

test('is the rarer one of all rows, and in the report', async () => {
  const { model, report } = await trained(data);
  expect(model.classes).toEqual(['ok', 'fraud']);
  expect(report.positive).toBe('fraud');
  const held = await trained(data, { holdout: 0.3, threads: 2 });
  expect(held.report.test).toMatchObject({ positive: 'fraud' });
});

test('may be the other one: the same labels, scores of the other sign', async () => {
  const { model } = await trained(data, { tolerance: 1e-9 });
  const other = await trained(data, { tolerance: 1e-9, positive: 'ok' });
  expect(other.model.classes).toEqual(['fraud', 'ok']);
  expect(predict(other.model, data)).toEqual(predict(model, data));
  const [scores, turned] = [model, other.model].map((one) =>
    predict(one, data, { output: 'scores' }),
  );
  for (const [row, score] of scores.entries()) expect(turned[row]).toBeCloseTo(-score, 3);
});

test('is stored in the model, with the option that asked for it', async () => {
  const { model } = await trained(data, { positive: 'ok' });
  expect(model.provenance?.options.positive).toBe('ok');
  const again = await trained(data, { positive: 'ok', threads: 2 });
  expect(encodeModel(again.model)).toEqual(encodeModel(model));
});

describe('a warm start', () => {
  // Here the other word is rarer.
  const later = wordsOf('fraud', 'ok', 2);

  test('keeps that of the model', async () => {
    const { model } = await trained(data);
    expect((await trained(later)).model.classes).toEqual(['fraud', 'ok']);
    const start = startFromModel(model, later);
    expect(start.positive).toBe('fraud');
    expect(start.weights).toEqual(model.weights);
    const { model: next } = await trained(later, { start });
    expect(next.classes).toEqual(['ok', 'fraud']);
  });

  test('turns the weights where the other one is asked for', async () => {
    const { model } = await trained(data);
    const start = startFromModel(model, data, { positive: 'ok' });
    expect(start.positive).toBe('ok');
    expect(start.weights).toEqual(model.weights.map((weight) => 0 - weight));
    expect(start.intercepts).toEqual(model.intercepts.map((value) => 0 - value));
    const { model: next } = await trained(data, { start, positive: 'ok' });
    expect(next.classes).toEqual(['fraud', 'ok']);
    expect(next.certificate.epochs).toBeLessThan(5);
  });
});

test('is for classification', async () => {
  const numbers = { ...data, labelNames: undefined } as unknown as Dataset;
  await expect(trained(numbers, { loss: losses.square(), positive: 1 })).rejects.toThrow(
    new UsageError('a positive class is for classification; the square loss is not'),
  );
});
