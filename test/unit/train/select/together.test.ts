import { describe, expect, test } from 'vitest';
import { stream } from '../../../../src/math/random.ts';
import type { Model } from '../../../../src/model/model.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { assignFolds } from '../../../../src/train/calibrate.ts';
import { readDataset } from '../../../../src/train/read.ts';
import {
  crossValidate,
  type ValidateOptions,
} from '../../../../src/train/select/cross-validate.ts';
import { type PathOptions, type PathPoint, trainPath } from '../../../../src/train/select/path.ts';
import { search } from '../../../../src/train/select/search.ts';
import { train } from '../../../../src/train/train.ts';
import { datasetOf, type Sample, sampleFor } from '../../../support/data.ts';
import { realData } from '../../../support/real-data.ts';
import { weighted } from '../../../support/weighted.ts';

const loss = losses.square();
const tall = sampleFor(loss, { rows: 300, columns: 16, density: 0.4, noise: 2 });
const dense = sampleFor(loss, { rows: 700, columns: 9, density: 1, seed: 4 });
const weights = tall.labels.map((_, row) => row % 3);
const factors = Float64Array.from({ length: 16 }, (_, j) => (j === 5 ? 1e-3 : 1 + (j % 4)));

const problems: Record<string, PathOptions> = {
  l1: { penalty: penalties.l1() },
  'l1, intercept': { penalty: penalties.l1(), intercept: true },
  'l1, intercept, factors': { penalty: penalties.l1(), intercept: true, penaltyFactors: factors },
  'elastic net': { penalty: penalties.elasticNet({ l1Ratio: 0.7 }), intercept: true },
  l2: { penalty: penalties.l2() },
  'l2, intercept, factors': { penalty: penalties.l2(), intercept: true, penaltyFactors: factors },
  'l1, box': { penalty: penalties.bounded(penalties.l1(), { low: -0.3, high: 0.5 }) },
  'non-negative l2, intercept': { penalty: penalties.nonNegative(penalties.l2()), intercept: true },
};

const isTogether = ({ model }: PathPoint) => model.solver === 'normal-equations';
const passesOf = (points: readonly { readonly passes: number }[]) =>
  points.reduce((sum, { passes }) => sum + passes, 0);
const supportOf = (all: Float64Array) => [...all.keys()].filter((j) => all[j] !== 0);

describe('a path of the square loss on a tall table', () => {
  test.each(Object.entries(problems))(
    '%s: each model is what training alone gives',
    async (_, own) => {
      for (const dataset of [tall.dataset, weighted(tall, weights)]) {
        const options = { ...own, loss, threads: 1, tolerance: 1e-10 };
        const path = await trainPath(dataset, { ...options, count: 8 });
        expect(path.every(isTogether)).toBe(true);
        for (const { lambda, model } of path) {
          const { certificate } = model;
          expect(certificate.relativeGap).toBeLessThanOrEqual(1e-10);
          const other = (await train(dataset, { ...options, lambda, epochs: 3000 })).model;
          expect(certificate.primal).toBeGreaterThanOrEqual(other.certificate.dual);
          expect(other.certificate.primal).toBeGreaterThanOrEqual(certificate.dual);
          for (const [j, weight] of model.weights.entries()) {
            expect(weight).toBeCloseTo(other.weights[j], 4);
            expect(weight === 0 || Math.abs(weight) > 1e-30).toBe(true);
          }
          expect(model.intercepts[0]).toBeCloseTo(other.intercepts[0], 4);
        }
      }
    },
  );

  test('weights are 0 exactly where the gradient is inside the threshold', async () => {
    const path = await trainPath(tall.dataset, { loss, penalty: penalties.l1(), count: 30 });
    for (const { lambda, model, nonzero } of path) {
      const residuals = tall.rows.map(
        (row, i) => tall.labels[i] - row.reduce((sum, x, j) => sum + x * model.weights[j], 0),
      );
      const slopes = tall.rows[0].map(
        (_, j) =>
          tall.rows.reduce((sum, row, i) => sum + row[j] * residuals[i], 0) / tall.rows.length,
      );
      for (const [j, slope] of slopes.entries()) {
        const weight = model.weights[j];
        if (weight === 0) expect(Math.abs(slope)).toBeLessThanOrEqual(lambda * (1 + 1e-9));
        else expect(slope).toBeCloseTo(lambda * Math.sign(weight), 10);
      }
      expect(nonzero).toBe(supportOf(model.weights).length);
    }
  });

  test('the data is passed over three times, however many λ there are', async () => {
    for (const count of [3, 20, 100]) {
      const path = await trainPath(tall.dataset, { loss, penalty: penalties.l1(), count });
      expect(passesOf(path)).toBeCloseTo(3, 9);
    }
  });

  test('the same bits on any number of threads, in both orientations of the grid', async () => {
    for (const penalty of [penalties.l1(), penalties.l2()]) {
      const options = { loss, penalty, intercept: true, count: 12, grid: 3 };
      const found = async (threads: number) =>
        (await trainPath(tall.dataset, { ...options, threads })).map(({ model }) => [
          ...model.weights,
          model.certificate.primal,
          model.certificate.dual,
        ]);
      expect(await found(2)).toEqual(await found(1));
      const [one] = await trainPath(tall.dataset, { ...options, threads: 1 });
      expect(isTogether(one)).toBe(true);
    }
  });

  test('equal, constant and empty columns, and labels far from 0', async () => {
    const rows = dense.rows.map((row) => [...row, row[0], 1, 0, row[1] - row[2]]);
    const labels = dense.labels.map((label) => label + 1e8);
    const dataset = datasetOf(rows, labels, rows[0].length);
    for (const penalty of [penalties.l1(), penalties.l2()]) {
      const path = await trainPath(dataset, { loss, penalty, intercept: true, count: 20 });
      expect(path.filter(isTogether).length).toBe(20);
      for (const { model } of path) {
        expect(model.certificate.relativeGap).toBeLessThanOrEqual(1e-3);
        expect(model.weights[11]).toBe(0);
      }
    }
  });

  test('what its certificate does not prove is left to the ordinary solver, from there', async () => {
    const options = { loss, penalty: penalties.l1(), count: 3, tolerance: 1e-15, epochs: 3 };
    const path = await trainPath(tall.dataset, options);
    expect(path.some((point) => !isTogether(point))).toBe(true);
    for (const { model } of path) expect(model.certificate.relativeGap).toBeLessThanOrEqual(1e-11);
  });

  test('a solver that is asked for, another loss or a wide table is not solved so', async () => {
    const wide = sampleFor(loss, { rows: 20, columns: 15 });
    const cases: [Sample, PathOptions][] = [
      [tall, { loss, solver: solvers.ring() }],
      [tall, { loss: losses.huber() }],
      [wide, { loss }],
    ];
    for (const [{ dataset }, options] of cases) {
      expect((await trainPath(dataset, { ...options, count: 2 })).some(isTogether)).toBe(false);
    }
  });

  const housing = realData('reg_cal_housing.svm.gz');
  test.skipIf(housing.missing)('columns in raw units: 100 λ in three passes', async () => {
    const dataset = await readDataset(housing.path);
    const options = { loss, penalty: penalties.l1(), intercept: true, count: 100 };
    const path = await trainPath(dataset, { ...options, tolerance: 1e-8, threads: 1 });
    expect(path.every(isTogether)).toBe(true);
    expect(passesOf(path)).toBeCloseTo(3, 9);
  });
});

/** x of Ax = b, by elimination with row pivots. */
function solved(a: number[][], b: number[]): number[] {
  const rows = a.map((row, i) => [...row, b[i]]);
  for (let k = 0; k < rows.length; k += 1) {
    const pivot = rows.reduce((best, row, i) => {
      return i >= k && Math.abs(row[k]) > Math.abs(rows[best][k]) ? i : best;
    }, k);
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let i = 0; i < rows.length; i += 1) {
      if (i === k) continue;
      const factor = rows[i][k] / rows[k][k];
      for (let n = k; n <= rows.length; n += 1) rows[i][n] -= factor * rows[k][n];
    }
  }
  return rows.map((row, k) => row[rows.length] / row[k]);
}

/** The weights, the intercept last, that solve the normal equations on the face of a model nearby. */
function onFaceOf(model: Model, { rows, labels }: Sample, c: readonly number[], own: PathOptions) {
  const { penalty = penalties.l2(), penaltyFactors, intercept } = own;
  const { low = -Infinity, high = Infinity } = penalty;
  const near = [...model.weights, ...(intercept ? [model.intercepts[0]] : [])];
  const x = rows.map((row) => [...row, ...(intercept ? [1] : [])]);
  const total = c.reduce((sum, one) => sum + one, 0);
  const product = (j: number, of: (i: number) => number) =>
    x.reduce((sum, row, i) => sum + c[i] * row[j] * of(i), 0) / total;
  const isOpen = (w: number) => Math.abs(w) > 1e-7 && w > low + 1e-7 && w < high - 1e-7;
  const isIntercept = (j: number) => j === rows[0].length;
  const face = near.flatMap((w, j) => (isIntercept(j) || isOpen(w) ? [j] : []));
  const found = near.map((w) => (w <= low + 1e-7 ? low : w >= high - 1e-7 ? high : 0));
  for (const j of face) found[j] = 0;
  const strength = (j: number) =>
    isIntercept(j) ? 0 : model.lambda * (penaltyFactors ? penaltyFactors[j] : 1);
  const a = face.map((j) =>
    face.map((k) => product(j, (i) => x[i][k]) + (j === k ? strength(j) * penalty.l2 : 0)),
  );
  const fixed = x.map((row) => row.reduce((sum, value, j) => sum + value * found[j], 0));
  const b = face.map((j) => {
    return product(j, (i) => labels[i] - fixed[i]) - strength(j) * penalty.l1 * Math.sign(near[j]);
  });
  for (const [n, value] of solved(a, b).entries()) found[face[n]] = value;
  return x.map((row) => row.reduce((sum, value, j) => sum + value * found[j], 0));
}

describe('cross-validation of the square loss on a tall table', () => {
  const common: ValidateOptions = { loss, folds: 4, threads: 1 };

  test.each(Object.entries(problems))(
    '%s: the errors are those of the exact solutions',
    async (_, own) => {
      const folds = assignFolds(tall.rows.length, undefined, 4, 1);
      for (const base of [tall.labels.map(() => 1), weights]) {
        const lambdas = [0.3, 0.01];
        const found = await crossValidate(weighted(tall, base), { ...common, ...own, lambdas });
        expect(passesOf(found.lambdas)).toBeCloseTo(3, 9);
        for (const [k, lambda] of lambdas.entries()) {
          const fold = k + 1;
          const c = base.map((one, row) => (folds[row] === fold ? 0 : one));
          const options = { ...own, loss, lambda, tolerance: 1e-9, epochs: 3000, threads: 1 };
          const { model } = await train(weighted(tall, c), options);
          const scores = onFaceOf(model, tall, c, own);
          let [errors, total] = [0, 0];
          for (const [row, score] of scores.entries()) {
            if (folds[row] !== fold) continue;
            errors += base[row] * (score - tall.labels[row]) ** 2;
            total += base[row];
          }
          const value = found.lambdas[k].folds[fold];
          expect(Math.abs(value - errors / total)).toBeLessThanOrEqual(1e-9 * value);
        }
      }
    },
  );

  test('three passes, however many folds and λ; the same on any number of threads', async () => {
    for (const folds of [2, 10]) {
      for (const count of [5, 40]) {
        const options = { loss, penalty: penalties.l1(), intercept: true, folds, count };
        const found = await crossValidate(dense.dataset, { ...options, threads: 1 });
        expect(passesOf(found.lambdas)).toBeCloseTo(3, 9);
        expect(await crossValidate(dense.dataset, { ...options, threads: 2 })).toEqual(found);
      }
    }
  });

  test('labels far from 0: errors are those of the labels themselves', async () => {
    const random = stream(3, 3);
    const labels = dense.labels.map((label) => label + 5e6 + random.uniform());
    const dataset = datasetOf(dense.rows, labels);
    const options = { ...common, intercept: true, lambdas: [0.1], tolerance: 1e-6 };
    const [found] = (await crossValidate(dataset, options)).lambdas;
    const [other] = (await crossValidate(dataset, { ...options, solver: solvers.lbfgs() })).lambdas;
    expect(found.passes).toBeCloseTo(3, 9);
    expect(found.mean).toBeCloseTo(other.mean, 2);
  });

  test('a search uses it for every penalty', async () => {
    const { ranking } = await search(tall.dataset, {
      losses: [loss],
      penalties: [penalties.l1(), penalties.l2()],
      folds: 3,
      count: 6,
      threads: 1,
    });
    for (const { validation } of ranking) expect(passesOf(validation.lambdas)).toBeCloseTo(3, 9);
  });
});
