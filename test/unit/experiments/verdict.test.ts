import { describe, expect, test } from 'vitest';
import type { Round } from '../../../experiments/support/contest.ts';
import { costUntilError, errorAt, goalsOf } from '../../../experiments/support/progress.ts';
import { duel, excess, race, runOf } from '../../../experiments/support/verdict.ts';
import { solverByName } from '../../../src/solvers/index.ts';
import type { Problem, Run } from '../../../src/train/compare/comparison.ts';

/** A run whose epochs take `seconds` each, with P and test error after every one. */
function runWith(solver: string, seconds: number, course: readonly (readonly number[])[]): Run {
  return {
    loss: 'hinge',
    lambda: 1,
    solver,
    task: 'classification',
    settings: solverByName(solver),
    state: 'finished',
    notices: [],
    started: '',
    events: course.map(([primal, testError], index) => ({
      epoch: index + 1,
      seconds: seconds * (index + 1),
      passes: 2 * (index + 1),
      primal,
      dual: 0,
      relativeGap: 1,
      testError,
      effort: { computing: 1, waiting: 0, communicating: 0, bytes: 0 },
    })),
  };
}

const slow = runWith('dso', 2, [
  [3, 0.3],
  [1.005, 0.1],
  [1, 0.1],
]);
const quick = runWith('bmrm', 1, [
  [4, 0.5],
  [3, 0.3],
  [2, 0.2],
]);
const problem: Problem = { loss: 'hinge', lambda: 1, task: 'classification', runs: [slow, quick] };
const goals = goalsOf(problem, 1000)!;
const round: Round = { sample: 'sample', title: 'hinge', problem, goals };

describe('goals', () => {
  test('are near the least P and the error of whoever has it', () => {
    expect(goals.best).toBe(1);
    expect(goals.primal).toBeCloseTo(1.01, 12);
    expect(goals.error).toBeCloseTo(0.1 * 1.02 + 0.001, 12);
    expect(costUntilError(slow, goals)).toEqual({ epochs: 2, passes: 4, seconds: 4 });
    expect(costUntilError(quick, goals)).toBeUndefined();
    expect(goalsOf({ ...problem, runs: [{ ...slow, events: [] }] }, 10)).toBeUndefined();
  });
});

describe('two solvers', () => {
  test('race to a goal that one of them, or neither, reaches', () => {
    expect(race(round, 'dso', 'bmrm', 'primal')).toMatchObject({ epochs: 0, seconds: 0 });
    expect(race(round, 'bmrm', 'dso', 'primal')).toMatchObject({ epochs: Infinity });
    expect(race(round, 'dso', 'dso', 'primal')).toMatchObject({ epochs: 1, seconds: 1 });
    expect(race(round, 'bmrm', 'bmrm', 'primal')).toBeUndefined();
    expect(race(round, 'dso', 'sgd', 'primal')).toBeUndefined();
  });

  test('are compared by their errors at the same iterations and moments', () => {
    const found = duel(round, 'dso', 'bmrm')!;
    expect(found.epochs).toBeCloseTo((0.3 + 0.1 + 0.1) / (0.5 + 0.3 + 0.2), 12);
    // Both run from second 2 to second 3: moments 2⅓, 2⅔ and 3.
    expect(found.seconds).toBeCloseTo((0.3 + 0.3 + 0.3) / (0.3 + 0.3 + 0.2), 12);
    expect(errorAt(slow, 'seconds', 1)).toBeUndefined();
    expect(errorAt(slow, 'seconds', 100)).toBe(0.1);
    expect(duel(round, 'dso', 'sgd')).toBeUndefined();
  });

  test('end so far above the best', () => {
    expect(excess(round, 'bmrm')).toBe(1);
    expect(excess(round, 'dso')).toBe(0);
    expect(runOf(round, 'sgd')).toBeUndefined();
  });
});
