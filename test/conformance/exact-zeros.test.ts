/** Weights that should be 0 are 0: the support is that of an independent solver. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import { readDataset } from '../../src/train/read.ts';
import { train } from '../../src/train/train.ts';
import { referenceOptimum } from '../reference/reference.ts';
import { datasetOf, sampleFor } from '../support/data.ts';
import { realData } from '../support/real-data.ts';

const smooth = [
  losses.logistic(),
  losses.squaredHinge(),
  losses.smoothedHinge({ smoothing: 0.5 }),
  losses.square(),
  losses.huber({ delta: 0.7 }),
  losses.squaredAbsolute({ epsilon: 0.1 }),
  losses.poisson(),
];
const penalty = penalties.l1();
const solver = solvers.workingSet();
const supportOf = (weights: Iterable<number>, least = 0) =>
  [...weights].flatMap((w, j) => (Math.abs(w) > least ? [j] : []));
/** Below it a weight of the reference stands for 0, above ten times as much for itself. */
const negligible = 1e-6;

describe.each(smooth)('$name', (loss) => {
  test.each([
    { lambda: 0.1, intercept: false, grid: 1 },
    { lambda: 0.03, intercept: false, grid: 3 },
    { lambda: 0.03, intercept: true, grid: 1 },
    { lambda: 0.01, intercept: false, grid: 1 },
  ])('λ = $lambda, intercept $intercept, grid $grid', async ({ lambda, intercept, grid }) => {
    let compared = 0;
    for (const seed of [1, 2, 3]) {
      const { rows, labels, dataset } = sampleFor(loss, { seed, rows: 50, columns: 20 });
      const { weights } = referenceOptimum({ rows, labels, loss, penalty, lambda, intercept });
      const isClear = weights.every((w) => !(Math.abs(w) > negligible / 10 && Math.abs(w) < 1e-4));
      if (!isClear) continue;
      compared++;
      const options = { loss, penalty, lambda, intercept, grid, solver, tolerance: 1e-6 };
      const { model, report } = await train(dataset, { ...options, threads: 1 });
      expect(report.stopped).toBe('converged');
      expect(supportOf(model.weights), `seed ${seed}`).toEqual(supportOf(weights, negligible));
    }
    expect(compared).toBeGreaterThan(0);
  });
});

test('equal columns count as one', async () => {
  const loss = losses.logistic();
  const { rows, labels } = sampleFor(loss, { rows: 50, columns: 12 });
  const twice = datasetOf(
    rows.map((row) => [...row, ...row]),
    labels,
  );
  const { weights } = referenceOptimum({ rows, labels, loss, penalty, lambda: 0.03 });
  const options = { loss, penalty, lambda: 0.03, solver, tolerance: 1e-6, threads: 1 };
  const { model } = await train(twice, options);
  const sums = weights.map((_, j) => model.weights[j] + model.weights[j + weights.length]);
  expect(supportOf(sums)).toEqual(supportOf(weights, negligible));
  sums.forEach((w, j) => {
    expect(w).toBeCloseTo(weights[j], 2);
  });
});

// LIBLINEAR 2.4.7 -s 5 -e 1e-8 -c 10 finds as many.
const { path, missing } = realData('rcv1_small.svm.gz');
test.skipIf(missing)('330 words of rcv1_small have a weight', async () => {
  const dataset = await readDataset(path, {});
  const options = { loss: losses.logistic(), penalty, lambda: 1e-4, solver, threads: 1 };
  const { model, report } = await train(dataset, { ...options, tolerance: 1e-6 });
  expect(report.relativeGap).toBeLessThanOrEqual(1e-6);
  expect(supportOf(model.weights)).toHaveLength(330);
  expect(model.weights.some((w) => w !== 0 && Math.abs(w) < 1e-30)).toBe(false);
});
