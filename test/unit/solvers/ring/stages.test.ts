import { describe, expect, test } from 'vitest';
import {
  localPartition,
  type NonzeroCounts,
  placeRowsAndColumns,
} from '../../../../src/engine/partition.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { stagedGrid, usesStages } from '../../../../src/solvers/ring/stage-rules.ts';
import { expectedCrowd } from '../../../../src/solvers/ring/stages.ts';
import type { TrainOptions } from '../../../../src/train/options/options.ts';
import { train } from '../../../../src/train/train.ts';
import { zipfDataset } from '../../../support/data.ts';

describe('stagedGrid', () => {
  test.each([
    ['little data', { rows: 1e4, columns: 1e4, nonzeros: 1.9e6 }, 1],
    ['two million non-zeros', { rows: 5e4, columns: 3.6e4, nonzeros: 2.1e6 }, 2],
    ['ten million', { rows: 5e5, columns: 2e4, nonzeros: 1e7 }, 2],
    ['fifty million', { rows: 1e6, columns: 2e4, nonzeros: 5e7 }, 4],
    ['a power of two', { rows: 5e5, columns: 1.5e6, nonzeros: 5e7 }, 2],
    ['copies that would cost too much', { rows: 1e6, columns: 1e6, nonzeros: 1.9e7 }, 1],
    ['much data', { rows: 1e7, columns: 1e6, nonzeros: 1e9 }, 8],
    ['tall data', { rows: 1e7, columns: 99_999, nonzeros: 1e9 }, 1],
    ['no columns', { rows: 5, columns: 0, nonzeros: 0 }, 1],
  ])('%s', (_, shape, grid) => expect(stagedGrid(shape)).toBe(grid));
});

test('workers go by stages unless data is tall or the copies are many', () => {
  const counts = (rows: number, columns: number) => ({
    rows: new Int32Array(rows).fill(1),
    columns: new Int32Array(columns).fill(1),
  });
  const partitionOf = (of: NonzeroCounts, size: number) =>
    localPartition(placeRowsAndColumns(of, size, 1), of, 0, size);
  const common = partitionOf(counts(500, 50), 4);
  expect(usesStages(true, common)).toBe(true);
  expect(usesStages(undefined, common)).toBe(false);
  expect(usesStages(true, partitionOf(counts(500, 50), 1))).toBe(false);
  expect(usesStages(true, partitionOf(counts(500, 4), 4))).toBe(false);
  expect(usesStages(true, partitionOf(counts(10, 250_001), 4))).toBe(false);
});

describe('expectedCrowd', () => {
  test('all others move a column that every row has', () => {
    expect(expectedCrowd(1e6, 4)).toBeCloseTo(3, 6);
  });

  test('is the same for all columns that wait', () => {
    expect(expectedCrowd(1, 4)).toBe(expectedCrowd(32, 4));
    expect(expectedCrowd(1, 4)).toBeGreaterThan(0);
    expect(expectedCrowd(1, 4)).toBeLessThan(3);
  });
});

/** Columns of every frequency, so that some are brought together after each number of stages. */
const dataset = zipfDataset({ rows: 1500, columns: 300, perRow: 20 });
const common: TrainOptions = { lambda: 1e-3, grid: 4, threads: 1, epochs: 300 };
const rows = solvers.ring({ mode: 'rows' });

describe.each(['hinge', 'squaredHinge', 'logistic'] as const)('%s', (name) => {
  test('reaches the optimum of one worker', async () => {
    const options = { ...common, loss: losses[name](), solver: rows, tolerance: 1e-6 };
    const { report } = await train(dataset, options);
    const alone = await train(dataset, { ...options, grid: 1 });
    expect(report.stopped).toBe('converged');
    expect(report.rotations).toBeUndefined();
    expect(report.primal).toBeGreaterThanOrEqual(alone.report.dual);
    expect(alone.report.primal).toBeGreaterThanOrEqual(report.dual);
    expect(report.passes).toBeLessThan(3 * alone.report.passes);
  });
});

test('the dual objective never falls', async () => {
  const duals: number[] = [];
  await train(dataset, {
    ...common,
    solver: rows,
    tolerance: 1e-6,
    onEpoch: ({ latest, dual }) => duals.push(latest?.dual ?? dual),
  });
  for (let k = 1; k < duals.length; k++) {
    if (Number.isFinite(duals[k - 1]))
      expect(duals[k]).toBeGreaterThanOrEqual(duals[k - 1] - 1e-12);
  }
});

test('rotations, an intercept or an L1 part go round the ring', async () => {
  const cases: TrainOptions[] = [
    { solver: solvers.ring({ mode: 'rows', rotations: 40 }) },
    { solver: rows, intercept: true },
    { solver: rows, penalty: penalties.elasticNet() },
  ];
  for (const one of cases) {
    const { report } = await train(dataset, { ...common, ...one, epochs: 3, tolerance: 1e-12 });
    expect(report.rotations).toBeGreaterThan(0);
  }
});
