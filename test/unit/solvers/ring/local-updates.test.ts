import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/errors.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { tracksLocalUpdates } from '../../../../src/solvers/ring/damping.ts';
import { expectedOverlap } from '../../../../src/solvers/ring/local-updates.ts';
import { checkOutOfCore } from '../../../../src/train/disk-layout.ts';
import { train } from '../../../../src/train/train.ts';
import { zipfDataset } from '../../../support/data.ts';

test('only few rotations that were given, on more than one worker, are few', () => {
  expect(tracksLocalUpdates(undefined, 4)).toBe(false);
  expect(tracksLocalUpdates(1, 1)).toBe(false);
  expect(tracksLocalUpdates(1, 4)).toBe(true);
  expect(tracksLocalUpdates(16, 4)).toBe(true);
  expect(tracksLocalUpdates(17, 4)).toBe(false);
});

describe('expectedCrowd', () => {
  test('no other row moves a column of one row, all rows move one of many', () => {
    expect(expectedOverlap(1, 1, 4)).toBe(0);
    expect(expectedOverlap(0, 1, 4)).toBe(0);
    expect(expectedOverlap(1000, 1, 4)).toBeCloseTo(3, 10);
  });

  test('is the expectation: two rows, two workers, one batch', () => {
    // The other row is with the other worker with probability 1/2.
    expect(expectedOverlap(2, 1, 2)).toBeCloseTo(0.5, 12);
    expect(expectedOverlap(2, 3, 2)).toBeCloseTo(1 / 6, 12);
    // Three other workers, each of them with one of two rows: 3 (1 − (7/8)²).
    expect(expectedOverlap(3, 2, 4)).toBeCloseTo(3 * (1 - 49 / 64), 12);
  });
});

test('steps that mind each other need fewer epochs than steps all at once', async () => {
  const dataset = zipfDataset({ rows: 600, columns: 300, perRow: 12 });
  const epochsWith = async (rotations: number, intercept: boolean) => {
    const { report } = await train(dataset, {
      loss: losses.hinge(),
      lambda: 1e-3,
      grid: 4,
      threads: 1,
      intercept,
      epochs: 100,
      solver: solvers.ring({ mode: 'rows', rotations }),
    });
    expect(report.stopped).toBe('converged');
    return report.epochs;
  };
  // All at once, one batch takes 120 epochs and four take 50.
  expect(await epochsWith(1, false)).toBeLessThan(80);
  expect(await epochsWith(1, true)).toBeLessThan(80);
  expect(await epochsWith(4, false)).toBeLessThan(45);
});

test('few rotations want the data in memory', () => {
  const settings = { mapped: false, proximal: 1, startInside: false };
  const plan = (rotations?: number) =>
    ({
      name: 'ring-rows',
      settings: { ...settings, ...(rotations && { rotations }) },
      reason: '',
    }) as const;
  expect(() => checkOutOfCore(plan(4), 2)).toThrow(UsageError);
  expect(() => checkOutOfCore(plan(4), 2)).toThrow('--rotations 4 on a grid of 2');
  expect(() => checkOutOfCore(plan(4), 1)).not.toThrow();
  expect(() => checkOutOfCore(plan(17), 2)).not.toThrow();
  expect(() => checkOutOfCore(plan(), 2)).not.toThrow();
});
