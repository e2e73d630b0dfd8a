import { describe, expect, test } from 'vitest';
import { panRange, valueRange, withinLimits, zoomRange } from '../../../ui/src/range.ts';

describe('the range of values', () => {
  test('holds all of them with a margin', () => {
    const [from, to] = valueRange([[1, null, 3], [2]], [], false);
    expect(from).toBeLessThan(1);
    expect(from).toBeGreaterThan(0.8);
    expect(to).toBeGreaterThan(3);
  });

  test('gives bounds that start far below half the room that the rest has', () => {
    const [from, to] = valueRange([[1, 2]], [[-1000, 0.9]], false);
    expect(from).toBeGreaterThan(0.4);
    expect(from).toBeLessThan(0.5);
    expect(to).toBeLessThan(2.2);
  });

  test('gives bounds that are out of reach no room at all', () => {
    expect(valueRange([[1, 2]], [[-1000, -5]], false)).toEqual(valueRange([[1, 2]], [], false));
    expect(valueRange([[1, 2]], [[0.01]], true)).toEqual(valueRange([[1, 2]], [], true));
  });

  test('heeds what a logarithmic axis can show only', () => {
    const [from, to] = valueRange([[0, -1, 0.001, 1]], [], true);
    expect(from).toBeGreaterThan(0.0005);
    expect(from).toBeLessThan(0.001);
    expect(to).toBeGreaterThan(1);
  });

  test.each([false, true])('is not empty for one value or none, log %s', (log) => {
    for (const columns of [[], [[]], [[null]], [[5]], [[5, 5]]]) {
      const [from, to] = valueRange(columns, [], log);
      expect(from).toBeLessThan(to);
    }
    expect(valueRange([[0]], [], false)).toEqual([-1, 1]);
  });
});

describe('moving along', () => {
  test('pans and zooms by parts of the width', () => {
    expect(panRange([2, 4], 0.5, false)).toEqual([3, 5]);
    expect(zoomRange([2, 4], 0.5, false)).toEqual([2.5, 3.5]);
    expect(zoomRange([2, 4], 0.5, false, 2)).toEqual([2, 3]);
  });

  test('does so by factors on a logarithmic axis', () => {
    const [from, to] = panRange([1, 100], 0.5, true);
    expect(from).toBeCloseTo(10, 9);
    expect(to).toBeCloseTo(1000, 9);
  });

  test('stays within the limits and keeps the width', () => {
    expect(withinLimits([8, 12], [0, 10], false)).toEqual([6, 10]);
    expect(withinLimits([-3, 1], [0, 10], false)).toEqual([0, 4]);
  });

  test('is no zoom when it shows everything, or nothing', () => {
    expect(withinLimits([-1, 11], [0, 10], false)).toBeUndefined();
    expect(withinLimits([3, 3], [0, 10], false)).toBeUndefined();
    const whole = zoomRange(zoomRange([1, 100], 0.5, true), 2, true);
    expect(withinLimits(whole, [1, 100], true)).toBeUndefined();
  });
});
