import { describe, expect, test } from 'vitest';
import { align, domainOf, indexAt } from '../../../../ui/src/charts/align.ts';

/** 5,000 points each at odd distances, so that hardly any x is shared. */
const many = [0.37, 0.41].map((step) => Array.from({ length: 5000 }, (_, index) => index * step));

describe('curves with few points', () => {
  test('stand at their own positions, and nowhere else', () => {
    const { xs, exact, indices } = align([[1, 2, 4], [2, 3], []], [0, 10], 100, false);
    expect(exact).toBe(true);
    expect(xs).toEqual([1, 2, 3, 4]);
    expect(indices.map((of) => [...of])).toEqual([
      [0, 1, -1, 2],
      [-1, 0, 1, -1],
      [-1, -1, -1, -1],
    ]);
  });

  test('reach over both ends of the range by one point', () => {
    expect(align([[1, 2, 3, 4, 5, 6]], [2.5, 4.5], 100, false).xs).toEqual([2, 3, 4, 5]);
  });

  test('have the last of several points with the same x', () => {
    const { xs, indices } = align([[1, 1, 1, 2]], [0, 3], 100, false);
    expect(xs).toEqual([1, 2]);
    expect([...indices[0]]).toEqual([2, 3]);
  });

  test('leave out what a logarithmic axis cannot show', () => {
    const { xs, indices } = align([[0, 1, 10]], [0.5, 10], 100, true);
    expect(xs).toEqual([1, 10]);
    expect([...indices[0]]).toEqual([1, 2]);
  });
});

describe('curves with many points', () => {
  test('keep their own positions only where those are few for as many curves', () => {
    const curves = (count: number) =>
      Array.from({ length: count }, (_, curve) =>
        Array.from({ length: 50 }, (__, index) => index + curve / count),
      );
    expect(align(curves(12), [0, 50], 100, false).exact).toBe(true);
    expect(align(curves(13), [0, 50], 100, false).exact).toBe(false);
    expect(align(curves(13), [0, 50], 400, false).exact).toBe(true);
  });

  test.each([false, true])(
    'have their last value at or before evenly spaced ones, log %s',
    (log) => {
      const range = [1, 1000] as const;
      const { xs, exact, indices } = align(many, range, 777, log);
      expect(exact).toBe(false);
      expect(xs).toHaveLength(777);
      expect([xs[0], xs.at(-1)]).toEqual(range);
      const position = (x: number) => (log ? Math.log(x) : x);
      const step = position(xs[1]) - position(xs[0]);
      for (const [curve, own] of many.entries()) {
        for (const [index, x] of xs.entries()) {
          if (index > 0) expect(position(x) - position(xs[index - 1])).toBeCloseTo(step, 9);
          const naive = own.findLastIndex((other) => other <= x);
          const before = index > 0 ? own.findLastIndex((other) => other <= xs[index - 1]) : -1;
          const repeated = naive === before && index < xs.length - 1;
          expect(indices[curve][index]).toBe(repeated ? -1 : naive);
        }
      }
    },
  );

  test('have nothing before their first point and after their last', () => {
    const late = many[0].map((x) => x + 100);
    const { xs, indices } = align([late, many[1]], [0, 3000], 301, false);
    const held = xs.filter((_, index) => indices[0][index] >= 0);
    expect(held[0]).toBe(100);
    expect(held.at(-1)).toBe(xs.findLast((x) => x <= late.at(-1)!));
    expect(held.length).toBeGreaterThan(150);
  });

  test('have no steps where they have fewer points than there are positions', () => {
    const sparse = Array.from({ length: 11 }, (_, index) => index * 10);
    const { exact, indices } = align([...many, sparse], [0, 100], 4001, false);
    expect(exact).toBe(true);
    expect([...indices[2]].filter((index) => index >= 0)).toHaveLength(11);
    const spaced = align([...many, ...many, sparse], [0, 2000], 4001, false);
    expect(spaced.exact).toBe(false);
    expect([...spaced.indices[4]].filter((index) => index >= 0)).toHaveLength(11);
  });

  test('get their own positions when little of them is in the range', () => {
    const { exact, xs } = align(many, [100, 101], 500, false);
    expect(exact).toBe(true);
    expect(xs.length).toBeLessThan(12);
  });

  test('share positions when they have the same x values', () => {
    const epochs = Array.from({ length: 4000 }, (_, index) => index + 1);
    expect(align(Array(5).fill(epochs), [1, 4000], 500, false).exact).toBe(true);
    // As many as these would take too long to draw.
    expect(align(Array(100).fill(epochs), [1, 4000], 500, false).exact).toBe(false);
  });
});

test('the domain spans all curves, the positive part of them on a logarithmic axis', () => {
  expect(domainOf([[0, 5], [], [2, 9]], false)).toEqual([0, 9]);
  expect(domainOf([[0, 5], [], [2, 9]], true)).toEqual([2, 9]);
  expect(domainOf([[], []], false)).toBeUndefined();
  expect(domainOf([[0]], true)).toBeUndefined();
});

test('the index at an x is that of the last value at or before it', () => {
  const xs = [1, 2, 2, 5];
  expect([0, 1, 2, 4.9, 5, 5.1].map((x) => indexAt(xs, x))).toEqual([-1, 0, 2, 2, 3, -1]);
  expect(indexAt([], 1)).toBe(-1);
});
