import { expect, test } from 'vitest';
import { largestColumns, summarizeWeights } from '../../../../src/model/metrics/weight-summary.ts';
import { fc } from '../../../support/property.ts';

test('norms and sparsity', () => {
  expect(summarizeWeights(Float64Array.of(3, 0, -4, -0))).toEqual({
    nonzero: 2,
    l1Norm: 7,
    l2Norm: 5,
    largest: 4,
  });
  expect(summarizeWeights(new Float64Array(3))).toEqual({
    nonzero: 0,
    l1Norm: 0,
    l2Norm: 0,
    largest: 0,
  });
});

test('norms of weights whose squares overflow or vanish', () => {
  expect(summarizeWeights(Float64Array.of(3e200, 4e200)).l2Norm / 5e200).toBeCloseTo(1, 14);
  expect(summarizeWeights(Float64Array.of(3e-200, 4e-200)).l2Norm / 5e-200).toBeCloseTo(1, 14);
});

test('the largest columns are the head of the sorted list', () => {
  // Few distinct values make ties; more than 1024 columns make the list shorten on the way.
  const weights = fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 4000 });
  fc.assert(
    fc.property(weights, fc.integer({ min: 0, max: 40 }), (values, count) => {
      const sorted = [...values.keys()]
        .filter((column) => values[column] !== 0)
        .sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]) || a - b);
      const all = Float64Array.from(values);
      expect(largestColumns(all, count)).toEqual(sorted.slice(0, count));
      const above = sorted.filter((column) => values[column] > 0);
      const below = sorted.filter((column) => values[column] < 0);
      expect(largestColumns(all, count, 'positive')).toEqual(above.slice(0, count));
      expect(largestColumns(all, count, 'negative')).toEqual(below.slice(0, count));
    }),
  );
});
