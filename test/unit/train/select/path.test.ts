import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeDataset } from '../../../../src/data/binary/convert.ts';
import { openDataset } from '../../../../src/data/binary/stored.ts';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { stream } from '../../../../src/math/random.ts';
import { modelHash } from '../../../../src/model/file.ts';
import { errorOf, evaluate } from '../../../../src/model/metrics/evaluate.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import {
  type PathOptions,
  type PathPoint,
  trainPath,
  walkPath,
} from '../../../../src/train/select/path.ts';
import { train } from '../../../../src/train/train.ts';
import { sampleFor } from '../../../support/data.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const rows = 200;
const columns = 20;
const shape = { rows, columns };

const problems: Record<string, PathOptions> = {
  'hinge, L2': { loss: losses.hinge() },
  'logistic, L1, intercept': {
    loss: losses.logistic(),
    penalty: penalties.l1(),
    intercept: true,
  },
  'square, elastic net': { loss: losses.square(), penalty: penalties.elasticNet({ l1Ratio: 0.5 }) },
  'squared hinge, L1, scaled columns': {
    loss: losses.squaredHinge(),
    penalty: penalties.l1(),
    scale: 'std',
  },
  'logistic by lbfgs': { loss: losses.logistic(), solver: solvers.lbfgs() },
  'hinge by dcd': { loss: losses.hinge(), solver: solvers.dcd() },
};

const sampleOf = (options: PathOptions, seed = 1) => sampleFor(options.loss!, { ...shape, seed });

describe('a path', () => {
  test.each(Object.entries(problems))(
    '%s: each model is what training alone gives',
    async (_, options) => {
      const { dataset } = sampleOf(options);
      const tolerance = 1e-6;
      const path = await trainPath(dataset, {
        ...options,
        tolerance,
        count: 6,
        ratio: 1e-2,
        threads: 2,
      });
      expect(path.map(({ place, count }) => `${place} of ${count}`)).toEqual(
        [0, 1, 2, 3, 4, 5].map((place) => `${place} of 6`),
      );
      for (const { lambda, model, epochs, nonzero } of path) {
        const { certificate } = model;
        expect(certificate.stopped).toBe('converged');
        expect(certificate.relativeGap).toBeLessThanOrEqual(tolerance);
        expect(certificate.dual).toBeLessThanOrEqual(certificate.primal * (1 + 1e-12));
        expect([model.lambda, certificate.epochs]).toEqual([lambda, epochs]);
        expect(nonzero).toBe(model.weights.filter((weight) => weight !== 0).length);
        const alone = await train(dataset, { ...options, tolerance, lambda, threads: 2 });
        const other = alone.model.certificate;
        // Both are within the tolerance of one optimum: neither can be below the other's bound.
        const slack = 1e-12 * Math.abs(other.primal);
        expect(certificate.primal).toBeGreaterThanOrEqual(other.dual - slack);
        expect(other.primal).toBeGreaterThanOrEqual(certificate.dual - slack);
      }
    },
  );

  test('the objective falls with λ, the penalty rises and the loss falls', async () => {
    const options = { loss: losses.logistic(), penalty: penalties.l1(), tolerance: 1e-8 };
    const { dataset, rows: dense, labels } = sampleFor(options.loss, shape);
    const path = await trainPath(dataset, { ...options, count: 12, threads: 1 });
    const parts = path.map(({ model, lambda }) => {
      const penalty = model.weights.reduce((sum, weight) => sum + Math.abs(weight), 0);
      const loss =
        dense.reduce((sum, row, i) => {
          const score = row.reduce((total, x, j) => total + x * model.weights[j], 0);
          return sum + Math.log1p(Math.exp(-labels[i] * score));
        }, 0) / dense.length;
      expect(lambda * penalty + loss).toBeCloseTo(model.certificate.primal, 9);
      return { penalty, loss, objective: model.certificate.primal };
    });
    for (let k = 1; k < parts.length; k += 1) {
      expect(parts[k].objective).toBeLessThanOrEqual(parts[k - 1].objective);
      expect(parts[k].penalty).toBeGreaterThan(parts[k - 1].penalty - 1e-4);
      expect(parts[k].loss).toBeLessThan(parts[k - 1].loss + 1e-6);
    }
    expect(path[0].nonzero).toBe(0);
    expect(path[11].nonzero).toBe(columns);
  });

  test('starting from the model before takes fewer passes than starting anew', async () => {
    const options = { loss: losses.logistic(), penalty: penalties.l1(), tolerance: 1e-6 };
    const { dataset } = sampleFor(options.loss, shape);
    const path = await trainPath(dataset, { ...options, count: 20, threads: 1 });
    let anew = 0;
    for (const { lambda } of path) {
      anew += (await train(dataset, { ...options, lambda, threads: 1 })).report.passes;
    }
    expect(path.reduce((sum, { passes }) => sum + passes, 0)).toBeLessThan(anew);
  });

  test.each(['hinge, L2', 'logistic, L1, intercept'])(
    '%s: the same bits on any number of threads',
    async (name) => {
      const { dataset } = sampleOf(problems[name]);
      const options = { ...problems[name], count: 3, ratio: 1e-2, grid: 3 };
      const weights = async (threads: number) =>
        (await trainPath(dataset, { ...options, threads })).map(({ model }) => [...model.weights]);
      const one = await weights(1);
      expect(await weights(2)).toEqual(one);
    },
  );

  test('test rows are measured for every model', async () => {
    const options = { loss: losses.hinge(), count: 3, threads: 1 };
    const { dataset } = sampleFor(options.loss, shape);
    const { dataset: other } = sampleFor(options.loss, { ...shape, seed: 2 });
    for (const { model, test: found } of await trainPath(dataset, { ...options, test: other })) {
      expect(found).toEqual(evaluate(model, other));
      expect(errorOf(found!)).toBe((found as { error: number }).error);
    }
    const scaled = await trainPath(dataset, { ...options, test: other, scale: 'unit-rows' });
    for (const { model, test: found } of scaled) {
      expect(model.unitRows).toBe(true);
      expect(found).toEqual(evaluate(model, other));
    }
    const [held] = await trainPath(dataset, { ...options, holdout: 0.25 });
    expect(held.test?.rows).toBe(50);
    expect(held.model.rows).toBe(150);
  });

  test('several classes: every vector follows the path', async () => {
    const random = stream(9, 1);
    const drawn = Array.from({ length: 150 }, () => ({
      indices: [0, 1, 2],
      values: [random.normal(), random.normal(), random.normal()],
    }));
    const labels = drawn.map(({ values }) => values.indexOf(Math.max(...values)));
    const dataset = datasetFromRows({ rows: drawn, labels, columns: 3 });
    const options = { loss: losses.logistic(), count: 4, tolerance: 1e-6, holdout: 0.2 };
    const path = await trainPath(dataset, { ...options, threads: 2 });
    expect(await trainPath(dataset, { ...options, threads: 1 })).toEqual(path);
    for (const { model } of path) {
      expect(model.certificates).toHaveLength(3);
      expect(model.certificate.relativeGap).toBeLessThanOrEqual(1e-6);
    }
    const errors = path.map((point) => errorOf(point.test!));
    expect(errors[3]).toBeLessThan(errors[0]);
  });

  test('of data on disk is that of data in memory', async () => {
    const folder = temporaryFolder();
    const { dataset } = sampleFor(losses.hinge(), shape);
    const file = join(folder, 'data.dsob');
    await writeDataset(file, dataset);
    const options = { count: 3, solver: solvers.ring(), threads: 1 };
    const found = await trainPath(openDataset(file), { ...options, scratch: folder });
    const wanted = await trainPath(dataset, options);
    expect(found.map(({ lambda, model }) => [lambda, ...model.weights])).toEqual(
      wanted.map(({ lambda, model }) => [lambda, ...model.weights]),
    );
  });
});

describe('a long path of the working set', () => {
  const options = { loss: losses.logistic(), penalty: penalties.l1(), count: 50, ratio: 1e-3 };
  const { dataset } = sampleFor(options.loss, shape);
  const hashes = (points: PathPoint[]) => points.map(({ model }) => modelHash(model));

  test('is two chains, in order and with the same bits on any number of threads', async () => {
    const found = await trainPath(dataset, { ...options, intercept: true, threads: 2 });
    expect(found.map(({ place }) => place)).toEqual(Array.from({ length: 50 }, (_, k) => k));
    expect(found.every(({ model }) => model.certificate.relativeGap <= 1e-3)).toBe(true);
    const alone = await trainPath(dataset, { ...options, intercept: true, threads: 1 });
    expect(hashes(alone)).toEqual(hashes(found));
    const started = found.map(({ model }) => model.provenance?.options['path-place']);
    expect(started.indexOf(undefined, 1)).toBe(34);
    expect(found[35].model.provenance?.options).toMatchObject({
      'path-start': found[34].lambda,
      'path-place': 2,
    });
  });

  test('ends with its first chain at a signal', async () => {
    const controller = new AbortController();
    const found: number[] = [];
    const walk = walkPath(dataset, { ...options, threads: 2, signal: controller.signal });
    for await (const { place } of walk) {
      found.push(place);
      if (place === 1) controller.abort();
    }
    expect(found).toEqual([0, 1]);
  });

  test('ends when nobody wants more of it', async () => {
    for await (const { place } of walkPath(dataset, { ...options, threads: 2 })) {
      if (place === 3) break;
    }
    expect(await trainPath(dataset, { ...options, count: 2, threads: 2 })).toHaveLength(2);
  });

  test.each([1, 2])('fails where a caller fails, on %i threads', async (threads) => {
    const last = (await trainPath(dataset, { ...options, threads })).at(-1)!;
    const { primal } = last.model.certificate;
    const onEpoch = (progress: { readonly primal: number }) => {
      if (progress.primal === primal) throw new Error('enough');
    };
    await expect(trainPath(dataset, { ...options, threads, onEpoch })).rejects.toThrow('enough');
  });
});

describe('a path that is ended', () => {
  const { dataset } = sampleFor(losses.hinge(), shape);

  test('by a signal: the models that were done are returned', async () => {
    const controller = new AbortController();
    const found: number[] = [];
    for await (const { place } of walkPath(dataset, { count: 5, signal: controller.signal })) {
      found.push(place);
      if (place === 1) controller.abort();
    }
    expect(found).toEqual([0, 1]);
  });

  test('by a signal in the middle of a model: that one is left out', async () => {
    const controller = new AbortController();
    let models = 0;
    const path = await trainPath(dataset, {
      // Two epochs each for the first two, and more than any machine has time for.
      lambdas: [1000, 100, 1e-9, 1e-10],
      solver: solvers.dso(),
      tolerance: 1e-3,
      epochs: 1e9,
      signal: controller.signal,
      onEpoch({ epoch }) {
        if (epoch === 1) models += 1;
        if (models === 3) controller.abort();
      },
    });
    expect(path).toHaveLength(2);
  });

  test('by a signal before it began: no model', async () => {
    expect(await trainPath(dataset, { count: 5, signal: AbortSignal.abort() })).toEqual([]);
  });

  test('by the caller, who has seen enough', async () => {
    const found: number[] = [];
    for await (const { place } of walkPath(dataset, { count: 50 })) {
      found.push(place);
      if (place === 2) break;
    }
    expect(found).toEqual([0, 1, 2]);
  });

  test('by its time: what there was time for', async () => {
    // With so little λ the paper's own steps come near the optimum in hours.
    const lambdas = Array.from({ length: 30_000 }, (_, k) => 1e-8 / (1 + k));
    const limit = { solver: solvers.dso(), tolerance: 1e-12, epochs: 100_000_000 };
    const found: string[] = [];
    // Every model has its share of the time, of which there is more than a machine can stall.
    const shared = { ...limit, lambdas, time: 600 };
    for await (const { place, model } of walkPath(dataset, shared)) {
      found.push(model.certificate.stopped);
      if (place === 3) break;
    }
    expect(found).toEqual(new Array(4).fill('time-limit'));
    const none = await trainPath(dataset, { ...limit, lambdas, time: 1e-9 });
    expect(none.length).toBeLessThan(2);
  });

  test('by an exception of a listener, which it throws', async () => {
    const onEpoch = () => {
      throw new Error('enough');
    };
    await expect(trainPath(dataset, { count: 5, onEpoch })).rejects.toThrow('enough');
  });
});

test.each(['lambda', 'start', 'alpha', 'calibrate', 'checkpoint', 'resume'])(
  '%s is for one model alone',
  async (name) => {
    const { dataset } = sampleFor(losses.hinge(), shape);
    const options = { [name]: 1 } as PathOptions;
    await expect(trainPath(dataset, options)).rejects.toThrow(`${name} is not an option of a path`);
  },
);
