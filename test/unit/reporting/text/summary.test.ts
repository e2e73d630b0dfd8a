import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import {
  adviseOnRanks,
  describeCertificate,
  describeEffort,
  summarize,
} from '../../../../src/reporting/text/summary.ts';
import type { TrainReport } from '../../../../src/train/options/options.ts';

const report: TrainReport = {
  solver: 'ring-rows',
  loss: 'hinge',
  penalty: 'l2',
  lambda: 1e-5,
  rows: 57_848,
  columns: 20_958,
  nonzeros: 2_970_000,
  classes: [-1, 1],
  grid: 4,
  threads: 2,
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
  effort: { computing: 0.76, waiting: 0.04, communicating: 0, bytes: 0 },
  test: { task: 'regression', rows: 1, mse: 0.25, mae: 0.5, r2: null },
};

function lines(changes: Partial<TrainReport>): string[] {
  const saved = { path: 'spam.model', bytes: 168_000 };
  return summarize(
    { ...report, ...changes },
    { tolerance: 1e-3 },
    saved,
    picocolors.createColors(false),
  ).split('\n');
}

test('what was solved, how it ended, how good it is, where it is', () => {
  expect(lines({})).toEqual([
    'hinge loss, l2 penalty, lambda 1e-5: 57,848 rows × 20,958 columns, 2,970,000 non-zeros',
    'ring-rows solver on 2 threads, converged to the tolerance 0.001 after 9 epochs ' +
      '(read 0.25 s, train 0.41 s)',
    'within 0.080 % of the optimum (certified: relative duality gap 7.9e-4)',
    'threads computed 95 % and waited 5 % of the time',
    'test mean squared error 0.25 on 1 row',
    'model in spam.model (168 kB)',
  ]);
});

test.each([
  ['early-stop', 'stopped early, since the test error stopped falling, after 9 epochs'],
  [
    'precision',
    'stopped at the limits of double precision, above the tolerance 0.001, after 9 epochs',
  ],
  ['epoch-limit', 'stopped by the epoch limit, above the tolerance 0.001, after 9 epochs'],
  ['time-limit', 'stopped by the time limit, above the tolerance 0.001, after 9 epochs'],
  ['interrupted', 'interrupted after 9 epochs'],
] as const)('%s', (stopped, text) => {
  expect(lines({ stopped })[1]).toContain(text);
});

test('the threshold is shown', () => {
  const text = 'threshold 0.104951, above which rows are positive';
  expect(lines({ threshold: 0.104951 })).toContain(text);
});

test('a gap that proves nothing is not called a certificate', () => {
  for (const gap of [1, 3, Infinity, Number.NaN]) {
    expect(describeCertificate({ relativeGap: gap })).toBe(
      'no certificate yet: no useful lower bound found',
    );
  }
});

test('at the limits of double precision both numbers are given', () => {
  const at = (primal: number, dual: number, least?: number) => {
    const relativeGap = (primal - dual) / Math.abs(primal);
    return describeCertificate({ relativeGap, primal, dual, stopped: 'precision' }, least);
  };
  expect(at(3e-9, 1e-9)).toBe('objective 3e-9, optimum at least 1e-9');
  expect(at(3e-9, -Infinity)).toBe('objective 3e-9, no lower bound');
  expect(at(-3, -7)).toBe('objective -3, optimum at least -7');
  expect(at(3e-17, -0)).toBe('objective 3e-17, optimum at least 0');
  expect(at(3e12, -120, 0)).toBe('objective 3e12, optimum at least 0');
  expect(at(3e-9, 1e-9, 0)).toBe('objective 3e-9, optimum at least 1e-9');
  expect(at(1, 0.99)).toMatch(/^within 1\.\d+ % of the optimum/);
});

/** Two ranks that mostly wait for one another. */
function withRanks(changes: Partial<TrainReport>): TrainReport {
  const effort = { computing: 1, waiting: 7, communicating: 6, bytes: 2_500_000 };
  return { ...report, threads: 1, ranks: 2, rotations: 64, effort, ...changes };
}

const alone = { ranks: undefined } as unknown as Partial<TrainReport>;

test('what threads did with their time, and what went between ranks', () => {
  expect(describeEffort(withRanks({}))).toBe(
    'threads computed 13 % and waited 88 % of the time; 2.5 MB sent between ranks',
  );
  expect(describeEffort(withRanks({ ...alone, threads: 2 }))).toBe(
    'threads computed 13 % and waited 88 % of the time',
  );
});

test('one thread, which never waits, is not mentioned', () => {
  expect(describeEffort(withRanks({ ...alone, threads: 1 }))).toBeUndefined();
});

test('where waiting took most of the time, fewer rotations are named', () => {
  expect(adviseOnRanks(withRanks({}), 16)).toMatch(/--rotations 9 instead of 64/);
  expect(adviseOnRanks(withRanks({ rotations: 2500 }), 16)).toMatch(
    /--rotations 16 instead of 2500/,
  );
  expect(adviseOnRanks(withRanks({ rotations: 3 }), 16)).toMatch(/--rotations 1 instead of 3/);
  expect(adviseOnRanks(withRanks({ rotations: 1 }), 16)).toBeUndefined();
});

test('smooth losses with l2 are better off with lbfgs, and lbfgs with nothing', () => {
  expect(adviseOnRanks(withRanks({ loss: 'logistic' }), 16)).toMatch(/--solver lbfgs/);
  expect(adviseOnRanks(withRanks({ loss: 'logistic', solver: 'lbfgs' }), 16)).toBeUndefined();
  expect(adviseOnRanks(withRanks({ loss: 'logistic', penalty: 'l1' }), 16)).toMatch(
    /--rotations 9/,
  );
});

test('a grid with fewer workers than threads comes first', () => {
  expect(adviseOnRanks(withRanks({ threads: 4 }), 16)).toMatch(/--grid 8/);
});

test('no advice where threads mostly computed, or where there is one process', () => {
  const busy = { computing: 8, waiting: 7, communicating: 6, bytes: 0 };
  expect(adviseOnRanks(withRanks({ effort: busy }), 16)).toBeUndefined();
  expect(adviseOnRanks(withRanks(alone), 16)).toBeUndefined();
});
