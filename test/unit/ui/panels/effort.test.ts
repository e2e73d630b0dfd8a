import { expect, test } from 'vitest';
import type { SampleLine, ThreadEffort } from '../../../../src/reporting/records/record.ts';
import { adviseOnWaiting, sharesOf, waitingOf } from '../../../../ui/src/panels/effort-shares.ts';
import { beginOf } from './begin.ts';

function sampleOf(efforts: Partial<ThreadEffort>[], more: Partial<SampleLine> = {}): SampleLine {
  const nothing = { first: 0, computing: 0, waiting: 0, communicating: 0, bytes: 0 };
  const threads = efforts.map((effort) => ({ ...nothing, ...effort }));
  return { event: 'sample', epoch: 1, seconds: 1, memory: 1, threads, features: [], ...more };
}

const begin = beginOf(8, { threads: 4, ranks: 2, firsts: [0, 4], hosts: ['a', 'b'] });
const early = sampleOf([{ computing: 3, waiting: 1, communicating: 1, bytes: 100 }, { first: 2 }]);
const late = sampleOf([
  { first: 7, computing: 1, waiting: 0 },
  { first: 0, computing: 4, waiting: 4, communicating: 2, bytes: 250 },
  { first: 2, computing: 2, waiting: 6 },
]);

test('shares since the beginning, by workers', () => {
  const threads = sharesOf(begin, [early, late], 'all');
  expect(threads.map(({ workers, rank }) => [workers, rank])).toEqual([
    ['workers 0–1', 'rank 0 · a'],
    ['workers 2–6', 'rank 0 · a'],
    ['worker 7', 'rank 1 · b'],
  ]);
  expect(threads[0]).toMatchObject({
    computing: 0.5,
    waiting: 0.5,
    communicating: 0.25,
    bytes: 250,
  });
  expect(waitingOf(threads)).toBeCloseTo(10 / 17);
});

test('shares between the last two samples', () => {
  const threads = sharesOf(begin, [early, late], 'now');
  expect(threads[0]).toMatchObject({
    computing: 0.25,
    waiting: 0.75,
    communicating: 0.25,
    bytes: 150,
  });
  expect(threads[2]).toMatchObject({ computing: 1, waiting: 0 });
  expect(sharesOf(begin, [late], 'now')).toEqual(sharesOf(begin, [late], 'all'));
});

test('books that were opened anew count from there', () => {
  const later = { ...early, vector: 1 };
  expect(sharesOf(begin, [late, later], 'now')).toEqual(sharesOf(begin, [later], 'all'));
  expect(sharesOf(begin, [late, early], 'now')[0]).toMatchObject({
    computing: 0.75,
    waiting: 0.25,
  });
});

test('nothing reported, nothing done', () => {
  expect(sharesOf(begin, [], 'all')).toEqual([]);
  expect(sharesOf(begin, [sampleOf([{}])], 'all')[0]).toMatchObject({ computing: 0, waiting: 0 });
  expect(waitingOf([])).toBe(0);
});

test('advice only where waiting is plain', () => {
  const idle = sampleOf([
    { first: 0, computing: 5, waiting: 5 },
    { first: 4, computing: 4, waiting: 6 },
  ]);
  const adviceFor = (more: Parameters<typeof beginOf>[1], sample = idle, grid = 8) => {
    const asked = beginOf(grid, { threads: 2, ...more });
    return adviseOnWaiting(asked, sharesOf(asked, [sample], 'all'));
  };
  const busy = sampleOf([
    { computing: 8, waiting: 2 },
    { first: 4, computing: 8, waiting: 2 },
  ]);
  expect(adviceFor({}, busy)).toBeUndefined();
  expect(adviceFor({}, sampleOf([{ computing: 1, waiting: 9 }]))).toBeUndefined();
  expect(adviceFor({})).toBe(
    'Threads wait 55\u00a0% of their time, most of all workers 4–7 (60\u00a0%). Fewer --threads may do as well.',
  );
  const ranks = { ranks: 2, firsts: [0, 4], hosts: ['a', 'b'] };
  expect(adviceFor(ranks)).toMatch(/workers 4–7 on rank 1 · b .*--rotations 1 /);
  expect(adviceFor({ ...ranks, solver: 'lbfgs' })).not.toContain('--rotations');
  expect(adviceFor({ threads: 16 })).toContain('--grid 16 would give all of them work');
  expect(adviceFor({ threads: 8 })).toContain('a larger --grid');
});
