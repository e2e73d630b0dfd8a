import { describe, expect, test } from 'vitest';
import { findFlat, rootOfFalling } from '../../../src/math/line-search.ts';
import { stream } from '../../../src/math/random.ts';

/** Finds the root and keeps the arguments of the function. */
function find(f: (x: number) => number, low: number, high: number, goal: number, limit = 60) {
  const evaluated: number[] = [];
  const watched = (x: number) => {
    evaluated.push(x);
    return f(x);
  };
  const root = rootOfFalling(watched, [low, f(low)], [high, f(high)], goal, limit);
  return { root, evaluated };
}

describe('rootOfFalling', () => {
  test('needs one evaluation on a straight line', () => {
    const { root, evaluated } = find((x) => 3 - 4 * x, 0, 1, 1e-12);
    expect(root).toBeCloseTo(0.75, 14);
    expect(evaluated).toHaveLength(1);
  });

  test('finds the root of a curve in few evaluations', () => {
    const { root, evaluated } = find((x) => Math.exp(-3 * x) - 0.1, 0, 5, 1e-12);
    expect(root).toBeCloseTo(Math.log(10) / 3, 11);
    expect(evaluated.length).toBeLessThan(20);
  });

  test('is not held back by an end far from the root', () => {
    // Plain false position would keep the end 1 for ever and need thousands of evaluations.
    const { root, evaluated } = find((x) => Math.exp(-50 * x) - 1e-3, 0, 1, 1e-9);
    expect(root).toBeCloseTo(Math.log(1000) / 50, 6);
    expect(evaluated.length).toBeLessThan(30);
  });

  test('closes in on a jump', () => {
    const { root } = find((x) => (x < 0.3 ? 1 : -2), 0, 1, 1e-12, 60);
    expect(root).toBeCloseTo(0.3, 10);
  });

  test('stops at the goal and at the limit', () => {
    const falling = (x: number) => 1 - x ** 3;
    expect(Math.abs(falling(find(falling, 0, 4, 0.1).root))).toBeLessThanOrEqual(0.1);
    expect(find(falling, 0, 4, 1e-15, 5).evaluated).toHaveLength(5);
  });

  test('returns the last point it evaluated for, inside the bracket, on random falling functions', () => {
    const random = stream(5, 1);
    for (let trial = 0; trial < 200; trial++) {
      const at = random.uniform();
      const steep = 10 ** (4 * random.uniform() - 2);
      const bend = 3 * random.uniform();
      const f = (x: number) => -steep * (x - at) * (1 + bend * (x - at) ** 2);
      const { root, evaluated } = find(f, 0, 1, 1e-9 * steep);
      expect(Math.abs(root - at)).toBeLessThan(1e-8);
      expect(root).toBe(evaluated[evaluated.length - 1]);
      for (const x of evaluated) expect(x > 0 && x < 1).toBe(true);
    }
  });
});

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
