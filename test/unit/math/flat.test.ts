import { expect, test } from 'vitest';
import { findFlat } from '../../../src/math/line-search.ts';

/** P(s) = ½ k (s − best)²: its descent falls in a straight line. */
const parabola = (best: number, k: number) => (share: number) => k * (best - share);

test.each([0.5, 0.9, 1e-3, 1e-12, 1e-30])('finds where P is flat: at %g', (best) => {
  const descent = parabola(best, 3);
  const start = descent(0);
  const share = findFlat(descent, [0, start], [1, descent(1)], [-0.1 * start, 0.1 * start]);
  expect(Math.abs(descent(share))).toBeLessThanOrEqual(0.1 * start);
});

test.each([1e-2, 1e-6])('finds it where the slope is exponential beyond: at %g', (best) => {
  const descent = (share: number) => 1 - Math.exp(Math.min(200, share / best) - 1);
  const start = descent(0);
  const share = findFlat(descent, [0, start], [1, descent(1)], [-0.1 * start, 0.1 * start]);
  expect(Math.abs(descent(share))).toBeLessThanOrEqual(0.1 * start);
});

test('at a corner, where no descent is small, P is not higher than at the start', () => {
  const corner = 0.3;
  const descent = (share: number) => (share < corner ? 1 : -1);
  const share = findFlat(descent, [0, 1], [1, -1], [-0.1, 0.1]);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThan(corner);
});
