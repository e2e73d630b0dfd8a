import { describe, expect, test } from 'vitest';
import { DataError, UsageError } from '../../../src/errors.ts';
import { predict } from '../../../src/metrics/predict.ts';
import { countUnknownEntries, scoreDataset } from '../../../src/metrics/score.ts';
import {
  sampleDataset,
  sampleModel,
  sampleRegression,
  scoredDataset,
} from '../../support/models.ts';

const rows = [
  { label: 1, entries: [[0, 2] as const, [3, 0.5] as const] },
  { label: -1, entries: [] },
  { label: -1, entries: [[1, 4] as const, [7, 100] as const, [9, 1] as const] },
];

describe('scores', () => {
  const model = sampleModel({ intercept: 0.25 });

  test('are the inner product plus the intercept, in input order over all parts', () => {
    for (const rowsPerPart of [1, 2, 3]) {
      const scores = scoreDataset(model, sampleDataset(rows, rowsPerPart));
      expect([...scores]).toEqual([0.5 * 2 + 2 * 0.5 + 0.25, 0.25, -1.25 * 4 + 0.25]);
    }
  });

  test('ignore features that the model does not have, and can count them', () => {
    expect(countUnknownEntries(model, sampleDataset(rows, 2))).toBe(2);
    expect(countUnknownEntries(model, sampleDataset(rows.slice(0, 2)))).toBe(0);
  });

  test('that overflow are an error, not a wrong prediction', () => {
    const huge = sampleModel({ weights: Float64Array.of(1e308, -1e308) });
    const row = { label: 1, entries: [[0, 100] as const, [1, 100] as const] };
    expect(() => scoreDataset(huge, sampleDataset([row]))).toThrow(DataError);
  });
});

describe('predict', () => {
  test('gives the labels of the training data', () => {
    const model = sampleModel({ weights: Float64Array.of(1), classes: [3, 7] });
    const dataset = scoredDataset([-2, 0, 0.5], [0, 0, 0]);
    expect([...predict(model, dataset)]).toEqual([3, 3, 7]);
  });

  test('gives the value in regression', () => {
    const model = sampleRegression({ weights: Float64Array.of(2) });
    const dataset = scoredDataset([-2, 0, 0.5], [0, 0, 0]);
    expect([...predict(model, dataset)]).toEqual([-4, 0, 1]);
    expect([...predict(model, dataset, { output: 'scores' })]).toEqual([-4, 0, 1]);
  });

  test('gives probabilities of the positive class for the logistic loss', () => {
    const model = sampleModel({
      weights: Float64Array.of(1),
      loss: { name: 'logistic', parameter: 0 },
    });
    const dataset = scoredDataset([0, 2, -2, 1000, -1000], [0, 0, 0, 0, 0]);
    const [middle, high, low, certain, impossible] = predict(model, dataset, {
      output: 'probabilities',
    });
    expect(middle).toBe(0.5);
    expect(high).toBeCloseTo(1 / (1 + Math.exp(-2)), 15);
    expect(low).toBeCloseTo(1 / (1 + Math.exp(2)), 15);
    expect([certain, impossible]).toEqual([1, 0]);
  });

  test('refuses probabilities of another loss and says what to do', () => {
    const ask = () => predict(sampleModel(), sampleDataset(rows), { output: 'probabilities' });
    expect(ask).toThrow(UsageError);
    expect(ask).toThrow(
      'probabilities need a model trained with the logistic loss; this one has hinge: ' +
        'train with --loss logistic, or ask for scores',
    );
  });

  test('refuses an unknown output', () => {
    const ask = () =>
      predict(sampleModel(), sampleDataset(rows), { output: 'classes' as 'labels' });
    expect(ask).toThrow(`output "classes"; wanted 'labels', 'scores' or 'probabilities'`);
  });
});
