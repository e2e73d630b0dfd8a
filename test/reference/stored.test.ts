/** The reference solver and other programs find the same optima. */
import { describe, expect, test } from 'vitest';
import { referenceObjective, referenceOptimum } from './reference.ts';
import { problemOf, readStored } from './stored.ts';

const stored = readStored();

test('the stored optima meet all penalties and all losses but one', () => {
  const kinds = new Set(stored.map((item) => `${item.loss.name} ${item.penalty.name}`));
  expect([...kinds].sort()).toEqual([
    'absolute l1',
    'absolute l2',
    'hinge l1',
    'hinge l2',
    'huber l2',
    'logistic elastic-net',
    'logistic l1',
    'logistic l2',
    'poisson elastic-net',
    'poisson l1',
    'poisson l2',
    'quantile l1',
    'square elastic-net',
    'square l1',
    'square l2',
    'squared-absolute l2',
    'squared-hinge l1',
    'squared-hinge l2',
  ]);
});

describe.each(stored)('$loss.name + $penalty.name, λ = $lambda: $call', (item) => {
  const problem = problemOf(item);

  test('the stored weights have the stored value', () => {
    const value = referenceObjective(problem, item.weights, item.interceptValue);
    expect(Math.abs(value - item.value)).toBeLessThan(1e-12);
  });

  test('the reference finds that value, and none better is known', () => {
    const { value } = referenceOptimum(problem);
    expect(value).toBeLessThan(item.value + 1e-11);
    expect(item.value - value).toBeLessThan(item.tolerance * value);
  });
});
