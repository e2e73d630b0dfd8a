import { expect, test } from 'vitest';
import { adviseOnRanks, describeEffort } from '../../../../src/reporting/text/summary.ts';
import type { TrainReport } from '../../../../src/train/options/options.ts';

function report(changes: Partial<TrainReport>): TrainReport {
  return {
    solver: 'ring-rows',
    loss: 'hinge',
    penalty: 'l2',
    lambda: 1e-5,
    rows: 100,
    columns: 10,
    nonzeros: 500,
    grid: 4,
    threads: 1,
    ranks: 2,
    rotations: 64,
    seed: 1,
    epochs: 9,
    passes: 19.4,
    seconds: { read: 0.25, partition: 0.05, train: 0.41, total: 0.8 },
    primal: 0.3,
    dual: 0.29976,
    gap: 0.00024,
    relativeGap: 7.9e-4,
    stopped: 'converged',
    imbalance: { rows: 1, columns: 1, nonzeros: 1 },
    effort: { computing: 1, waiting: 7, communicating: 6, bytes: 2_500_000 },
    ...changes,
  };
}

const alone = { ranks: undefined } as unknown as Partial<TrainReport>;

test('what threads did with their time, and what went between ranks', () => {
  expect(describeEffort(report({}))).toBe(
    'threads computed 13 % and waited 88 % of the time; 2.5 MB sent between ranks',
  );
  expect(describeEffort(report({ ...alone, threads: 2 }))).toBe(
    'threads computed 13 % and waited 88 % of the time',
  );
});

test('a thread that had nobody to wait for is not worth a word', () => {
  expect(describeEffort(report({ ...alone, threads: 1 }))).toBeUndefined();
});

test('where waiting took most of the time, fewer rotations are named', () => {
  expect(adviseOnRanks(report({}), 16)).toMatch(/--rotations 9 instead of 64/);
  expect(adviseOnRanks(report({ rotations: 2500 }), 16)).toMatch(/--rotations 16 instead of 2500/);
  expect(adviseOnRanks(report({ rotations: 3 }), 16)).toMatch(/--rotations 1 instead of 3/);
  expect(adviseOnRanks(report({ rotations: 1 }), 16)).toBeUndefined();
});

test('smooth losses with l2 are better off with lbfgs, and lbfgs with nothing', () => {
  expect(adviseOnRanks(report({ loss: 'logistic' }), 16)).toMatch(/--solver lbfgs/);
  expect(adviseOnRanks(report({ loss: 'logistic', solver: 'lbfgs' }), 16)).toBeUndefined();
  expect(adviseOnRanks(report({ loss: 'logistic', penalty: 'l1' }), 16)).toMatch(/--rotations 9/);
});

test('a grid with fewer workers than threads comes first', () => {
  expect(adviseOnRanks(report({ threads: 4 }), 16)).toMatch(/--grid 8/);
});

test('no advice where threads mostly computed, or where there is one process', () => {
  const busy = { computing: 8, waiting: 7, communicating: 6, bytes: 0 };
  expect(adviseOnRanks(report({ effort: busy }), 16)).toBeUndefined();
  expect(adviseOnRanks(report(alone), 16)).toBeUndefined();
});
