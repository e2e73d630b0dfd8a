import { expect, test } from 'vitest';
import { closest } from '../../src/errors.ts';

const names = ['hinge', 'squared-hinge', 'logistic', 'l1', 'l2'];

test('finds the word that was meant', () => {
  expect(closest('hing', names)).toBe('hinge');
  expect(closest('HINGE', names)).toBe('hinge');
  expect(closest('squared_hinge', names)).toBe('squared-hinge');
  expect(closest('logstic', names)).toBe('logistic');
  expect(closest('l3', names)).toBe('l1');
});

test('says nothing when no word is near', () => {
  expect(closest('poisson', names)).toBeUndefined();
  expect(closest('', names)).toBeUndefined();
  expect(closest('zz', names)).toBeUndefined();
});
