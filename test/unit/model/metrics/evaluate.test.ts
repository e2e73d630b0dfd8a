import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DataError } from '../../../../src/errors.ts';
import { curvesOf } from '../../../../src/model/metrics/curves.ts';
import {
  type ClassificationMetrics,
  evaluate,
  type RegressionMetrics,
} from '../../../../src/model/metrics/evaluate.ts';
import type { ThresholdGoal } from '../../../../src/model/metrics/threshold.ts';
import {
  sampleDataset,
  sampleModel,
  sampleRegression,
  scoredDataset,
} from '../../../support/models.ts';
import { fc } from '../../../support/property.ts';

interface Case {
  readonly name: string;
  readonly scores: number[];
  readonly labels: number[];
}

type Points = readonly (readonly [number, number])[];

interface Reference {
  readonly curves: {
    readonly roc: Points;
    readonly precisionRecall: Points;
    readonly bestF1: number;
    readonly mostRecall: number;
    readonly mostPrecision: number;
  };
}

const reference = JSON.parse(
  readFileSync(new URL('reference/metrics.json', import.meta.url), 'utf8'),
) as {
  provenance: string;
  classification: (Case & Omit<ClassificationMetrics, 'task' | 'rows' | 'error'> & Reference)[];
  regression: (Case & Omit<RegressionMetrics, 'task' | 'rows'>)[];
};

const oneWeight = { weights: Float64Array.of(1) };
const logistic = sampleModel({ ...oneWeight, loss: { name: 'logistic', parameter: 0 } });

function measure(scores: readonly number[], labels: readonly number[]): ClassificationMetrics {
  return evaluate(logistic, scoredDataset(scores, labels)) as ClassificationMetrics;
}

describe(`agrees with ${reference.provenance.split(',')[0]}`, () => {
  test.each(reference.classification)('classification, $name', (expected) => {
    const found = measure(expected.scores, expected.labels);
    expect(found.confusion).toEqual(expected.confusion);
    expect(found.accuracy).toBeCloseTo(expected.accuracy, 14);
    expect(found.error).toBeCloseTo(1 - expected.accuracy, 14);
    expect(found.auc).toBeCloseTo(expected.auc!, 14);
    expect(found.auprc).toBeCloseTo(expected.auprc!, 14);
    // 1 − p loses digits in the reference, not here.
    expect(found.logLoss! / expected.logLoss!).toBeCloseTo(1, 11);
    for (const name of ['precision', 'recall', 'f1', 'specificity', 'mcc', 'brier'] as const) {
      expect(found[name], name).toBeCloseTo(expected[name]!, 13);
    }
  });

  test.each(reference.classification)('curves, $name', ({ scores, labels, curves }) => {
    const data = scoredDataset(scores, labels);
    const found = curvesOf(logistic, data);
    const close = (some: Points, others: Points) => {
      expect(some).toHaveLength(others.length);
      for (const [index, [x, y]] of some.entries()) {
        expect(x).toBeCloseTo(others[index][0], 13);
        expect(y).toBeCloseTo(others[index][1], 13);
      }
    };
    close(found.roc, curves.roc);
    const { precisionRecall } = found;
    // scikit-learn leaves out what follows once all positive rows are found.
    const end = precisionRecall.findIndex(([recall]) => recall === 1) + 1;
    close(precisionRecall.slice(0, end), curves.precisionRecall.slice(0, end));
    const { falsePositives, recall } = found.at;
    expect(found.roc).toContainEqual([falsePositives, recall]);
    const rows = found.calibration!.reduce((sum, bin) => sum + bin.rows, 0);
    expect(rows).toBe(labels.length);
  });

  test.each(reference.classification)('the best threshold, $name', ({ scores, labels, curves }) => {
    const best = (thresholdFor: ThresholdGoal) =>
      evaluate(logistic, scoredDataset(scores, labels), { thresholdFor }) as ClassificationMetrics;
    expect(best('f1').f1).toBeCloseTo(curves.bestF1, 13);
    const precise = best('precision=0.8');
    expect(precise.precision).toBeGreaterThanOrEqual(0.8);
    expect(precise.recall).toBeCloseTo(curves.mostRecall, 13);
    const complete = best('recall=0.6');
    expect(complete.recall).toBeGreaterThanOrEqual(0.6);
    expect(complete.precision).toBeCloseTo(curves.mostPrecision, 13);
  });

  test.each(reference.classification)('of the other class, $name', (expected) => {
    const found = evaluate(logistic, scoredDataset(expected.scores, expected.labels), {
      positive: -1,
    }) as ClassificationMetrics;
    expect(found.positive).toBe(-1);
    expect(found.accuracy).toBeCloseTo(expected.accuracy, 14);
    expect(found.auc).toBeCloseTo(expected.auc!, 14);
    expect(found.logLoss! / expected.logLoss!).toBeCloseTo(1, 11);
    const { truePositive, falsePositive, trueNegative, falseNegative } = expected.confusion;
    expect(found.confusion).toEqual({
      truePositive: trueNegative,
      falsePositive: falseNegative,
      trueNegative: truePositive,
      falseNegative: falsePositive,
    });
  });

  test.each(reference.regression)('regression, $name', (expected) => {
    const model = sampleRegression(oneWeight);
    const found = evaluate(model, scoredDataset(expected.scores, expected.labels));
    expect(found).toMatchObject({ task: 'regression', rows: expected.labels.length });
    const { mse, mae, r2 } = found as RegressionMetrics;
    expect(mse / expected.mse).toBeCloseTo(1, 12);
    expect(mae / expected.mae).toBeCloseTo(1, 12);
    expect(r2! / expected.r2!).toBeCloseTo(1, 12);
  });
});

describe('agrees with the definitions', () => {
  const sample = fc
    .array(fc.tuple(fc.integer({ min: -4, max: 4 }), fc.constantFrom(-1, 1)), {
      minLength: 2,
      maxLength: 40,
    })
    .filter((rows) => new Set(rows.map(([, label]) => label)).size === 2);

  test('AUC is the part of pairs in the right order, ties one half', () => {
    fc.assert(
      fc.property(sample, (rows) => {
        const positives = rows.filter(([, label]) => label === 1);
        const negatives = rows.filter(([, label]) => label === -1);
        let right = 0;
        for (const [high] of positives) {
          for (const [low] of negatives) right += high > low ? 1 : high === low ? 0.5 : 0;
        }
        const { auc } = measure(
          rows.map(([score]) => score),
          rows.map(([, label]) => label),
        );
        expect(auc).toBeCloseTo(right / positives.length / negatives.length, 13);
      }),
    );
  });

  test('AUPRC sums precision over the steps of recall, one per distinct score', () => {
    fc.assert(
      fc.property(sample, (rows) => {
        const positives = rows.filter(([, label]) => label === 1).length;
        let area = 0;
        let recall = 0;
        for (const threshold of [4, 3, 2, 1, 0, -1, -2, -3, -4]) {
          const called = rows.filter(([score]) => score >= threshold);
          const found = called.filter(([, label]) => label === 1).length;
          if (called.length > 0) {
            area += (found / positives - recall) * (found / called.length);
            recall = found / positives;
          }
        }
        const { auprc } = measure(
          rows.map(([score]) => score),
          rows.map(([, label]) => label),
        );
        expect(auprc).toBeCloseTo(area, 13);
      }),
    );
  });

  test('the order of the rows does not matter', () => {
    fc.assert(
      fc.property(sample, (rows) => {
        const measured = (list: typeof rows): ClassificationMetrics =>
          measure(
            list.map(([score]) => score),
            list.map(([, label]) => label),
          );
        const { logLoss: first, ...forward } = measured(rows);
        const { logLoss: second, ...backward } = measured(rows.toReversed());
        expect(backward).toEqual(forward);
        expect(second).toBeCloseTo(first!, 14);
      }),
    );
  });
});

describe('edges', () => {
  test('a score of exactly 0 is called negative', () => {
    expect(measure([0, 0], [-1, 1]).confusion).toEqual({
      truePositive: 0,
      falsePositive: 0,
      trueNegative: 1,
      falseNegative: 1,
    });
  });

  test('one class only: no areas', () => {
    expect(measure([1, 2], [1, 1])).toMatchObject({ accuracy: 1, auc: null, auprc: null });
    expect(measure([1, 2], [-1, -1])).toMatchObject({ accuracy: 0, auc: null, auprc: null });
  });

  test('log loss stays finite and accurate far from 0', () => {
    expect(measure([1024, -1024], [1, -1]).logLoss).toBe(0);
    expect(measure([1024, -1024], [-1, 1]).logLoss).toBe(1024);
    expect(measure([40], [1]).logLoss! / Math.exp(-40)).toBeCloseTo(1, 12);
  });

  test('no log loss without the logistic loss', () => {
    const metrics = evaluate(sampleModel(oneWeight), scoredDataset([1, -1], [1, -1]));
    expect(metrics).toMatchObject({ accuracy: 1, auc: 1, auprc: 1, logLoss: null });
  });

  test('classes are the labels of the training data', () => {
    const model = sampleModel({ ...oneWeight, classes: [1, 2] });
    expect(evaluate(model, scoredDataset([-1, 3], [1, 2]))).toMatchObject({ accuracy: 1 });
  });

  test('equal labels have no r2', () => {
    const metrics = evaluate(sampleRegression(oneWeight), scoredDataset([1, 3], [0.1, 0.1]));
    expect(metrics).toMatchObject({ r2: null });
  });

  test('labels the model does not know are named', () => {
    const run = (labels: number[]) => () =>
      evaluate(
        sampleModel(oneWeight),
        scoredDataset(
          labels.map(() => 1),
          labels,
        ),
      );
    expect(run([1, 0, -1, 0])).toThrow(DataError);
    expect(run([1, 0, -1, 0])).toThrow(
      'sample.svm: the model does not know label 0 (first in row 2); its classes are -1 and 1',
    );
    expect(run([1, -1, 2, 3, 4, 5, 6, 7])).toThrow(
      'does not know labels 2, 3, 4, 5, 6, … (first in row 3)',
    );
  });

  test('no rows', () => {
    expect(() => evaluate(logistic, sampleDataset([]))).toThrow('sample.svm: no rows');
  });
});

describe('calibrated models of two classes', () => {
  const steps = { method: 'isotonic', scores: [-1, 1], probabilities: [0, 1] } as const;

  test('have a log loss and a Brier score', () => {
    const calibration = [{ method: 'platt', slope: -2, offset: 1 } as const];
    const model = sampleModel({ ...oneWeight, calibration });
    const found = evaluate(model, scoredDataset([2, 1, -1], [1, -1, -1])) as ClassificationMetrics;
    const p = [2, 1, -1].map((u) => 1 / (1 + Math.exp(-2 * u + 1)));
    const losses = [-Math.log(p[0]), -Math.log(1 - p[1]), -Math.log(1 - p[2])];
    const squares = [(1 - p[0]) ** 2, p[1] ** 2, p[2] ** 2];
    expect(found.logLoss).toBeCloseTo((losses[0] + losses[1] + losses[2]) / 3, 14);
    expect(found.brier).toBeCloseTo((squares[0] + squares[1] + squares[2]) / 3, 14);
  });

  test('that are certain and wrong lose much, but not infinitely much', () => {
    const model = sampleModel({ ...oneWeight, calibration: [steps] });
    const found = evaluate(model, scoredDataset([-2], [1])) as ClassificationMetrics;
    expect(found.logLoss).toBeCloseTo(52 * Math.LN2, 12);
    expect(found.brier).toBe(1);
  });

  test('models without probabilities have no Brier score', () => {
    const hinge = sampleModel(oneWeight);
    expect(evaluate(hinge, scoredDataset([1, -1], [1, -1]))).not.toHaveProperty('brier');
  });
});

describe('regression with a meaning of its own', () => {
  test('Poisson: errors of the mean, and the deviance', () => {
    const loss = { name: 'poisson', parameter: 0 };
    const model = sampleRegression({ ...oneWeight, loss });
    const scores = [0, 1, 2];
    const labels = [0, 4, 7];
    const found = evaluate(model, scoredDataset(scores, labels)) as RegressionMetrics;
    const means = scores.map(Math.exp);
    const deviances = labels.map(
      (y, i) => 2 * ((y === 0 ? 0 : y * Math.log(y / means[i])) - y + means[i]),
    );
    expect(found.deviance).toBeCloseTo((deviances[0] + deviances[1] + deviances[2]) / 3, 13);
    const squares = labels.map((y, i) => (y - means[i]) ** 2);
    expect(found.mse).toBeCloseTo((squares[0] + squares[1] + squares[2]) / 3, 12);
    expect(() => evaluate(model, scoredDataset([0, 1], [1, -1]))).toThrow(
      'sample.svm: row 2 has label -1; the poisson loss needs',
    );
  });

  test('quantiles: pinball loss and the part of labels that are not above', () => {
    const loss = { name: 'quantile', parameter: 0.75 };
    const dataset = scoredDataset([1, 2, 3, 4], [3, 1, 3, 0]);
    expect(evaluate(sampleRegression({ ...oneWeight, loss }), dataset)).toMatchObject({
      pinball: (0.75 * 2 + 0.25 * 1 + 0 + 0.25 * 4) / 4,
      coverage: 0.75,
    });
    const custom = { ...loss, module: 'file:///mine.js' };
    const found = evaluate(sampleRegression({ ...oneWeight, loss: custom }), dataset);
    expect(found).not.toHaveProperty('pinball');
  });

  test('labels that are texts of numbers are numbers, others an error', () => {
    const model = sampleRegression(oneWeight);
    const texts = { ...scoredDataset([1, 2], [1, 0]), labelNames: ['2.5', '1'] };
    expect(evaluate(model, texts)).toMatchObject({ mse: 0.125 });
    expect(() => evaluate(model, { ...texts, labelNames: ['2.5', 'one'] })).toThrow(
      'sample.svm: row 1 has label "one"; a regression needs numbers',
    );
  });
});
