import { expect, test } from 'vitest';
import { runningThreads } from '../../../../src/apps/dashboard/api.ts';
import { begin, result, start, summary } from '../../ui/summaries.ts';

test('a run takes cores from its beginning to its end', () => {
  expect(runningThreads(summary())).toBe(0);
  expect(runningThreads(summary({ begin: begin({ threads: 3 }) }))).toBe(3);
  const done = { status: 'done', begin: begin({ threads: 3 }), result: result() } as const;
  expect(runningThreads(summary(done))).toBe(0);
});

test('of several processes those on the first host count', () => {
  const ranks = { threads: 3, ranks: 4 };
  expect(runningThreads(summary({ begin: begin(ranks) }))).toBe(12);
  const hosts = [start.host, 'there', start.host, 'there'];
  expect(runningThreads(summary({ begin: begin({ ...ranks, hosts }) }))).toBe(6);
});
