/** Certificates where double precision matters: far labels, tiny penalties, optima of 0. */
import { describe, expect, test } from 'vitest';
import { stream } from '../../src/math/random.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { datasetOf } from '../support/data.ts';

const random = stream(5, 0);
const features = Array.from({ length: 200 }, () =>
  [random.normal(), random.normal()].map(Math.fround),
);
const noise = features.map(() => 0.1 * random.normal());
/** y = offset + a + 2b + noise */
const labelsAt = (offset: number) =>
  features.map(([a, b], row) => offset + (a + 2 * b + noise[row]));

async function certified(labels: readonly number[], options: TrainOptions, rows = features) {
  const common: TrainOptions = { lambda: 0.01, tolerance: 1e-3, epochs: 5000 };
  const result = await train(datasetOf(rows, labels), { ...common, ...options });
  const { primal, dual, relativeGap } = result.report;
  expect(dual).toBeLessThanOrEqual(primal);
  expect(relativeGap).toBe(primal === dual ? 0 : (primal - dual) / Math.abs(primal));
  return result;
}

const flat = { l1: penalties.l1(), l2: penalties.l2(), 'elastic-net': penalties.elasticNet() };

describe.each(Object.entries(flat))('labels far from 0, an intercept, %s', (_, penalty) => {
  test.each([1e6, 1e8, 1e9, 1e12])('offset %d', async (offset) => {
    const options = { loss: losses.square(), intercept: true, penalty };
    const near = await certified(labelsAt(0), { ...options, tolerance: 1e-9 });
    const far = await certified(labelsAt(offset), options);
    expect(far.report.stopped).toBe('converged');
    // Labels near 1e12 are rounded to 1e-4, which moves the optimum a little.
    const moved = offset * 2 ** -52 * 4;
    expect(far.report.dual).toBeLessThanOrEqual(near.report.primal + moved);
    expect(far.report.primal).toBeGreaterThanOrEqual(near.report.dual - moved);
    expect(far.report.primal).toBeLessThanOrEqual(near.report.primal * 1.002 + moved);
    expect(far.model.intercepts[0] / offset).toBeCloseTo(1, 4);
  });
});

test('labels far from 0 without an intercept: no bound above the optimum', async () => {
  const options = { loss: losses.square(), penalty: penalties.l1(), lambda: 1e-6, epochs: 300 };
  const runs = await Promise.all(
    ['rows', 'columns'].map((mode) =>
      certified(labelsAt(1e8), {
        ...options,
        tolerance: 1e-12,
        solver: solvers.ring({ mode: mode as 'rows' }),
      }),
    ),
  );
  const least = Math.min(...runs.map(({ report }) => report.primal));
  for (const { report } of runs) expect(report.dual).toBeLessThanOrEqual(least);
});

test('quantile, labels near 1e15: solved as well as rounded labels allow', async () => {
  const { report } = await certified(labelsAt(1e15), {
    loss: losses.quantile({ quantile: 0.3 }),
    intercept: true,
  });
  expect(['converged', 'precision']).toContain(report.stopped);
  expect(report.primal).toBeLessThan(3);
});

test.each([1e6, 1e9, 1e12])('poisson, counts near %d', async (count) => {
  const counts = features.map(([a], row) => Math.round(count * (1 + 0.1 * a + 0.01 * noise[row])));
  const options = { loss: losses.poisson(), intercept: true, penalty: penalties.l2() };
  const one = await certified(counts, options);
  const other = await certified(counts, { ...options, solver: solvers.ring({ mode: 'columns' }) });
  expect(one.report.dual).toBeLessThanOrEqual(other.report.primal);
  expect(other.report.dual).toBeLessThanOrEqual(one.report.primal);
});

test.each(Object.entries(flat))('a penalty of 1e-300, %s', async (_, penalty) => {
  const { report } = await certified(labelsAt(0), {
    loss: losses.square(),
    penalty,
    lambda: 1e-300,
    epochs: 200,
  });
  // The least squares of these labels: the noise alone.
  expect(report.dual).toBeLessThanOrEqual(0.0051);
});

test.each([penalties.l2(), penalties.elasticNet()])(
  'a penalty that is no normal number proves nothing, $name',
  async (penalty) => {
    const counts = features.map(([a]) => Math.round(4 + a));
    const options = { loss: losses.poisson(), penalty, intercept: true, solver: solvers.dso() };
    const { report } = await certified(counts, { ...options, lambda: 6e-311, epochs: 20 });
    const better = await certified(counts, { ...options, lambda: 1e-12, solver: solvers.auto() });
    expect(report.dual).toBeLessThanOrEqual(better.report.primal);
  },
);

test('an objective below the least normal number: what underflow loses is allowed for', async () => {
  const rows = [
    [-508, 307, 871_835],
    [-76, -59, 362_502],
    [205, 183, -983_601],
  ];
  const { report } = await certified(
    [1, 1, -1],
    {
      loss: losses.hinge(),
      intercept: true,
      lambda: 1e-300,
      solver: solvers.admm(),
      epochs: 20,
    },
    rows,
  );
  expect(report.primal).toBeGreaterThan(0);
  expect(report.primal).toBeLessThan(1e-305);
  expect(report.primal - report.dual).toBeGreaterThanOrEqual(1e-305);
});

test.each([losses.hinge(), losses.squaredHinge(), losses.logistic()])(
  'one class that counts and an intercept: the optimum of 0 is recognised, $name',
  async (loss) => {
    const { report } = await certified(
      features.map(([a]) => (a > 9 ? -1 : 1)).map((y, row) => (row === 0 ? -y : y)),
      { loss, intercept: true, classWeights: { '-1': 0 }, tolerance: 1e-3 },
    );
    expect(report.primal).toBeLessThan(1e-12);
    expect(report.stopped).toBe(report.primal === 0 ? 'converged' : 'precision');
  },
);

/** A column of ones instead of an intercept: labels are not centred. */
describe('labels far from 0 without an intercept', () => {
  const ones = features.map(() => [1]);
  const labels = ones.map((_, row) => 1e8 + noise[row]);
  const mean = noise.reduce((sum, x) => sum + x, 0) / noise.length;
  const best = noise.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 2 / noise.length;

  test.each([
    ['auto', solvers.auto()],
    ['ring rows', solvers.ring({ mode: 'rows' })],
  ])('%s goes on while P falls, however small it is beside P(0)', async (_, solver) => {
    const options = { loss: losses.square(), penalty: penalties.l1(), lambda: 1e-14, solver };
    const { report } = await certified(labels, options, ones);
    expect(report.primal - best).toBeLessThan(1e-2 * best);
    expect(report.dual).toBeLessThan(best * 1.01);
  });

  test.each([
    [losses.square(), penalties.l2()],
    [losses.squaredAbsolute(), penalties.elasticNet()],
  ])('a penalty that is beyond double precision: the run ends', async (loss, penalty) => {
    const { report } = await certified(labels, { loss, penalty, lambda: 1e-300 }, ones);
    expect(report.stopped).toBe('precision');
  });

  test('rounding that changes P for ever is no progress', async () => {
    const options: TrainOptions = { loss: losses.absolute(), penalty: penalties.l1() };
    const { report } = await certified(labelsAt(1e15), { ...options, intercept: true });
    expect(report.stopped).toBe('precision');
  });
});

describe('a table in raw units, with an intercept and a tiny L1', () => {
  const drawn = stream(9, 0);
  const houses = Array.from({ length: 2000 }, () => {
    const people = 10 ** (2 + 2.5 * drawn.uniform());
    const latitude = 33 + 9 * drawn.uniform();
    return [
      1 + 9 * drawn.uniform(),
      people,
      people * (0.3 + 0.2 * drawn.uniform()),
      people * (1.5 + drawn.uniform()),
      latitude,
      -80 - latitude - drawn.uniform(),
    ].map(Math.fround);
  });
  const prices = houses.map(([income, people, homes, , latitude]) =>
    Math.round(
      4e4 * income + 30 * homes - 5 * people - 4e4 * latitude + 6e4 * drawn.normal() + 2e6,
    ),
  );
  const common: TrainOptions = {
    loss: losses.square(),
    penalty: penalties.l1(),
    lambda: 1e-6,
    intercept: true,
    tolerance: 1e-6,
  };

  test('auto reaches its certificate', async () => {
    const { report } = await certified(prices, common, houses);
    expect(report.stopped).toBe('converged');
  });

  test('at an epoch limit the certificate is no worse than the gap that was shown', async () => {
    let shown = Infinity;
    const { report } = await certified(
      prices,
      {
        ...common,
        tolerance: 1e-12,
        epochs: 20,
        solver: solvers.workingSet(),
        onEpoch: ({ epoch, relativeGap }) => {
          if (epoch < 20) shown = relativeGap;
        },
      },
      houses,
    );
    expect(report.stopped).toBe('epoch-limit');
    expect(shown).toBeLessThan(1e-3);
    expect(report.relativeGap).toBeLessThan(10 * shown);
  });
});
