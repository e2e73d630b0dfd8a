import { expect, test } from 'vitest';
import { closest, DataError, escapeUnseen } from '../../src/errors.ts';

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

test('messages hold no characters that a terminal obeys', () => {
  const { message } = new DataError('a \u001b[31m \u009b1m \u202e \u2028 b\n');
  expect(message).toBe(String.raw`a \u001b[31m \u009b1m \u202e \u2028 b\u000a`);
  expect(escapeUnseen('Zürich, 日本')).toBe('Zürich, 日本');
  const { message: list } = new DataError('two faults:', { details: ['a\nb', 'c'] });
  expect(list).toBe('two faults:\n  a\\u000ab\n  c');
});
