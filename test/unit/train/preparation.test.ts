import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../src/data/from-arrays.ts';
import { countLabels } from '../../../src/data/labels.ts';
import { columnScales, divideColumns, withUnitRows } from '../../../src/data/scale.ts';
import { UsageError } from '../../../src/errors.ts';
import { stream } from '../../../src/math/random.ts';
import { sum as sumOf } from '../../../src/math/vectors.ts';
import { evaluate } from '../../../src/model/metrics/evaluate.ts';
import { weightsOf } from '../../../src/model/model.ts';
import { predict } from '../../../src/model/predict/predict.ts';
import { scoreDataset } from '../../../src/model/predict/score.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { solvers } from '../../../src/solvers/index.ts';
import { omit } from '../../../src/train/options/option.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { readDataset } from '../../../src/train/read.ts';
import { train } from '../../../src/train/train.ts';
import { verify } from '../../../src/train/verify/verify.ts';
import { startFromModel } from '../../../src/train/warm-start.ts';
import { zipfDataset } from '../../support/data.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const features = 8;

function sample(count: number, seed: number, labelOf: (score: number) => number): Dataset {
  const random = stream(seed, 2);
  const planted = Array.from({ length: features }, () => random.normal());
  const rows = Array.from({ length: count }, () => {
    const indices = [...Array(features).keys()].filter(() => random.uniform() < 0.7);
    // Columns differ in scale by four orders of magnitude.
    return { indices, values: indices.map((j) => 10 ** (j % 5) * (1 + random.normal())) };
  });
  const labels = rows.map(({ indices, values }) => {
    const score = indices.reduce((sum, j, k) => sum + (planted[j] * values[k]) / 10 ** (j % 5), 0);
    return labelOf(score + 0.5 * random.normal());
  });
  return datasetFromRows({ rows, labels, columns: features });
}

const two = sample(300, 1, (score) => (score > 1 ? 1 : -1));
const three = sample(300, 2, (score) => (score > 1 ? 3 : score > -1 ? 2 : 1));
const tight: TrainOptions = { tolerance: 1e-9, lambda: 1e-2, loss: losses.logistic() };

/** What each row counts, by its label. */
function counting(dataset: Dataset, of: (label: number) => number): Dataset {
  const parts = dataset.parts.map((part) => ({
    ...part,
    weights: Float64Array.from(part.labels, of),
  }));
  return { ...dataset, parts };
}

describe('class weights', () => {
  test('are weights of the rows', async () => {
    const named = await train(two, { ...tight, classWeights: { 1: 3, '-1': 0.5 } });
    const rows = await train(
      counting(two, (label) => (label > 0 ? 3 : 0.5)),
      tight,
    );
    expect(named.model.weights).toEqual(rows.model.weights);
  });

  test('that are balanced give every class the same sum', async () => {
    const labels = two.parts.flatMap((part) => [...part.labels]);
    const positive = labels.filter((label) => label > 0).length;
    const balanced = await train(two, { ...tight, classWeights: 'balanced' });
    const rows = await train(
      counting(two, (label) => 150 / (label > 0 ? positive : 300 - positive)),
      tight,
    );
    expect(balanced.report.primal).toBeCloseTo(rows.report.primal, 12);
    expect(balanced.model.provenance?.options['class-weight']).toBe('balanced');
  });

  test('of labels that no row has are refused', async () => {
    await expect(train(two, { classWeights: { 2: 1 } })).rejects.toThrow(
      'class weight for 2, which no row has; did you mean',
    );
    await expect(train(two, { classWeights: { 1: -1 } })).rejects.toThrow('it must be 0 or more');
    await expect(train(two, { loss: losses.square(), classWeights: 'balanced' })).rejects.toThrow(
      UsageError,
    );
  });
});

describe('scaling', () => {
  test.each(['max', 'std'] as const)('%s: the model is for the data as it is', async (scale) => {
    const { model, report } = await train(two, { ...tight, scale });
    const factors = columnScales(two, scale);
    const by = await train(divideColumns(two, factors), tight);
    expect(report.primal).toBe(by.report.primal);
    for (const [j, weight] of by.model.weights.entries()) {
      expect(model.weights[j]).toBe(weight / factors[j]);
    }
    const scores = scoreDataset(model, two);
    for (const [row, score] of scoreDataset(by.model, divideColumns(two, factors)).entries()) {
      expect(scores[row]).toBeCloseTo(score, 4);
    }
  });

  test('unit rows are divided when they are scored, too', async () => {
    const { model } = await train(two, { ...tight, scale: 'unit-rows' });
    const by = await train(withUnitRows(two), tight);
    expect(model.unitRows).toBe(true);
    expect(model.weights).toEqual(by.model.weights);
    const scores = scoreDataset(model, two);
    for (const [row, score] of scoreDataset(by.model, withUnitRows(two)).entries()) {
      expect(scores[row]).toBeCloseTo(score, 6);
    }
  });

  test('test rows are measured as they are read', async () => {
    const events: number[] = [];
    const { model, report } = await train(two, {
      ...tight,
      scale: 'std',
      holdout: 0.3,
      onEpoch: ({ testError }) => events.push(testError ?? -1),
    });
    const error = report.test?.task === 'classification' ? report.test.error : Number.NaN;
    expect(events.at(-1)).toBeCloseTo(error, 12);
    expect(model.provenance?.options.scale).toBe('std');
  });

  test('a start is scaled along', async () => {
    const { model } = await train(two, { ...tight, scale: 'max' });
    const again = await train(two, { ...tight, scale: 'max', start: model });
    expect(again.report.epochs).toBeLessThanOrEqual(2);
  });
});

describe('calibration', () => {
  test.each(['platt', 'isotonic'] as const)(
    '%s: probabilities of the data as it is, whatever classes weigh',
    async (method) => {
      const data = zipfDataset({ rows: 400, columns: 40, perRow: 8 });
      const rate = countLabels(data).get(1)! / data.rows;
      const loss = losses.logistic();
      const options: TrainOptions = { loss, intercept: true, threads: 1, classWeights: { 1: 8 } };
      const meanOf = async (more: TrainOptions) => {
        const { model } = await train(data, { ...options, ...more });
        return sumOf(predict(model, data, { output: 'probabilities' })) / data.rows;
      };
      expect(await meanOf({})).toBeGreaterThan(rate + 0.1);
      expect(Math.abs((await meanOf({ calibrate: { method } })) - rate)).toBeLessThan(0.03);
    },
  );

  test.each(['platt', 'isotonic'] as const)('%s makes probabilities of an SVM', async (method) => {
    const { model } = await train(two, { calibrate: { method, folds: 3 }, lambda: 1e-2 });
    expect(model.calibration).toHaveLength(1);
    const chances = predict(model, two, { output: 'probabilities' });
    expect(chances.every((chance) => chance >= 0 && chance <= 1)).toBe(true);
    const metrics = evaluate(model, two);
    // Better than the share of the classes says.
    expect(metrics.task === 'classification' && metrics.logLoss).toBeLessThan(0.6);
    const plain = await train(two, { lambda: 1e-2 });
    expect(model.weights).toEqual(plain.model.weights);
  });

  test('is fitted to scores of rows that were held out', async () => {
    // Labels that nothing predicts: fitted to its own rows, the model would look as if it knew them.
    const random = stream(3, 3);
    const coin = sample(60, 3, () => (random.uniform() < 0.5 ? 1 : -1));
    const { model } = await train(coin, {
      calibrate: { method: 'platt', folds: 5 },
      lambda: 1e-6,
      scale: 'std',
    });
    const chances = predict(model, coin, { output: 'probabilities' });
    expect(Math.max(...chances.map((chance) => Math.abs(chance - 0.5)))).toBeLessThan(0.4);
  });

  test('of several classes has one for each, and the same bits on any threads', async () => {
    const options: TrainOptions = { calibrate: { method: 'platt' }, lambda: 1e-2, scale: 'std' };
    const [one, two_] = await Promise.all(
      [1, 2].map((threads) => train(three, { ...options, threads })),
    );
    expect(one.model.calibration).toHaveLength(3);
    expect(two_.model).toEqual(one.model);
    const chances = predict(one.model, three, { output: 'probabilities' });
    expect(chances[0] + chances[1] + chances[2]).toBeCloseTo(1, 12);
  });

  test('that is interrupted, or has no time left, is left out', async () => {
    const controller = new AbortController();
    const notices: string[] = [];
    const interrupted = await train(three, {
      calibrate: { method: 'platt' },
      signal: controller.signal,
      onNotice: (message) => notices.push(message),
      onEpoch: () => controller.abort(),
    });
    expect(interrupted.model.calibration).toBeUndefined();
    expect(notices).toContain('not calibrated: training ended before all folds had been scored');
    const short = await train(three, { calibrate: { method: 'platt' }, time: 1e-9 });
    expect(short.report.stopped).toBe('time-limit');
    expect(short.model.calibration).toBeUndefined();
  });

  test('needs rows that count on both sides of every fold', async () => {
    const alone = { ...counting(two, () => 0) };
    alone.parts[0].weights?.fill(1, 0, 1);
    await expect(train(alone, { calibrate: { method: 'platt', folds: 2 } })).rejects.toThrow(
      'all rows outside of a fold have weight 0',
    );
  });

  test.each([
    [{ calibrate: { method: 'platt' as const, folds: 301 } }, '301 folds need at least 301 rows'],
    [{ calibrate: { method: 'magic' as 'platt' } }, 'it must be one of platt, isotonic'],
    [{ calibrate: { method: 'platt' as const, folds: 1 } }, 'calibrate.folds is 1'],
    [{ calibrate: { method: 'platt' as const }, loss: losses.square() }, /^calibration is for/],
  ])('refuses %j before it trains', async (options, message) => {
    let epochs = 0;
    await expect(train(two, { ...options, onEpoch: () => epochs++ })).rejects.toThrow(message);
    expect(epochs).toBe(0);
  });
});

describe('a model to start from', () => {
  const names = Array.from({ length: features }, (_, j) => `f${j}`);

  test('is found by the names of features and classes', async () => {
    const { model } = await train({ ...three, featureNames: names }, { ...tight, scale: 'std' });
    const turned = [...names].reverse().concat('new');
    const other = { ...three, columns: features + 1, featureNames: turned };
    const { loss } = tight as { loss: ReturnType<typeof losses.logistic> };
    const start = startFromModel(model, other, { loss, columns: features + 1 });
    expect(start.weights).toHaveLength(3 * (features + 1));
    expect(startFromModel(model, other)).toEqual(start);
    expect(start.weights[0]).toBe(weightsOf(model, 0)[features - 1]);
    expect(start.weights[features]).toBe(0);
    expect(start.weights[features + 1]).toBe(weightsOf(model, 1)[features - 1]);
  });

  test('of other classes, or of another task, is refused', async () => {
    const { model } = await train(two, tight);
    const other = sample(50, 4, (score) => (score > 0 ? 5 : 6));
    const { loss } = tight as { loss: ReturnType<typeof losses.logistic> };
    expect(() => startFromModel(model, other, { loss, columns: features })).toThrow(
      'has classes -1 and 1; the data has 6 and 5',
    );
    expect(() =>
      startFromModel(model, other, { loss: losses.square(), columns: features }),
    ).toThrow('is for classification; the square loss is for regression');
  });
});

test('provenance states the data and the options, and nothing that does not decide', async () => {
  const options: TrainOptions = { ...tight, holdout: 0.2, scale: 'max' };
  const [one, other] = await Promise.all(
    [1, 2].map((threads) => train(two, { ...options, threads })),
  );
  expect(one.model.provenance).toEqual(other.model.provenance);
  expect(one.model.provenance?.data).toMatch(/^[0-9a-f]{16}$/);
  expect(one.model.provenance?.options).toMatchObject({ holdout: 0.2, scale: 'max' });
  expect(Object.keys(one.model.provenance?.options ?? {})).not.toContain('threads');
  const changed = await train(three, options);
  expect(changed.model.provenance?.data).not.toBe(one.model.provenance?.data);
});

describe('a table', () => {
  const lines = Array.from({ length: 80 }, (_, row) => {
    const city = row % 20 === 0 ? 'Arles' : ['Rome', 'Oslo'][row % 2];
    return `${1000 * ((row * 37) % 50)},${(row * 11) % 7},${city},${row % 3 === 0 ? 1 : 0}\n`;
  });
  const readTable = async (options = {}) => {
    const path = join(temporaryFolder(), 't.csv');
    writeFileSync(path, `income,age,city,label\n${lines.join('')}`);
    return readDataset(path, { threads: 1, ...options });
  };
  const plain = { loss: losses.logistic(), threads: 1, tolerance: 1e-9 } as const;

  test('has its numbers scaled, and an intercept, and says so', async () => {
    const notices: string[] = [];
    const onNotice = (message: string) => notices.push(message);
    const table = await readTable();
    const { model } = await train(table, { ...plain, onNotice });
    expect(model.provenance?.options).toMatchObject({ scale: 'std', intercept: true });
    expect(model.intercepts[0]).not.toBe(0);
    expect(notices.filter((one) => one.startsWith('the data is a table:'))).toHaveLength(1);
    const asked = await train(table, { ...plain, scale: 'std', intercept: true });
    expect(asked.model).toEqual(model);
    expect((await verify(model, table)).confirmed).toBe(true);
  });

  test('is left as it is where that is asked for', async () => {
    const table = await readTable();
    const { model } = await train(table, { ...plain, scale: 'none', intercept: false });
    expect(model.provenance?.options).toMatchObject({ scale: 'none', intercept: false });
    expect(model.intercepts[0]).toBe(0);
    const bare = omit(table, 'featureNames', 'recipe');
    const { model: raw } = await train(bare, plain);
    expect(model.weights).toEqual(raw.weights);
    expect((await verify(model, table)).confirmed).toBe(true);
  });

  test('is not scaled where its weights have a bound', async () => {
    const penalty = penalties.bounded(penalties.l2(), { low: -1, high: 1 });
    const notices: string[] = [];
    const onNotice = (message: string) => notices.push(message);
    const { model } = await train(await readTable(), { ...plain, penalty, onNotice });
    expect(model.provenance?.options).not.toHaveProperty('scale');
    expect(notices.join('\n')).not.toContain('--scale std');
    expect(model.provenance?.options.intercept).toBe(true);
  });

  test.each([solvers.dcd(), solvers.bmrm()])(
    'has no intercept where $name cannot have one',
    async (solver) => {
      const notices: string[] = [];
      const onNotice = (message: string) => notices.push(message);
      const options = { loss: losses.hinge(), threads: 1, solver, onNotice };
      const { model } = await train(await readTable(), options);
      expect(model.intercepts[0]).toBe(0);
      expect(notices.join('\n')).toContain(
        `there is no intercept, which ${solver.name} cannot have`,
      );
      await expect(train(await readTable(), { ...options, intercept: true })).rejects.toThrow(
        'not compatible with an intercept',
      );
    },
  );

  test.each([{}, { hashBits: 12 }])('%j: categories stay 0 or 1', async (options) => {
    const table = await readTable(options);
    const scales = columnScales(table, 'std');
    const others = [...scales].filter((scale) => scale !== 1);
    expect(others).toHaveLength(2);
    expect([...columnScales(table, 'max')].filter((scale) => scale !== 1)).toEqual(
      expect.arrayContaining([49000, 6]),
    );
  });
});
