/** Runs that cannot reach their certificate end, and tell what was measured. */
import { describe, expect, test } from 'vitest';
import { stream } from '../../src/math/random.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { adviseOnProgress } from '../../src/reporting/text/summary.ts';
import { solvers } from '../../src/solvers/index.ts';
import { ProgressWatch } from '../../src/solvers/progress-watch.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { datasetOf } from '../support/data.ts';

const random = stream(3, 0);
const rows = Array.from({ length: 200 }, () =>
  Array.from({ length: 5 }, () => Math.fround(random.normal())),
);
const noise = rows.map(() => random.normal());

describe('separable classes and a penalty that is next to nothing', () => {
  const labels = rows.map(([a, b]) => (a + 2 * b > 0 ? 1 : -1));
  const options: TrainOptions = {
    loss: losses.logistic(),
    penalty: penalties.l1(),
    lambda: 1e-10,
    threads: 1,
  };

  test('the run ends long before its last epoch and names --lambda', async () => {
    const solver = solvers.ring({ mode: 'columns' });
    const { report } = await train(datasetOf(rows, labels), { ...options, solver });
    expect(report.stopped).toBe('no-progress');
    expect(report.epochs).toBeLessThan(5000);
    expect(report.hindrance?.objectiveShare).toBeLessThan(1e-6);
    expect(adviseOnProgress(report)).toMatch(/a larger --lambda or --solver interior-point would/);
  });

  test.each([
    ['a larger --lambda', { lambda: 1e-4 }],
    ['--solver interior-point', { solver: solvers.interiorPoint() }],
  ])('%s helps', async (_, change) => {
    const { report } = await train(datasetOf(rows, labels), { ...options, ...change });
    expect(report.stopped).toBe('converged');
    expect(report).not.toHaveProperty('hindrance');
    expect(adviseOnProgress(report)).toBe(undefined);
  });
});

describe('features in very different units', () => {
  const raw = rows.map(([a, b, ...rest]) => [1e4 * a, 1e-2 * b, ...rest].map(Math.fround));
  const labels = rows.map(([a, b], row) => 3 * a + b + 0.1 * noise[row]);
  const options: TrainOptions = {
    loss: losses.absolute(),
    penalty: penalties.l1(),
    lambda: 1e-4,
    intercept: true,
    threads: 1,
    solver: solvers.ring({ mode: 'rows' }),
  };

  test('the run ends and names --scale', async () => {
    const { report } = await train(datasetOf(raw, labels), options);
    expect(report.stopped).toBe('no-progress');
    expect(report.hindrance?.scaleRatio).toBeGreaterThan(1e5);
    expect(adviseOnProgress(report)).toMatch(
      /; --scale std or --solver interior-point would help$/,
    );
  });

  test('but not where it is on, or cannot be', async () => {
    const { report } = await train(datasetOf(raw, labels), options);
    const hindrance = { ...report.hindrance!, mayScale: false };
    expect(adviseOnProgress({ ...report, hindrance })).toMatch(/; --solver interior-point would/);
    expect(report.hindrance?.mayScale).toBe(true);
    const penalty = penalties.bounded(penalties.l1(), { low: -5 });
    const bounded = await train(datasetOf(raw, labels), { ...options, penalty });
    expect(bounded.report.hindrance?.mayScale).toBe(false);
  });

  test('--scale std helps', async () => {
    const { report } = await train(datasetOf(raw, labels), { ...options, scale: 'std' });
    expect(report.stopped).toBe('converged');
  });
});

describe('progress', () => {
  const stuckAt = (gapAt: (epoch: number) => number) => {
    const watch = new ProgressWatch();
    for (let epoch = 1; epoch < 10_000; epoch++) {
      watch.note(epoch, { primal: 1 + gapAt(epoch), dual: 1 });
      if (watch.isStuck(epoch)) return epoch;
    }
    return undefined;
  };

  test.each([
    ['geometric', (epoch: number) => 0.999 ** epoch],
    ['1/√t', (epoch: number) => 1 / Math.sqrt(epoch)],
    [
      'a pause from 500 to 1900, then more',
      (epoch: number) => 1 / (epoch < 500 || epoch > 1900 ? epoch : 500) ** 0.1,
    ],
  ])('%s: goes on', (_, gapAt) => {
    expect(stuckAt(gapAt)).toBe(undefined);
  });

  test.each([
    ['constant', () => 0.5, 2000],
    ['constant from epoch 1000 on', (epoch: number) => 1000 / Math.min(epoch, 1000), 4000],
    ['constant and small from epoch 200 on', (epoch: number) => 1 / Math.min(epoch, 200), 3200],
    ['too slow for any limit', (epoch: number) => 1 - 1e-6 * epoch, 2000],
  ] as const)('%s: ends', (_, gapAt, least) => {
    const epoch = stuckAt(gapAt);
    expect(epoch).toBeGreaterThanOrEqual(0.95 * least);
    expect(epoch).toBeLessThanOrEqual(least);
  });

  test('without any bound P tells', () => {
    const watch = new ProgressWatch();
    for (let epoch = 1; epoch <= 1000; epoch++)
      watch.note(epoch, { primal: 1 / epoch, dual: -Infinity });
    expect(watch.isStuck(3000)).toBe(false);
    for (let epoch = 1001; epoch <= 8000; epoch++)
      watch.note(epoch, { primal: 0.99e-3, dual: -Infinity });
    expect(watch.isStuck(8000)).toBe(true);
  });
});
