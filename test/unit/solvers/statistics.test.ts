import { describe, expect, test } from 'vitest';
import { largestOf } from '../../../src/solvers/statistics.ts';
import { fc } from '../../support/property.ts';

describe('the weights of the largest size', () => {
  test('come largest first, whatever their sign, and zeros do not', () => {
    expect(largestOf(Float64Array.of(0, -3, 1, 0, 2), 2)).toEqual([1, 4]);
    expect(largestOf(Float64Array.of(0, -3, 1, 0, 2), 10)).toEqual([1, 4, 2]);
    expect(largestOf(new Float64Array(5), 3)).toEqual([]);
  });

  test('are those that sorting finds, the earlier position first among equals', () => {
    const numbers = fc.array(fc.oneof(fc.integer({ min: -4, max: 4 }), fc.double()));
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 8 }), (all, count) => {
        const values = Float64Array.from(all);
        const sorted = all
          .map((value, position) => ({ size: Math.abs(value), position }))
          .filter(({ size }) => size > 0)
          .sort((a, b) => (a.size === b.size ? a.position - b.position : b.size > a.size ? 1 : -1));
        expect(largestOf(values, count)).toEqual(
          sorted.slice(0, count).map(({ position }) => position),
        );
      }),
    );
  });
});
