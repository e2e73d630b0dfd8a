import { describe, expect, test } from 'vitest';
import type { SolverPlan } from '../../../../src/solvers/registry.ts';
import type { Fit } from '../../../../src/train/fit.ts';
import { chainStarts, predicted, stored } from '../../../../src/train/select/chains.ts';

const plan = { name: 'working-set', settings: {}, reason: '' } as SolverPlan;
const shape = { plan, grid: 1, vectors: 1 };

test('a long path is cut in two where its solver follows paths and has no use for threads', () => {
  expect(chainStarts(100, shape)).toEqual([0, 68]);
  expect(chainStarts(50, shape)).toEqual([0, 34]);
  expect(chainStarts(49, shape)).toEqual([0]);
  expect(chainStarts(100, { ...shape, grid: 2 })).toEqual([0]);
  expect(chainStarts(100, { ...shape, vectors: 3 })).toEqual([0]);
  const other = { name: 'newton', settings: {}, reason: '' } as SolverPlan;
  expect(chainStarts(100, { ...shape, plan: other })).toEqual([0]);
});

describe('predicted weights', () => {
  const point = (lambda: number, ...weights: number[]) => ({
    lambda,
    weights: Float64Array.from(weights),
  });
  const before = point(4, 1, 0, 3, 2, -1, 7);
  const last = point(2, 3, 5, 2, 0, -4, 9);

  test('are on lines, and keep signs and zeros', () => {
    expect([...predicted(1, last, before, false)]).toEqual([4, 7.5, 1.5, 0, -5.5, 10]);
    expect([...predicted(-2, last, before, false)]).toEqual([7, 15, 0, 0, -10, 13]);
  });

  test('leave the intercept', () => {
    expect([...predicted(1, last, before, true)]).toEqual([4, 7.5, 1.5, 0, -5.5, 9]);
  });
});

test('a stored fit comes back with its weights, without its dual point', () => {
  const weights = Float64Array.of(0, 2, 0, -3);
  const fit = { weights, alpha: Float64Array.of(1), bounds: [] } as unknown as Fit;
  expect(stored(fit)()).toEqual({ weights, bounds: [] });
  expect(stored({ ...fit, weights: undefined })().weights).toBeUndefined();
});
