import { describe, expect, test } from 'vitest';
import { DataError, UsageError } from '../../../../src/errors.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { PrimalLoss } from '../../../../src/problem/losses/loss.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import type { TrainOptions } from '../../../../src/train/options/options.ts';
import { train } from '../../../../src/train/train.ts';
import { datasetOf, sample } from '../../../support/data.ts';

const { dataset } = sample({ rows: 20, columns: 5 });

const refused: { title: string; options: TrainOptions; message: string }[] = [
  { title: 'λ = 0', options: { lambda: 0 }, message: 'lambda is 0; it must be a number above 0' },
  { title: 'λ < 0', options: { lambda: -1 }, message: 'lambda is -1; it must be a number above 0' },
  { title: 'λ = ∞', options: { lambda: Infinity }, message: 'lambda is Infinity' },
  { title: 'λ no number', options: { lambda: Number.NaN }, message: 'lambda is NaN' },
  { title: 'grid 0', options: { grid: 0 }, message: 'grid is 0; it must be a whole number' },
  { title: 'a scale', options: { scale: 'mean' as 'std' }, message: "scale is 'mean'; it must be" },
  {
    title: 'class weights that are a word',
    options: { classWeights: 'even' as 'balanced' },
    message: "classWeights is 'even'; it must be 'balanced' or weights by label",
  },
  {
    title: 'class weights that are a list',
    options: { classWeights: [1, 2] as never },
    message: 'classWeights is an object; it must be',
  },
  {
    title: 'several labels of numbers',
    options: { multiLabel: true, loss: losses.square() },
    message: 'several labels per row are for classification; the square loss is for regression',
  },
  { title: 'grid 1.5', options: { grid: 1.5 }, message: 'grid is 1.5' },
  {
    title: 'a grid beyond the data',
    options: { grid: 6 },
    message: 'a grid of 6 was given; with 20 rows and 5 columns it can be at most 5',
  },
  { title: 'threads 0', options: { threads: 0 }, message: 'threads is 0; it must be a whole' },
  { title: 'threads 2.5', options: { threads: 2.5 }, message: 'threads is 2.5' },
  { title: 'seed −1', options: { seed: -1 }, message: 'seed is -1; it must be a whole number' },
  {
    title: 'epochs 0',
    options: { epochs: 0 },
    message: 'epochs is 0; it must be a whole number from 1',
  },
  { title: 'tolerance 0', options: { tolerance: 0 }, message: 'tolerance is 0; it must be' },
  { title: 'time 0', options: { time: 0 }, message: 'time is 0; it must be a number above 0' },
  { title: 'holdout 0', options: { holdout: 0 }, message: 'holdout is 0; it must be' },
  { title: 'holdout 1', options: { holdout: 1 }, message: 'holdout is 1; it must be' },
  {
    title: 'holdout and test',
    options: { holdout: 0.5, test: dataset },
    message: 'give holdout or test, not both',
  },
  {
    title: 'a box for weights of scaled columns',
    options: { scale: 'max', penalty: penalties.bounded(penalties.l2(), { low: 0, high: 1 }) },
    message: 'scaling by max divides columns, so that weights in a box are not in it',
  },
  {
    title: 'an early stop without test rows',
    options: { earlyStop: 3 },
    message: 'earlyStop needs test or holdout',
  },
  {
    title: 'an early stop after nothing',
    options: { earlyStop: 0, holdout: 0.5 },
    message: 'earlyStop is 0; it must be a whole number of at least 1',
  },
  {
    title: 'a start without weights',
    options: { start: {} as never },
    message: 'start.weights is null; it must be a Float64Array',
  },
  {
    title: 'a start of another width',
    options: { start: { weights: new Float64Array(4) } },
    message: 'start.weights has 4 numbers; the model has 5: one for each column',
  },
  {
    title: 'a start that is not finite',
    options: { start: { weights: Float64Array.of(0, 0, Infinity, 0, 0) } },
    message: 'start.weights[2] is Infinity; it must be a finite number',
  },
  {
    title: 'a start with an intercept that the model has not',
    options: { start: { weights: new Float64Array(5), intercepts: Float64Array.of(2) } },
    message: 'the starting point has an intercept (2); the model has none',
  },
  {
    title: 'a dual start for other rows',
    options: { start: { weights: new Float64Array(5), alpha: new Float64Array(20) }, holdout: 0.5 },
    message: 'start.alpha has 20 numbers; the model has 10: one for each row trained on',
  },
  {
    title: 'auprc without test rows',
    options: { auprc: true },
    message: 'auprc needs test or holdout',
  },
  {
    title: 'auprc of a regression',
    options: { auprc: true, holdout: 0.5, loss: losses.square() },
    message: 'AUPRC is for classification; the square loss is for regression',
  },
  {
    title: 'a wrong testOn',
    options: { testOn: 'last' as never },
    message: "testOn is 'last'; it must be 'best' or 'latest'",
  },
  {
    title: 'a serial solver on a grid',
    options: { solver: solvers.sgd(), grid: 2 },
    message: 'a grid of 2 was given; sgd is a serial method and runs on a grid of 1',
  },
  {
    title: 'too few factors',
    options: { penaltyFactors: new Float64Array(4).fill(1) },
    message: 'penaltyFactors has 4 numbers; the data has 5 columns',
  },
  {
    title: 'a factor of 0',
    options: { penaltyFactors: Float64Array.of(1, 1, 0, 1, 1) },
    message: 'penaltyFactors[2] is 0; factors must be positive',
  },
  {
    title: 'a factor that is no number',
    options: { penaltyFactors: Float64Array.of(1, 1, 1, 1, Number.NaN) },
    message: 'penaltyFactors[4] is NaN',
  },
  {
    title: 'columns with a loss that is not smooth',
    options: { loss: losses.hinge(), solver: solvers.ring({ mode: 'columns' }) },
    message: 'column mode needs a smooth loss',
  },
  {
    title: 'the paper’s start with L1',
    options: { penalty: penalties.l1(), solver: solvers.paper() },
    message: 'it needs a quadratic part',
  },
];

test.each(refused)('$title is refused in words', async ({ options, message }) => {
  await expect(train(dataset, options)).rejects.toThrow(UsageError);
  await expect(train(dataset, options)).rejects.toThrow(message);
});

describe('labels', () => {
  const rows = [[1], [2], [3], [4]];

  test('one class, three numbers that are no classes', async () => {
    const one = train(datasetOf(rows, [1, 1, 1, 1]));
    await expect(one).rejects.toThrow(DataError);
    await expect(one).rejects.toThrow('array: all labels are 1; classification needs');
    await expect(train(datasetOf(rows, [1, 2.5, 3, 1]))).rejects.toThrow(
      'labels 1, 2.5, 3 are not whole numbers',
    );
  });

  test.each([
    [-1, 1],
    [0, 1],
    [1, 2],
    [-7.5, 1000],
  ])('%f and %f: the smaller one is the negative class', async (negative, positive) => {
    const labels = [negative, negative, positive, positive];
    const { model, report } = await train(datasetOf(rows, labels), { intercept: true });
    expect(model.classes).toEqual([negative, positive]);
    expect(report.classes).toEqual([negative, positive]);
    const reference = await train(datasetOf(rows, [-1, -1, 1, 1]), { intercept: true });
    expect(model.weights).toEqual(reference.model.weights);
  });

  test('a label of the test data that training did not see', async () => {
    const trained = datasetOf(rows, [0, 0, 1, 1]);
    const other = datasetOf(rows, [0, 0, 1, 2]);
    await expect(train(trained, { test: other })).rejects.toThrow(
      'row 4 has label 2; expected 0 or 1, as in the training data',
    );
  });

  test('regression has no classes', async () => {
    const { model, report } = await train(datasetOf(rows, [1, 1, 1, 1]), {
      loss: losses.square(),
    });
    expect('classes' in model).toBe(false);
    expect('classes' in report).toBe(false);
    expect(model.task).toBe('regression');
  });
});

describe('a loss without a dual', () => {
  const primal: PrimalLoss = losses.logistic();

  test('does not compile, and untyped says what is missing', async () => {
    const { value, derivative, name, task, smooth, parameter } = primal;
    const bare: PrimalLoss = { value, derivative, name, task, smooth, parameter };
    // @ts-expect-error: a certificate needs the conjugate
    const untyped = train(dataset, { loss: bare });
    await expect(untyped).rejects.toThrow(UsageError);
    await expect(untyped).rejects.toThrow(
      "loss 'logistic' has no conjugate, conjugateDerivative, conjugateLow, conjugateHigh, dualStep",
    );
  });

  test('nor do names where values are wanted, or values that do not exist', () => {
    const wrong = [
      // @ts-expect-error: a solver is a value, not a name
      (): TrainOptions => ({ solver: 'ring' }),
      // @ts-expect-error: a penalty is a value, not a name
      (): TrainOptions => ({ penalty: 'l2' }),
      // @ts-expect-error: there is no such mode
      () => solvers.ring({ mode: 'diagonal' }),
      // @ts-expect-error: there is no such step rule
      () => solvers.dso({ step: 'newton' }),
    ];
    expect(wrong).toHaveLength(4);
  });
});

test('a name in place of a solver is refused, and so are settings that do not exist', async () => {
  await expect(train(dataset, { solver: 'ring' as never })).rejects.toThrow(UsageError);
  expect(() => solvers.ring({ mode: 'diagonal' as never })).toThrow(UsageError);
  expect(() => solvers.dso({ step: 'newton' as never })).toThrow(UsageError);
});

test('a loss that threads cannot load is refused before any work', async () => {
  const own = { ...losses.logistic(), name: 'own' };
  await expect(train(dataset, { loss: own })).rejects.toThrow(/'own' is not built in.*loadLoss/);
});
