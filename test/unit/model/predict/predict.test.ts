import { describe, expect, test } from 'vitest';
import { DataError, UsageError } from '../../../../src/errors.ts';
import { predict } from '../../../../src/model/predict/predict.ts';
import {
  countUnknownEntries,
  scoreBlocks,
  scoreDataset,
  scoreVectors,
} from '../../../../src/model/predict/score.ts';
import {
  plainClasses,
  sampleDataset,
  sampleModel,
  sampleRegression,
  scoredDataset,
} from '../../../support/models.ts';

const rows = [
  { label: 1, entries: [[0, 2] as const, [3, 0.5] as const] },
  { label: -1, entries: [] },
  { label: -1, entries: [[1, 4] as const, [7, 100] as const, [9, 1] as const] },
];

describe('scores', () => {
  const model = sampleModel({ intercepts: Float64Array.of(0.25) });

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
      'probabilities need a model trained with the logistic loss, or calibrated; this one has ' +
        'hinge: train with --loss logistic or --calibrate, or ask for scores',
    );
    const model = sampleRegression({ calibration: [{ method: 'platt', slope: -1, offset: 0 }] });
    expect(() => predict(model, sampleDataset(rows), { output: 'probabilities' })).toThrow(
      'probabilities need a model that classifies; this one is a regression (square)',
    );
  });

  test('refuses an unknown output', () => {
    const ask = () =>
      predict(sampleModel(), sampleDataset(rows), { output: 'classes' as 'labels' });
    expect(ask).toThrow(`output "classes"; expected 'labels', 'scores' or 'probabilities'`);
  });
});

describe('several vectors', () => {
  const logistic = { name: 'logistic', parameter: 0 };
  const several = {
    ...plainClasses([0, 0, 0]),
    columns: 4,
    weights: Float64Array.of(0.5, -1.25, 0, 2, 1, 1, 1, 1, -1, 0, 0, 3),
    intercepts: Float64Array.of(0, 0.5, -0.5),
  };

  test('are scored to the bits of one vector at a time, however rows are grouped', () => {
    const long = Array.from({ length: 5000 }, (_, row) => ({
      label: 0,
      entries: [[row % 4, 1 + row / 7] as const, [4 + (row % 3), 2] as const],
    }));
    for (const rowsPerPart of [7, 4500, 5000]) {
      const dataset = sampleDataset(long, rowsPerPart);
      for (const unitRows of [{}, { unitRows: true } as const]) {
        const scores = scoreVectors({ ...several, ...unitRows }, dataset);
        expect(scores).toHaveLength(15_000);
        for (const vector of [0, 1, 2]) {
          const alone = sampleModel({
            weights: several.weights.slice(4 * vector, 4 * vector + 4),
            intercepts: several.intercepts.slice(vector, vector + 1),
            ...unitRows,
          });
          const own = scoreDataset(alone, dataset);
          expect(scoreDataset({ ...several, ...unitRows }, dataset, vector)).toEqual(own);
          expect(scores.filter((_, index) => index % 3 === vector)).toEqual(own);
        }
      }
    }
  });

  test('blocks say which rows they hold', () => {
    const blocks = [...scoreBlocks(several, sampleDataset(rows, 2))];
    expect(blocks.map(({ firstRow, rows: count }) => [firstRow, count])).toEqual([
      [0, 2],
      [2, 1],
    ]);
  });

  test('an overflow names the row', () => {
    const huge = { ...several, weights: several.weights.map(() => 1e308) };
    const dataset = sampleDataset([rows[1], rows[1], { label: 0, entries: [[2, 1e30]] }]);
    expect(() => scoreVectors(huge, dataset)).toThrow('sample.svm: the score of row 3 is Infinity');
  });

  test('the largest score wins, the first of equal ones', () => {
    const model = plainClasses([1, 1, -1], { classes: [10, 20, 30] });
    expect(predict(model, scoredDataset([2, 0, -1], [0, 0, 0]))).toEqual(
      Float64Array.of(10, 10, 30),
    );
    const texts = plainClasses([1, 2, -1]);
    expect(predict(texts, scoredDataset([2, 0, -1], [0, 0, 0]))).toEqual(['c1', 'c0', 'c2']);
  });

  test('a multi-label row gets all classes above 0, or none', () => {
    const model = plainClasses([1, 2, -1], { classes: [1, 3, 10], multiLabel: true });
    expect(predict(model, scoredDataset([2, 0, -1], [0, 0, 0]))).toEqual(['1,3', '', '10']);
  });

  test('logistic probabilities of classes sum to 1, of multi-label classes need not', () => {
    const dataset = scoredDataset([2, 0], [0, 0]);
    const sigmoid = (u: number) => 1 / (1 + Math.exp(-u));
    const all = [sigmoid(2), sigmoid(4), sigmoid(-2)];
    const sum = all[0] + all[1] + all[2];
    const output = 'probabilities';
    const shared = predict(plainClasses([1, 2, -1], { loss: logistic }), dataset, { output });
    for (const [index, p] of all.entries()) expect(shared[index]).toBeCloseTo(p / sum, 14);
    for (const index of [3, 4, 5]) expect(shared[index]).toBeCloseTo(1 / 3, 15);
    const multi = plainClasses([1, 2, -1], { loss: logistic, multiLabel: true });
    const own = predict(multi, dataset, { output });
    for (const [index, p] of all.entries()) expect(own[index]).toBeCloseTo(p, 14);
  });

  test('probabilities that are all 0 become equal ones', () => {
    const model = plainClasses([-1, -1, -1, -1], { loss: logistic });
    const found = predict(model, scoredDataset([1024], [0]), { output: 'probabilities' });
    expect([...found]).toEqual([0.25, 0.25, 0.25, 0.25]);
  });
});

describe('calibrated models', () => {
  const platt = { method: 'platt', slope: -2, offset: 1 } as const;
  const steps = { method: 'isotonic', scores: [0, 1], probabilities: [0.2, 0.6] } as const;

  test('give probabilities whatever their loss is', () => {
    const model = sampleModel({ weights: Float64Array.of(1), calibration: [platt] });
    const found = predict(model, scoredDataset([0.5, 2], [0, 0]), { output: 'probabilities' });
    expect(found[0]).toBe(0.5);
    expect(found[1]).toBeCloseTo(1 / (1 + Math.exp(-3)), 15);
  });

  test('of several classes share them out', () => {
    const model = plainClasses([1, 1, 1], { calibration: [steps, steps, platt] });
    const found = predict(model, scoredDataset([0.5], [0]), { output: 'probabilities' });
    const sum = 0.4 + 0.4 + 0.5;
    for (const [index, p] of [0.4, 0.4, 0.5].entries()) {
      expect(found[index]).toBeCloseTo(p / sum, 14);
    }
  });
});

describe('unit rows', () => {
  test('are divided by their length over the columns the model has', () => {
    const model = sampleModel({ unitRows: true, intercepts: Float64Array.of(0.25) });
    const scores = scoreDataset(model, sampleDataset(rows));
    expect(scores[0]).toBeCloseTo((0.5 * 2 + 2 * 0.5) / Math.hypot(2, 0.5) + 0.25, 15);
    expect([scores[1], scores[2]]).toEqual([0.25, -1.25 + 0.25]);
  });
});

describe('Poisson', () => {
  const model = sampleRegression({
    weights: Float64Array.of(1),
    loss: { name: 'poisson', parameter: 0 },
  });

  test('predicts the mean; scores are its logarithm', () => {
    const dataset = scoredDataset([0, 2, -1], [0, 0, 0]);
    const means = predict(model, dataset) as Float64Array;
    expect(means[0]).toBe(1);
    expect(means[1]).toBeCloseTo(Math.exp(2), 13);
    expect([...predict(model, dataset, { output: 'scores' })]).toEqual([0, 2, -1]);
  });

  test('a mean beyond all numbers is an error', () => {
    expect(() => predict(model, scoredDataset([0, 1024], [0, 0]))).toThrow(
      'sample.svm: the prediction of row 2 is e^1024',
    );
  });
});

test('data whose entries are on disk is refused, not scored as empty', () => {
  const stored = { folder: 'x', scan: () => [], countColumns: () => new Int32Array(0) };
  const dataset = { ...sampleDataset(rows), stored };
  expect(() => predict(sampleModel(), dataset)).toThrow('sample.svm: its entries are on disk');
});
