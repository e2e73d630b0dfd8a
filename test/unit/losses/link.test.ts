import { expect, test } from 'vitest';
import { hasLogLink, lossNames, meanOfScore } from '../../../src/losses/index.ts';

test('a score of Poisson regression is the logarithm of a mean', () => {
  expect(lossNames.filter(hasLogLink)).toEqual(['poisson']);
  expect(meanOfScore('poisson', 0)).toBe(1);
  expect(meanOfScore('poisson', Math.log(5))).toBeCloseTo(5, 14);
});

test('of other losses it is the prediction itself', () => {
  expect(meanOfScore('square', -2.5)).toBe(-2.5);
});
