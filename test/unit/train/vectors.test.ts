import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../src/data/from-arrays.ts';
import { stream } from '../../../src/math/random.ts';
import { sum } from '../../../src/math/vectors.ts';
import { vectorCount, weightsOf } from '../../../src/model/model.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { solvers } from '../../../src/solvers/index.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';

const features = 12;

/** Rows around one centre for each class. */
function rowsOf(count: number, classes: number) {
  const random = stream(7, 1);
  const centres = Array.from({ length: classes }, () =>
    Array.from({ length: features }, () => random.normal()),
  );
  const codes = Array.from({ length: count }, (_, row) => row % classes);
  const rows = codes.map((code) => {
    const indices = [...Array(features).keys()].filter(() => random.uniform() < 0.6);
    return { indices, values: indices.map((j) => centres[code][j] + random.normal()) };
  });
  return { rows, codes };
}

const { rows, codes } = rowsOf(240, 4);
const four = datasetFromRows({ rows, labels: codes.map((code) => 10 * code), columns: features });

/** The same rows, one class against the others. */
function against(vector: number): Dataset {
  return datasetFromRows({
    rows,
    labels: codes.map((code) => (code === vector ? 1 : -1)),
    columns: features,
  });
}

const settings: Record<string, TrainOptions> = {
  'hinge, rows': { tolerance: 1e-6, grid: 3 },
  'logistic with intercept': { loss: losses.logistic(), intercept: true, tolerance: 1e-6 },
  'logistic, L1, columns': {
    loss: losses.logistic(),
    penalty: penalties.l1(),
    lambda: 1e-2,
    grid: 2,
  },
  'the solver of the paper': { solver: solvers.dso(), epochs: 20, grid: 2 },
};

describe('one vector for each class', () => {
  test.each(Object.entries(settings))('is what two classes would give: %s', async (_, options) => {
    const { model, report } = await train(four, { ...options, threads: 2 });
    expect(model.classes).toEqual([0, 10, 20, 30]);
    expect(vectorCount(model)).toBe(4);
    expect(report.vectors).toBe(4);
    const primals: number[] = [];
    for (let vector = 0; vector < 4; vector++) {
      const alone = await train(against(vector), options);
      expect(weightsOf(model, vector)).toEqual(alone.model.weights);
      expect(model.intercepts[vector]).toBe(alone.model.intercepts[0]);
      expect(model.certificates?.[vector]).toEqual(alone.model.certificate);
      primals.push(alone.report.primal);
    }
    expect(model.certificate.primal).toBe(sum(Float64Array.from(primals)));
  });

  test('has the same bits on any number of threads', async () => {
    const [one, three] = await Promise.all(
      [1, 3].map((threads) => train(four, { threads, grid: 2, intercept: true })),
    );
    expect(three.model).toEqual(one.model);
    expect(three.report.threads).toBe(3);
  });

  test('reports which one an epoch was of', async () => {
    const seen = new Set<string>();
    await train(four, {
      onEpoch: ({ vector }) => seen.add(`${vector?.index} of ${vector?.count}`),
    });
    expect([...seen].sort()).toEqual(['0 of 4', '1 of 4', '2 of 4', '3 of 4']);
  });

  test('of words, in their order', async () => {
    const names = ['pear', 'fig', 'apple', 'kiwi'];
    const words = {
      ...datasetFromRows({ rows, labels: codes, columns: features }),
      labelNames: names,
    };
    const { model } = await train(words);
    expect(model.classes).toEqual(['apple', 'fig', 'kiwi', 'pear']);
    const numbers = await train(four);
    expect(weightsOf(model, 0)).toEqual(weightsOf(numbers.model, 2));
    expect(weightsOf(model, 3)).toEqual(weightsOf(numbers.model, 0));
  });
});

test('rows with several labels', async () => {
  const labelNames = ['a,b', 'b', '', 'c,a'];
  const several = { ...datasetFromRows({ rows, labels: codes, columns: features }), labelNames };
  const { model } = await train(several, { multiLabel: true, tolerance: 1e-6 });
  expect(model.classes).toEqual(['a', 'b', 'c']);
  expect(model.multiLabel).toBe(true);
  const labels = codes.map((code) => (code === 0 || code === 1 ? 1 : -1));
  const alone = await train(datasetFromRows({ rows, labels, columns: features }), {
    tolerance: 1e-6,
  });
  expect(weightsOf(model, 1)).toEqual(alone.model.weights);
});

test('an interrupted training has all vectors, of which some are untrained', async () => {
  const interrupted = async (epochs: number, last: number) => {
    const controller = new AbortController();
    const { model } = await train(four, {
      threads: 1,
      signal: controller.signal,
      onEpoch: ({ epoch }) => {
        if (epoch === last) controller.abort();
      },
      // Never there, however late the signal comes.
      solver: solvers.dso(),
      lambda: 1e-9,
      tolerance: 1e-15,
      epochs,
    });
    expect(weightsOf(model, 0).some((weight) => weight !== 0)).toBe(true);
    for (const vector of [1, 2, 3]) {
      expect(weightsOf(model, vector).every((weight) => weight === 0)).toBe(true);
      expect(model.certificates?.[vector]).toMatchObject({ primal: 1, dual: -Infinity });
    }
    return model.certificates?.map(({ stopped }) => stopped);
  };
  const others = ['interrupted', 'interrupted', 'interrupted'];
  expect(await interrupted(1e9, 3)).toEqual(['interrupted', ...others]);
  // Why a vector ended is settled before its last epoch is reported.
  expect(await interrupted(20, 20)).toEqual(['epoch-limit', ...others]);
});

test('when one of its runs fails, all have ended before it rejects', async () => {
  let isOver = false;
  let late = 0;
  const failing = train(four, {
    threads: 2,
    solver: solvers.dso(),
    tolerance: 1e-15,
    epochs: 5000,
    onEpoch: ({ vector }) => {
      if (isOver) late++;
      if (vector?.index === 1) throw new Error('enough');
    },
  });
  await expect(failing).rejects.toThrow('enough');
  isOver = true;
  await train(four, { solver: solvers.dso(), tolerance: 1e-15, epochs: 100 });
  expect(late).toBe(0);
});

test('a class whose rows are all held out has its vector', async () => {
  const rare = datasetFromRows({
    rows,
    // Behind the first rows each one has a class of its own.
    labels: codes.map((code, row) => (row < 200 ? code : row)),
    columns: features,
  });
  const { model, report } = await train(rare, { holdout: 0.4, loss: losses.squaredHinge() });
  expect(model.classes).toHaveLength(4 + 40);
  expect(report.stopped).toBe('converged');
  const certificates = model.certificates ?? [];
  expect(certificates.every(({ relativeGap }) => relativeGap <= 1e-3)).toBe(true);
  // Of two classes both must be left.
  const same = datasetFromRows({
    rows,
    labels: codes.map((_, row) => Number(row === 7)),
    columns: features,
  });
  const seeds = Array.from({ length: 20 }, (_, seed) => seed);
  const ends = await Promise.allSettled(seeds.map((seed) => train(same, { holdout: 0.5, seed })));
  const refused = ends.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(20);
});

test('where the infimum is 0 and never reached, the run ends at the limits of precision', async () => {
  // One row alone counts, and an intercept fits it as well as one likes.
  const weights = codes.map((_, row) => Number(row === 5));
  const dataset = datasetFromRows({ rows, labels: codes, columns: features, weights });
  const { report } = await train(dataset, { loss: losses.logistic(), intercept: true });
  expect(report.stopped).toBe('precision');
  expect(report.primal).toBeLessThan(1e-12);
  expect(report.dual).toBeCloseTo(0, 20);
});

test('checkpoints of other class weights, or of other names of labels, are refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dso-vectors-'));
  try {
    const saved = { checkpoint: { folder }, resume: folder, lambda: 0.01, epochs: 3 };
    const named = (...labelNames: string[]) => ({
      ...datasetFromRows({ rows, labels: codes, columns: features }),
      labelNames,
    });
    const fruit = named('pear', 'fig', 'apple', 'kiwi');
    await train(fruit, { ...saved, classWeights: { fig: 2 } });
    await expect(train(fruit, { ...saved, classWeights: { fig: 3 } })).rejects.toThrow(
      'class-weight was fig=2, is fig=3',
    );
    await expect(train(fruit, saved)).rejects.toThrow('class-weight was fig=2, is not given');
    const others = named('apple', 'fig', 'pear', 'kiwi');
    await expect(train(others, { ...saved, classWeights: { fig: 2 } })).rejects.toThrow(
      'label names was',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('continues from the checkpoints of its vectors', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dso-vectors-'));
  try {
    const options: TrainOptions = { tolerance: 1e-9, intercept: true, threads: 1 };
    const whole = await train(four, { ...options, epochs: 40 });
    const controller = new AbortController();
    await train(four, {
      ...options,
      epochs: 40,
      checkpoint: { folder, every: { epochs: 1 } },
      signal: controller.signal,
      onEpoch: ({ vector, epoch }) => {
        if (vector?.index === 2 && epoch === 3) controller.abort();
      },
    });
    const resumed = await train(four, {
      ...options,
      epochs: 40,
      checkpoint: { folder, every: { epochs: 1 } },
      resume: folder,
    });
    expect(resumed.model).toEqual(whole.model);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
