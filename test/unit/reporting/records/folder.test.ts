import { expect, test } from 'vitest';
import { isRunId, newRunId } from '../../../../src/reporting/records/folder.ts';

test('the name of a run says when it began, in UTC, and sorts by that', () => {
  const moments = ['2026-11-15T21:23:45.678Z', '2026-11-15T21:23:46Z', '2027-01-01T00:00:00Z'];
  const ids = moments.map((moment) => newRunId(new Date(moment)));
  expect(ids[0]).toMatch(/^20261115-212345-[0-9a-f]{4}$/);
  expect(ids[1]).toMatch(/^20261115-212346-[0-9a-f]{4}$/);
  expect([...ids].sort()).toEqual(ids);
  expect(ids.every(isRunId)).toBe(true);
});

test('runs of the same second have names of their own', () => {
  const now = new Date();
  expect(new Set(Array.from({ length: 20 }, () => newRunId(now))).size).toBeGreaterThan(15);
});

test.each([
  '',
  'last',
  '../20261115-212345-3f9c',
  '20261115-212345-3f9c/..',
  '20261115-212345-3f9c\n',
  '20261115-212345-3F9C',
  '20261115-212345-3f9c.jsonl',
  '20261115-212345-3f9c\0',
])('%j is no name of a run', (text) => {
  expect(isRunId(text)).toBe(false);
});
