import { expect, test } from 'vitest';
import { fitLine, fitPower, median } from '../../../experiments/support/fit.ts';
import { combine } from '../../../experiments/support/verdict.ts';

test('a line through points that lie on one', () => {
  const { slope, intercept } = fitLine([1, 2, 5].map((x) => [x, 3 - 2 * x]));
  expect(slope).toBeCloseTo(-2, 12);
  expect(intercept).toBeCloseTo(3, 12);
});

test('a power law, without points that have no logarithm', () => {
  const points = [1, 4, 9, 16].map((x) => [x, 7 / Math.sqrt(x)] as const);
  const { power, factor } = fitPower([[0, 1], ...points, [2, 0]]);
  expect(power).toBeCloseTo(-0.5, 12);
  expect(factor).toBeCloseTo(7, 10);
});

test('the median of odd and even numbers of values', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test('a verdict needs every case that was measured', () => {
  expect(combine([true, undefined, true])).toBe('holds');
  expect(combine([true, false])).toBe('partly holds');
  expect(combine([false, undefined])).toBe('does not hold');
  expect(combine([undefined])).toBe('not measured');
});
