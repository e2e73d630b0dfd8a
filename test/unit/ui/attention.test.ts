import { expect, test } from 'vitest';
import { Attention } from '../../../ui/src/attention.ts';

test('who does not touch the page for ten seconds is taken to be gone', () => {
  const attention = new Attention(1000);
  expect(attention.isThere(11_000)).toBe(true);
  expect(attention.isThere(11_001)).toBe(false);
});

test('who comes back is news, once', () => {
  const attention = new Attention(0);
  expect(attention.touch(5000)).toBe(false);
  expect(attention.touch(15_001)).toBe(true);
  expect(attention.touch(15_002)).toBe(false);
  expect(attention.isThere(25_002)).toBe(true);
});
