import { expect, test } from 'vitest';
import { rankRuns } from '../../../../src/train/compare/comparison.ts';
import { madeUpEvents, madeUpFailure, madeUpRun } from './support/made-up.ts';

const order = (runs: Parameters<typeof rankRuns>[0]) =>
  rankRuns(runs, 1e-3).map(({ run, rank }) => [run.solver, rank]);

test('the tolerance first, by time; then by gap; then those without a result', () => {
  const runs = [
    madeUpFailure('lbfgs', 'refused', 'hinge is not smooth'),
    madeUpRun('far', madeUpEvents(5, 0.9)),
    madeUpRun('slow', madeUpEvents(20, 0.6)),
    madeUpRun('near', madeUpEvents(5, 0.5)),
    madeUpRun('quick', madeUpEvents(20, 0.1)),
    madeUpRun('stopped', madeUpEvents(2, 0.5), { state: 'interrupted' }),
  ];
  expect(order(runs)).toEqual([
    ['quick', 1],
    ['slow', 2],
    ['near', 3],
    ['far', 4],
    ['lbfgs', undefined],
    ['stopped', undefined],
  ]);
});

test('the time is that of the first event within the tolerance', () => {
  const [first] = rankRuns([madeUpRun('dso', madeUpEvents(10, 0.1))], 1e-3);
  // Gaps 0.1, 0.01, 0.001, 0.0001 against an objective of about 0.5.
  expect(first.reached).toBeCloseTo(0.4);
});

test('a gap that opened again at the end does not count as reached', () => {
  const run = madeUpRun('dso', madeUpEvents(10, 0.1));
  const reopened = { ...run, report: { ...run.report!, relativeGap: 0.01 } };
  expect(rankRuns([reopened], 1e-3)[0].reached).toBeUndefined();
});

test('equal gaps, even infinite ones, are ranked by the objective', () => {
  const without = (solver: string, primal: number) => {
    const events = madeUpEvents(1, 0.5).map((event) => ({
      ...event,
      primal,
      dual: -Infinity,
      relativeGap: Infinity,
    }));
    return madeUpRun(solver, events);
  };
  expect(order([without('worse', 2), without('better', 1)])).toEqual([
    ['better', 1],
    ['worse', 2],
  ]);
});
