import { describe, expect, test } from 'vitest';
import { panRange, withinLimits, withRules, zoomRange } from '../../../../ui/src/charts/view.ts';

test('values to compare with are in the range as far as they are near', () => {
  expect(withRules([0.1, 1], [0.5], true)).toEqual([0.1, 1]);
  const [from, to] = withRules([0.1, 1], [0.01], true);
  expect(from).toBeLessThan(0.01);
  expect(to).toBe(1);
  expect(withRules([0.1, 1], [1e-6], true)).toEqual([0.1, 1]);
  expect(withRules([0.1, 1], [2], true)[1]).toBeGreaterThan(2);
  expect(withRules([0.1, 1], [0.01], false)).toEqual([0.1, 1]);
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
