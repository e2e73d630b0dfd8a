/**
 * A text of 50,000 rows whose optima are known to nine digits. The file is not part of the
 * repository: the folder with it is DSO_DATA, by default ../shared/data next to the checkout.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/data/dataset.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import { readDataset } from '../../src/train/read.ts';
import { train } from '../../src/train/train.ts';
import { realData } from '../support/real-data.ts';
import { trainCertified } from './certified.ts';

const { path: file, missing } = realData('debdesc.svm.gz');

let reading: Promise<Dataset> | undefined;
/** Read once, by the first test that needs it. */
function debdesc(): Promise<Dataset> {
  reading ??= readDataset(file, { threads: 2 });
  return reading;
}

beforeEach(({ skip }) => skip(missing !== false, missing || ''));

const problems = [
  { name: 'hinge', loss: losses.hinge(), lambda: 1e-4, optimum: 0.311330943 },
  { name: 'hinge', loss: losses.hinge(), lambda: 1e-5, optimum: 0.14731316 },
  { name: 'logistic', loss: losses.logistic(), lambda: 1e-5, optimum: 0.234550785 },
];

describe.each(problems)('$name, λ = $lambda', ({ loss, lambda, optimum }) => {
  test.each([
    { title: 'by default', options: {}, tolerance: 1e-3 },
    { title: 'on request', options: { tolerance: 1e-6 }, tolerance: 1e-6 },
  ])('reaches $tolerance $title', async ({ options, tolerance }) => {
    const dataset = await debdesc();
    const { report } = await train(dataset, { loss, lambda, threads: 1, ...options });
    expect(report.stopped).toBe('converged');
    expect(report.relativeGap).toBeLessThanOrEqual(tolerance);
    // The known optima are rounded to nine digits.
    expect(report.primal).toBeGreaterThan(optimum - 1e-9);
    expect(report.dual).toBeLessThan(optimum + 1e-9);
    expect((report.primal - optimum) / optimum).toBeLessThanOrEqual(tolerance);
  });
});

/** Passes to a relative gap of 1e-2, 1e-3 and 1e-4 that the ring solver was designed for. */
const budgets = [
  { problem: problems[1], grid: 8, rotations: 64, passes: [14, 20, 33] },
  { problem: problems[1], grid: 1, rotations: undefined, passes: [10, 18, 29] },
  { problem: problems[0], grid: 8, rotations: 64, passes: [5, 7, 9] },
  { problem: problems[2], grid: 8, rotations: 64, passes: [8, 14, 18] },
];

test.each(budgets)(
  '$problem.name, λ = $problem.lambda, grid $grid: no more than 1.25 × the passes $passes',
  async ({ problem, grid, rotations, passes }) => {
    const { loss, lambda } = problem;
    const settings = { mode: loss.smooth ? 'columns' : 'rows', ...(rotations && { rotations }) };
    const solver = solvers.ring(settings as Parameters<typeof solvers.ring>[0]);
    const dataset = await debdesc();
    for (const [k, tolerance] of [1e-2, 1e-3, 1e-4].entries()) {
      const options = { loss, lambda, grid, solver, tolerance, threads: 1 };
      const { report } = await train(dataset, options);
      expect(report.passes, `to ${tolerance}`).toBeLessThanOrEqual(1.25 * passes[k]);
    }
  },
);

test('the paper’s solver comes within 2 % with 8 workers', async () => {
  const { loss, lambda, optimum } = problems[0];
  await trainCertified(await debdesc(), optimum, {
    loss,
    lambda,
    grid: 8,
    threads: 1,
    solver: solvers.dso(),
    tolerance: 2e-2,
    epochs: 60,
  });
});
