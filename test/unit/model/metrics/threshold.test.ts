import { describe, expect, test } from 'vitest';
import { Scorer } from '../../../../src/apps/serve/scorer.ts';
import { DataError, UsageError } from '../../../../src/errors.ts';
import { stream } from '../../../../src/math/random.ts';
import { exportNotices } from '../../../../src/model/export/index.ts';
import { decodeModel, encodeModel } from '../../../../src/model/file.ts';
import { curvesOf } from '../../../../src/model/metrics/curves.ts';
import { type ClassificationMetrics, evaluate } from '../../../../src/model/metrics/evaluate.ts';
import {
  chooseThreshold,
  isThresholdGoal,
  type ThresholdGoal,
} from '../../../../src/model/metrics/threshold.ts';
import { predict } from '../../../../src/model/predict/predict.ts';
import { Predictor } from '../../../../src/model/predict/predictor.ts';
import { sampleClasses, sampleModel, scoredDataset } from '../../../support/models.ts';

test.each<[unknown, boolean]>([
  ['f1', true],
  ['precision=0.95', true],
  ['recall=1', true],
  ['cost=1:20', true],
  ['cost=0:1', true],
  ['cost=0:0', false],
  ['precision=0', false],
  ['recall=1.1', false],
  ['recall=', false],
  ['f2', false],
  [undefined, false],
])('%j is a goal: %s', (goal, fits) => {
  expect(isThresholdGoal(goal)).toBe(fits);
});

/** Some values tie. */
function sampleValues(seed: number, rows: number) {
  const random = stream(seed, 1);
  const positive = Array.from({ length: rows }, () => random.uniform() < 0.3);
  const values = Float64Array.from(positive, (is) =>
    Math.round(10 * (random.uniform() + (is ? 0.3 : 0))),
  );
  return { values, positive };
}

/** Every cut of the rows, counted one by one. */
function cutsOf({ values, positive }: ReturnType<typeof sampleValues>) {
  const positives = positive.filter(Boolean).length;
  return [-1, ...new Set(values)].map((threshold) => {
    const called = positive.filter((_, row) => values[row] > threshold);
    const right = called.filter(Boolean).length;
    return { right, wrong: called.length - right, missed: positives - right };
  });
}

type Cut = ReturnType<typeof cutsOf>[number];
const precision = ({ right, wrong }: Cut) => (right + wrong > 0 ? right / (right + wrong) : 0);
const recall = ({ right, missed }: Cut) => right / (right + missed);

const goals: [ThresholdGoal, (cut: Cut) => number][] = [
  ['f1', ({ right, wrong, missed }) => (2 * right) / (2 * right + wrong + missed)],
  ['precision=0.5', (cut) => (precision(cut) >= 0.5 ? recall(cut) : -1)],
  ['recall=0.7', (cut) => (recall(cut) >= 0.7 ? precision(cut) : -1)],
  ['cost=1:3', ({ wrong, missed }) => -(wrong + 3 * missed)],
];

describe.each(goals)('%s', (goal, goodness) => {
  test.each([1, 2, 3, 4])('is as good as the best of all cuts, sample %i', (seed) => {
    const sample = sampleValues(seed, 60);
    const threshold = chooseThreshold(goal, sample.values, (row) => sample.positive[row])!;
    const cuts = cutsOf(sample);
    const most = Math.max(...cuts.map(goodness));
    const called = sample.positive.filter((_, row) => sample.values[row] > threshold);
    const right = called.filter(Boolean).length;
    const positives = sample.positive.filter(Boolean).length;
    const found = { right, wrong: called.length - right, missed: positives - right };
    expect(goodness(found)).toBe(most);
  });
});

test.each(goals)('%s: a row of weight k counts like k rows', (goal) => {
  const { values, positive } = sampleValues(7, 60);
  const weights = values.map((_, row) => row % 4);
  const rows = [...weights].flatMap((weight, row) => Array<number>(weight).fill(row));
  const copies = Float64Array.from(rows, (row) => values[row]);
  const expected = chooseThreshold(goal, copies, (copy) => positive[rows[copy]]);
  expect(chooseThreshold(goal, values, (row) => positive[row], weights)).toBe(expected);
  // A row of weight 0 moves no cut.
  const more = Float64Array.of(...values, expected! + 2 ** -30);
  const none = Float64Array.of(...weights, 0);
  expect(chooseThreshold(goal, more, (row) => positive[row] ?? true, none)).toBe(expected);
});

test('may be out of reach, or call every row positive', () => {
  const values = Float64Array.of(3, 2, 1);
  const isPositive = (row: number) => row === 1;
  expect(chooseThreshold('precision=0.9', values, isPositive)).toBeUndefined();
  const all = chooseThreshold('recall=1', values, () => true)!;
  expect(all).toBeLessThan(1);
  expect(chooseThreshold('cost=1:0', values, isPositive)).toBe(3);
});

test('values that are next to each other can be told apart', () => {
  const below = 0.1;
  const above = below + 2 ** -56;
  const chosen = chooseThreshold('f1', Float64Array.of(below, above), (row) => row === 1)!;
  expect([below > chosen, above > chosen]).toEqual([false, true]);
});

describe('a model with a threshold', () => {
  const weights = Float64Array.of(1);
  const logistic = { name: 'logistic', parameter: 0 };
  const platt = { method: 'platt', slope: -1, offset: 2 } as const;
  const models = {
    'for scores': sampleModel({ weights, threshold: 0.5 }),
    'for probabilities': sampleModel({ weights, loss: logistic, threshold: 0.75 }),
    'for calibrated probabilities': sampleModel({ weights, threshold: 0.5, calibration: [platt] }),
  };
  const scores = [-1, 0.25, 0.75, 1, 1.125, 1.75, 2, 2.5];
  const expected = { 'for scores': 2, 'for probabilities': 4, 'for calibrated probabilities': 7 };

  test.each(Object.entries(models))('%s decides alike everywhere', (name, model) => {
    const first = expected[name as keyof typeof expected];
    const labels = scores.map((_, row) => (row >= first ? 1 : -1));
    const dataset = scoredDataset(scores, labels);
    const read = decodeModel(encodeModel(model), 'm');
    expect(read.threshold).toBe(model.threshold);
    expect([...predict(read, dataset)]).toEqual(labels);
    const predictor = new Predictor(read);
    expect(scores.map((score) => predictor.predict([score]))).toEqual(labels);
    const scorer = new Scorer(read);
    expect(scores.map((score) => JSON.parse(scorer.answer([score])).label)).toEqual(labels);
    expect(evaluate(read, dataset)).toMatchObject({ accuracy: 1, threshold: model.threshold });
    const plain = evaluate(read, dataset, { threshold: 0.9 }) as ClassificationMetrics;
    expect(plain.threshold).toBe(0.9);
    expect(plain.accuracy).toBeLessThan(1);
  });

  test('is about the positive class of the model', () => {
    const model = models['for scores'];
    const dataset = scoredDataset([-1, 0.25, 1], [1, -1, 1]);
    const refused = 'a threshold is for 1, the positive class of the model, and not for -1';
    for (const options of [{ threshold: 0.9 }, { thresholdFor: 'f1' }] as const) {
      expect(() => evaluate(model, dataset, { positive: -1, ...options })).toThrow(refused);
    }
    expect(() => curvesOf(model, dataset, { positive: -1, threshold: 0.9 })).toThrow(refused);
    const other = evaluate(model, dataset, { positive: -1 }) as ClassificationMetrics;
    expect(other.confusion).toMatchObject({ truePositive: 1, falsePositive: 1 });
    expect(other).not.toHaveProperty('threshold');
    expect(curvesOf(model, dataset, { positive: -1 }).at.recall).toBe(1);
    expect(evaluate(model, dataset, { positive: 1, threshold: 0.1 })).toHaveProperty('threshold');
  });

  test.each([NaN, Infinity, '0.5'])('%j is none', (threshold) => {
    const given = { threshold: threshold as number };
    const dataset = scoredDataset([-1, 1], [1, -1]);
    for (const measure of [evaluate, curvesOf]) {
      expect(() => measure(models['for scores'], dataset, given)).toThrow(
        'expected a finite number',
      );
    }
  });

  test('curves need a class of the model, and rows of both', () => {
    const model = models['for scores'];
    const dataset = scoredDataset([-1, 1], [1, -1]);
    const positive = 'bogus' as unknown as number;
    expect(() => curvesOf(model, dataset, { positive })).toThrow('the positive class is bogus');
    expect(() => curvesOf(model, scoredDataset([1], [1]))).toThrow(DataError);
  });

  test('says so where a format cannot', () => {
    expect(exportNotices(models['for scores'], 'onnx')).toContain(
      'onnx has no threshold: rows are positive above a score of 0',
    );
    expect(exportNotices(models['for scores'], 'json')).toEqual([]);
  });

  test('has two classes', () => {
    const dataset = scoredDataset([1], [1]);
    expect(() => evaluate(sampleClasses(), dataset, { threshold: 0.5 })).toThrow(UsageError);
    expect(() => encodeModel({ ...sampleClasses(), threshold: 1 })).toThrow(
      'none without two classes',
    );
  });
});
