import { describe, expect, test } from 'vitest';
import { isShown, seenRange, valueRange } from '../../../src/runs/range.ts';

describe('the values that an axis shows', () => {
  test('are all that it can', () => {
    expect(seenRange([[3, null, 1], [2]], [], false)).toEqual([1, 3]);
    expect(seenRange([[0.1, 0, -1, Infinity, Number.NaN, 10]], [], true)).toEqual([0.1, 10]);
    expect(seenRange([[null]], [[]], false)).toBeUndefined();
    expect(seenRange([], [[-5, 2]], false)).toEqual([-5, 2]);
  });

  test('of a bound no more than half as much as of the rest', () => {
    expect(seenRange([[1, 3]], [[-100, 0.9]], false)).toEqual([0, 3]);
    expect(seenRange([[1, 3]], [[0.5, 0.9]], false)).toEqual([0.5, 3]);
    expect(seenRange([[1, 3]], [[1.5, 2]], false)).toEqual([1, 3]);
    expect(seenRange([[1, 3]], [[0.001, 0.9]], true)).toEqual([0.1, 3]);
  });

  test('of a bound that is out of reach nothing', () => {
    expect(seenRange([[1, 3]], [[-100, -50]], false)).toEqual([1, 3]);
  });

  test('of an objective that stands still, a bound near it', () => {
    expect(seenRange([[2, 2]], [[1.999, 2]], false)).toEqual([1.999, 2]);
    expect(seenRange([[2, 2]], [[1, 2]], false)).toEqual([2 - 2e-3, 2]);
  });

  test('of an objective with one value, a bound that is further away as well', () => {
    expect(seenRange([[0.3]], [[0.1]], false)).toEqual([0.1, 0.3]);
    expect(seenRange([[0.3]], [[-0.1, 0]], false)).toEqual([0, 0.3]);
    expect(seenRange([[0.3]], [[-100]], false)).toEqual([0.3, 0.3]);
  });

  test('have room around them', () => {
    const [low, high] = valueRange([[1, 3]], [], false);
    expect([low, high]).toEqual([1 - 0.08, 3 + 0.08]);
    expect(valueRange([[5]], [], false)).toEqual([4.75 - 0.02, 5.25 + 0.02]);
    const [least, most] = valueRange([[0.01, 1]], [], true);
    expect(most).toBeCloseTo(100 ** 0.04, 12);
    expect(least * most).toBeCloseTo(0.01, 12);
    expect([valueRange([], [], false), valueRange([], [], true)]).toEqual([
      [0, 1],
      [0.1, 1],
    ]);
  });

  test('an error of 0 and a perfect ranking have nothing beyond them but a margin', () => {
    expect(valueRange([[0, 0]], [], false)).toEqual([-0.04, 1.04]);
    const [low, high] = valueRange([[1, 1]], [], false);
    expect(low).toBeCloseTo(0.948, 12);
    expect(high).toBeCloseTo(1.002, 12);
  });

  test('what cannot be shown', () => {
    expect([0, -1, null, undefined, Number.NaN].map((value) => isShown(value, true))).toEqual(
      Array(5).fill(false),
    );
    expect([0, -1].map((value) => isShown(value, false))).toEqual([true, true]);
  });
});
