import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { stream } from '../../../../src/math/random.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import type { TrainOptions } from '../../../../src/train/options/options.ts';
import { lambdasBetween, largestLambda } from '../../../../src/train/select/lambdas.ts';
import { trainPath } from '../../../../src/train/select/path.ts';
import { train } from '../../../../src/train/train.ts';
import { sampleFor } from '../../../support/data.ts';

describe('lambdasBetween', () => {
  test('equal factors apart, both ends exact', () => {
    const path = lambdasBetween(0.3, 0.0003, 7);
    expect(path).toHaveLength(7);
    expect([path[0], path[6]]).toEqual([0.3, 0.0003]);
    for (let k = 1; k < 7; k += 1) expect(path[k - 1] / path[k]).toBeCloseTo(10 ** 0.5, 12);
  });

  test('one value is the first, two are both ends', () => {
    expect(lambdasBetween(2, 1, 1)).toEqual([2]);
    expect(lambdasBetween(2, 1, 2)).toEqual([2, 1]);
  });
});

/** The sample with weights of rows: some 0, others up to 4. */
function weighted({ rows, labels }: ReturnType<typeof sampleFor>): Dataset {
  const random = stream(3, 1);
  const sparse = rows.map((row) => {
    const indices = [...row.keys()].filter((j) => row[j] !== 0);
    return { indices, values: indices.map((j) => row[j]) };
  });
  const weights = labels.map(() => random.below(5));
  return datasetFromRows({ rows: sparse, labels, columns: rows[0].length, weights });
}

const largestOf = (weights: Float64Array) => Math.max(...weights.map(Math.abs));

const smooth: Record<string, Loss> = {
  square: losses.square(),
  logistic: losses.logistic(),
  'squared-hinge': losses.squaredHinge(),
  huber: losses.huber({ delta: 0.5 }),
  poisson: losses.poisson(),
};

const settings: Record<string, TrainOptions> = {
  plain: {},
  'with an intercept': { intercept: true },
  'elastic net': { penalty: penalties.elasticNet({ l1Ratio: 0.3 }) },
  'weights of at least 0': { penalty: penalties.nonNegative(penalties.l1()) },
  'penalty factors': {
    penaltyFactors: Float64Array.from({ length: 10 }, (_, j) => 0.5 + (j % 3)),
  },
};

describe('the largest λ', () => {
  const cases = Object.keys(smooth).flatMap((name) =>
    Object.keys(settings).flatMap((setting) =>
      [false, true].map((hasWeights) => [name, setting, hasWeights] as const),
    ),
  );

  test.each(cases)(
    '%s, %s, row weights %s: all weights are 0 there, and no longer below',
    async (name, setting, hasWeights) => {
      const found = sampleFor(smooth[name]);
      const dataset = hasWeights ? weighted(found) : found.dataset;
      const options = { penalty: penalties.l1(), loss: smooth[name], ...settings[setting] };
      const [{ lambda, nonzero }] = await trainPath(dataset, { ...options, count: 1 });
      expect(nonzero).toBe(0);
      const exact = { ...options, tolerance: 1e-9, threads: 1 };
      const above = await train(dataset, { ...exact, lambda: lambda * 1.001 });
      // The steps that keep a weight at 0 may round, as the intercept is on its way.
      expect(largestOf(above.model.weights)).toBeLessThan(1e-9);
      expect(above.model.certificate.stopped).toBe('converged');
      const below = await train(dataset, { ...exact, lambda: lambda * 0.99 });
      expect(largestOf(below.model.weights)).toBeGreaterThan(1e-5);
    },
  );

  test('of several classes it is that of the class that needs most', async () => {
    const random = stream(5, 2);
    const rows = Array.from({ length: 90 }, () => ({
      indices: [0, 1, 2, 3],
      values: [0, 1, 2, 3].map(() => random.normal()),
    }));
    const labels = rows.map(({ values }) => (values[0] > 0.5 ? 'a' : values[1] > 0 ? 'b' : 'c'));
    const codes = labels.map((label) => 'abc'.indexOf(label));
    const options = { loss: losses.logistic(), penalty: penalties.l1(), intercept: true };
    const data = (own: readonly number[]) => datasetFromRows({ rows, labels: own, columns: 4 });
    const [all] = await trainPath(data(codes), { ...options, count: 1 });
    const single = await Promise.all(
      [0, 1, 2].map(async (code) => {
        const own = data(codes.map((one) => (one === code ? 1 : -1)));
        return (await trainPath(own, { ...options, count: 1 }))[0].lambda;
      }),
    );
    expect(all.lambda).toBe(Math.max(...single));
  });

  test('the hinge has its exactly where the rows are off the kink', async () => {
    const { dataset } = sampleFor(losses.hinge());
    const options = { penalty: penalties.l1(), tolerance: 1e-9, threads: 1 };
    const [{ lambda }] = await trainPath(dataset, { ...options, count: 1 });
    const at = async (factor: number) =>
      (await train(dataset, { ...options, lambda: factor * lambda })).model.weights;
    expect((await at(1.0001)).every((weight) => weight === 0)).toBe(true);
    expect((await at(0.95)).some((weight) => weight !== 0)).toBe(true);
  });

  test('L2 has none; its path begins where slopes at 0 allow weights of 1', () => {
    const dataset = datasetFromRows({
      rows: [
        { indices: [0], values: [2] },
        { indices: [1], values: [1] },
      ],
      labels: [1, -1],
      columns: 2,
    });
    const problem = {
      dataset,
      targets: Float64Array.of(1, -1),
      weights: undefined,
      loss: losses.hinge(),
      intercept: false,
      factors: undefined,
    };
    expect(largestLambda(problem, penalties.l2())).toBe(1);
    expect(largestLambda(problem, penalties.elasticNet({ l1Ratio: 0.5 }))).toBe(2);
  });
});

describe('the λs of a path', () => {
  const { dataset } = sampleFor(losses.logistic());
  const common = { loss: losses.logistic(), epochs: 2, threads: 1 } as const;
  const lambdasOf = async (options: Parameters<typeof trainPath>[1]) =>
    (await trainPath(dataset, { ...common, ...options })).map(({ lambda }) => lambda);

  test('given ones come from the largest to the smallest, each once', async () => {
    expect(await lambdasOf({ lambdas: [0.01, 1, 0.01, 0.1] })).toEqual([1, 0.1, 0.01]);
  });

  test('by default 30, over three decades with L1 and five without', async () => {
    const l1 = await lambdasOf({ penalty: penalties.l1() });
    expect(l1).toHaveLength(30);
    expect(l1[29] / l1[0]).toBeCloseTo(1e-3, 12);
    const l2 = await lambdasOf({ count: 3 });
    expect(l2[2] / l2[0]).toBeCloseTo(1e-5, 12);
    const own = await lambdasOf({ count: 3, ratio: 0.25 });
    expect(own[1] / own[0]).toBeCloseTo(0.5, 12);
  });

  test('data that says nothing has a path all the same', async () => {
    const empty = datasetFromRows({
      rows: [0, 1].map(() => ({ indices: [], values: [] })),
      labels: [1, -1],
      columns: 3,
    });
    const points = await trainPath(empty, { ...common, count: 2, ratio: 0.5 });
    expect(points.map(({ lambda, nonzero }) => [lambda, nonzero])).toEqual([
      [1, 0],
      [0.5, 0],
    ]);
  });

  test.each([
    [{ lambdas: [] }, 'no value of lambda'],
    [{ lambdas: [1, -2] }, 'lambda is -2; it must be a number above 0'],
    [{ lambdas: [Number.NaN] }, 'lambda is NaN'],
    [{ lambdas: [1], count: 3 }, 'count and ratio would be ignored'],
    [{ count: 0 }, 'count is 0; it must be a whole number'],
    [{ count: 2.5 }, 'count is 2.5'],
    [{ ratio: 1 }, 'ratio is 1; it must be a number above 0 and below 1'],
    [{ ratio: -1 }, 'ratio is -1'],
  ])('%o is refused', async (options, message) => {
    await expect(lambdasOf(options)).rejects.toThrow(message);
  });
});
