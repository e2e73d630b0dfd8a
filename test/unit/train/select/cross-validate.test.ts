import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { selectRows } from '../../../../src/data/split.ts';
import { stream } from '../../../../src/math/random.ts';
import { evaluate } from '../../../../src/model/metrics/evaluate.ts';
import { scoreDataset } from '../../../../src/model/predict/score.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { assignFolds } from '../../../../src/train/calibrate.ts';
import {
  crossValidate,
  crossValidateAndTrain,
  type ValidateOptions,
} from '../../../../src/train/select/cross-validate.ts';
import { train } from '../../../../src/train/train.ts';
import { sampleFor } from '../../../support/data.ts';

const shape = { rows: 150, columns: 12 };
const lambdas = [0.1, 0.01, 0.003];

/** Rows of three classes. */
function threeClasses(): Dataset {
  const random = stream(11, 1);
  const rows = Array.from({ length: 120 }, () => ({
    indices: [0, 1, 2],
    values: [random.normal(), random.normal(), random.normal()],
  }));
  const labels = rows.map(({ values }) => values.indexOf(Math.max(...values)) + 4);
  return datasetFromRows({ rows, labels, columns: 3 });
}

/** A data set without a fold, and the fold. */
function parted(dataset: Dataset, folds: number, which: number, seed = 1) {
  const labels = dataset.parts.flatMap((part) => [...part.labels]);
  const classes = [...new Set(labels)].sort((left, right) => left - right);
  const codes = Int32Array.from(labels, (label) => classes.indexOf(label));
  const isClassification = classes.length < 10;
  const fold = assignFolds(dataset.rows, isClassification ? codes : undefined, folds, seed);
  const marks = Uint8Array.from(fold, (one) => (one === which ? 1 : 0));
  return {
    rest: selectRows(dataset, marks, 0, 'rest'),
    held: selectRows(dataset, marks, 1, 'held'),
  };
}

describe('cross-validation', () => {
  test('classification: the error of each fold is that of a model trained without it', async () => {
    const { dataset } = sampleFor(losses.logistic(), shape);
    const options = { loss: losses.logistic(), intercept: true, tolerance: 1e-9, threads: 2 };
    const found = await crossValidate(dataset, { ...options, lambdas, folds: 4, metric: 'loss' });
    expect(found.complete).toBe(true);
    for (const [step, lambda] of lambdas.entries()) {
      for (let which = 0; which < 4; which += 1) {
        const { rest, held } = parted(dataset, 4, which);
        const { model } = await train(rest, { ...options, lambda });
        const scores = scoreDataset(model, held);
        const labels = held.parts.flatMap((part) => [...part.labels]);
        const values = labels.map((label, row) => Math.log1p(Math.exp(-label * scores[row])));
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        expect(found.lambdas[step].folds[which]).toBeCloseTo(mean, 4);
      }
    }
  });

  test('regression: the same with the mean squared error, weights and factors', async () => {
    const { rows, labels } = sampleFor(losses.square(), shape);
    const sparse = rows.map((row) => ({ indices: [...row.keys()], values: [...row] }));
    const weights = labels.map((_, row) => row % 4);
    const dataset = datasetFromRows({ rows: sparse, labels, columns: 12, weights });
    const options = {
      loss: losses.square(),
      penalty: penalties.elasticNet({ l1Ratio: 0.5 }),
      penaltyFactors: Float64Array.from({ length: 12 }, (_, j) => 1 + (j % 2)),
      tolerance: 1e-9,
      threads: 1,
    };
    const { metric, lambdas: found } = await crossValidate(dataset, {
      ...options,
      lambdas: [0.01],
      folds: 3,
      seed: 5,
    });
    expect(metric).toBe('mse');
    for (let which = 0; which < 3; which += 1) {
      const { rest, held } = parted(dataset, 3, which, 5);
      const { model } = await train(rest, { ...options, seed: 5, lambda: 0.01 });
      const [part] = held.parts;
      const squares = scoreDataset(model, held).map(
        (score, row) => (score - part.labels[row]) ** 2,
      );
      const totalWeight = part.weights!.reduce((sum, weight) => sum + weight, 0);
      const total = squares.reduce((sum, square, row) => sum + part.weights![row] * square, 0);
      expect(found[0].folds[which]).toBeCloseTo(total / totalWeight, 4);
    }
  });

  test('several classes: one class of several is predicted', async () => {
    const dataset = threeClasses();
    const options = { loss: losses.logistic(), tolerance: 1e-7, threads: 2 };
    const { lambdas: found } = await crossValidate(dataset, { ...options, lambdas, folds: 3 });
    for (const [step, lambda] of lambdas.entries()) {
      for (let which = 0; which < 3; which += 1) {
        const { rest, held } = parted(dataset, 3, which);
        const { model } = await train(rest, { ...options, lambda });
        const { error } = evaluate(model, held) as { error: number };
        expect(found[step].folds[which]).toBeCloseTo(error, 12);
      }
    }
  });

  test('mean, standard error, choice and effort', async () => {
    const { dataset } = sampleFor(losses.hinge(), { ...shape, noise: 3 });
    const found = await crossValidate(dataset, { folds: 5, count: 8, threads: 1 });
    expect(found.metric).toBe('error');
    expect(found.lambdas).toHaveLength(8);
    for (const { folds, mean, standardError, relativeGap, epochs, passes } of found.lambdas) {
      const sum = folds.reduce((total, value) => total + value, 0);
      expect(mean).toBeCloseTo(sum / 5, 14);
      const squares = folds.reduce((total, value) => total + (value - mean) ** 2, 0);
      expect(standardError).toBeCloseTo(Math.sqrt(squares / 4 / 5), 14);
      expect(relativeGap).toBeLessThanOrEqual(1e-3);
      expect(epochs).toBeGreaterThanOrEqual(5);
      expect(passes).toBeGreaterThan(0);
    }
    const means = found.lambdas.map(({ mean }) => mean);
    const { best, simplest } = found;
    expect(best).toBe(found.lambdas[means.indexOf(Math.min(...means))]);
    expect(simplest.lambda).toBeGreaterThanOrEqual(best.lambda);
    expect(simplest.mean).toBeLessThanOrEqual(best.mean + best.standardError);
    const larger = found.lambdas.filter(({ lambda }) => lambda > simplest.lambda);
    for (const { mean } of larger) {
      expect(mean).toBeGreaterThan(best.mean + best.standardError);
    }
  });

  test.each([
    ['two classes', () => sampleFor(losses.hinge(), shape).dataset],
    ['three classes', threeClasses],
  ])('%s: the same bits on any number of threads, others for another seed', async (_, make) => {
    const dataset = make();
    const options = {
      loss: losses.logistic(),
      metric: 'loss',
      lambdas,
      folds: 3,
      grid: 3,
    } as const;
    const one = await crossValidate(dataset, { ...options, threads: 1 });
    expect(await crossValidate(dataset, { ...options, threads: 2 })).toEqual(one);
    expect(await crossValidate(dataset, { ...options, threads: 1, seed: 2 })).not.toEqual(one);
  });

  test('a class too rare to be in every fold is never found, and does no harm', async () => {
    const random = stream(3, 3);
    const rows = Array.from({ length: 61 }, (_, row) => ({
      indices: [0, 1],
      values: [row < 30 ? 1 : -1, random.normal()],
    }));
    const labels = rows.map((_, row) => (row === 60 ? 7 : row < 30 ? 1 : 2));
    const dataset = datasetFromRows({ rows, labels, columns: 2 });
    const options: ValidateOptions = { loss: losses.logistic(), intercept: true, threads: 1 };
    const found = await crossValidate(dataset, { ...options, lambdas: [0.01], folds: 3 });
    const wrong = found.lambdas[0].folds.filter((error) => error > 0);
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toBeCloseTo(1 / 20, 2);
  });

  test('weights of classes are for training, not for measuring', async () => {
    const { dataset } = sampleFor(losses.hinge(), { ...shape, noise: 3 });
    const options = { classWeights: { '1': 4 }, threads: 1, tolerance: 1e-7 } as const;
    const { lambdas: found } = await crossValidate(dataset, { ...options, lambdas, folds: 3 });
    for (const [step, lambda] of lambdas.entries()) {
      for (let which = 0; which < 3; which += 1) {
        const { rest, held } = parted(dataset, 3, which);
        const { model } = await train(rest, { ...options, lambda });
        const { error } = evaluate(model, held) as { error: number };
        expect(found[step].folds[which]).toBeCloseTo(error, 12);
      }
    }
  });

  test('the winner is trained on all rows as train would', async () => {
    const { dataset } = sampleFor(losses.hinge(), { ...shape, noise: 3 });
    const common = { count: 8, folds: 3, threads: 1 } as const;
    for (const choose of ['best', 'simplest'] as const) {
      const found = await crossValidateAndTrain(dataset, { ...common, choose });
      const { lambda } = found.validation[choose];
      const { model } = await train(dataset, { lambda, threads: 1 });
      expect(found.model).toEqual(model);
    }
  });
});

describe('a cross-validation that is ended', () => {
  const { dataset } = sampleFor(losses.hinge(), shape);
  const common = { lambdas, folds: 4, threads: 1 } as const;

  test('by a signal: whole folds count, the others do not', async () => {
    const whole = await crossValidate(dataset, common);
    const controller = new AbortController();
    const onFit = (done: number) => done === 7 && controller.abort();
    const found = await crossValidate(dataset, { ...common, onFit, signal: controller.signal });
    expect(found.complete).toBe(false);
    expect(found.lambdas.map(({ folds }) => folds)).toEqual(
      whole.lambdas.map(({ folds }) => folds.slice(0, 2)),
    );
  });

  test('in its first fold: the λs it came to', async () => {
    const controller = new AbortController();
    const onFit = (done: number) => done === 2 && controller.abort();
    const found = await crossValidate(dataset, { ...common, onFit, signal: controller.signal });
    expect(found.lambdas.map(({ lambda }) => lambda)).toEqual(lambdas.slice(0, 2));
    expect(found.lambdas[0].folds).toHaveLength(1);
    expect(found.lambdas[0].standardError).toBeNaN();
    expect(found.best).toBe(found.simplest);
  });

  test('before anything was measured: an error', async () => {
    const found = crossValidate(dataset, { ...common, signal: AbortSignal.abort() });
    await expect(found).rejects.toThrow('ended before any fold was measured');
  });

  test('by its time: what is known, with the gaps that were reached', async () => {
    // With so little λ the paper's own steps come near the optimum in hours.
    const limit = { solver: solvers.dso(), tolerance: 1e-12, epochs: 100_000_000 };
    // Every model has its share of the time, of which there is more than a machine can stall.
    const many = Array.from({ length: 7500 }, (_, k) => 1e-8 / (1 + k));
    const controller = new AbortController();
    const found = await crossValidate(dataset, {
      ...common,
      ...limit,
      lambdas: many,
      time: 600,
      onFit: (done) => done === 4 && controller.abort(),
      signal: controller.signal,
    });
    expect(found.complete).toBe(false);
    expect(found.lambdas).toHaveLength(4);
    for (const { relativeGap } of found.lambdas) {
      expect(relativeGap).toBeGreaterThan(1e-12);
      expect(Number.isFinite(relativeGap)).toBe(true);
    }
  });

  test('by an exception of a listener: nothing is left running', async () => {
    let calls = 0;
    const onFit = () => {
      calls += 1;
      throw new Error('enough');
    };
    const many = { ...common, threads: 2, onFit };
    await expect(crossValidate(dataset, many)).rejects.toThrow('enough');
    const before = calls;
    await crossValidate(dataset, common);
    expect(calls).toBe(before);
  });
});

test.each([
  [{ folds: 1 }, 'folds is 1'],
  [{ folds: 151 }, '151 folds need at least 151 rows; this data has 150'],
  [{ metric: 'mse' }, 'is not measured by mse'],
  [{ lambda: 1 }, 'lambda is not an option of cross-validation'],
  [{ lambdas: [0] }, 'lambda is 0'],
  [{ fold: 3 }, "unknown option 'fold'"],
])('%o is refused', async (options, message) => {
  const { dataset } = sampleFor(losses.hinge(), shape);
  await expect(crossValidate(dataset, options as ValidateOptions)).rejects.toThrow(message);
});
