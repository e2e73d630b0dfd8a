import { describe, expect, test } from 'vitest';
import { blockAt, Ring } from '../../../src/engine/ring.ts';
import { shareTeam, Team } from '../../../src/engine/team.ts';
import { testPool } from './support/pool.ts';
import type { RotatePayload } from './support/worker.ts';

test.each([1, 2, 3, 5, 8])('blockAt is the σ_r(q) of the paper, p = %i', (p) => {
  for (let q = 1; q <= p; q++) {
    for (let r = 1; r <= p; r++) {
      const sigma = ((q + r - 2) % p) + 1;
      expect(blockAt(q - 1, r - 1, p)).toBe(sigma - 1);
    }
  }
});

test.each([1, 2, 3, 5, 8])('in an inner iteration no two workers hold a block, p = %i', (p) => {
  for (let iteration = 0; iteration < p; iteration++) {
    const held = Array.from({ length: p }, (_, worker) => blockAt(worker, iteration, p));
    expect(new Set(held).size).toBe(p);
  }
  for (let worker = 0; worker < p; worker++) {
    const met = Array.from({ length: p }, (_, iteration) => blockAt(worker, iteration, p));
    expect(new Set(met).size).toBe(p);
  }
});

test('one thread visits in the serial order: by inner iteration, then by rank', () => {
  const p = 4;
  const ring = new Ring(new Team(shareTeam({ threads: 1, workers: p, cores: 1 }), 0));
  const visits: number[][] = [];
  const nothing = ring.fields(() => []);
  ring.rotate(nothing, (worker, block, iteration) => visits.push([iteration, worker, block]));
  const expected = Array.from({ length: p * p }, (_, k) => {
    const iteration = Math.floor(k / p);
    const worker = k % p;
    return [iteration, worker, (worker + iteration) % p];
  });
  expect(visits).toEqual(expected);
});

describe.each([
  { threads: 2, workers: 2 },
  { threads: 2, workers: 5 },
  { threads: 3, workers: 4 },
  { threads: 4, workers: 4 },
])('$workers workers on $threads threads', ({ threads, workers }) => {
  test('a block has one holder at a time and meets the workers in the order of the ring', async () => {
    const rotations = 40;
    const visitCount = rotations * workers * workers;
    const trace = new Int32Array(new SharedArrayBuffer(4 * (1 + 2 * visitCount)));
    const shared = shareTeam({ threads, workers, cores: 2, trace });
    const ints = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length));
    const holders = ints(workers);
    const turns = ints(workers * workers);
    const visits = ints(workers);
    const wrong = await testPool(threads).runAll<string[]>(
      'rotate',
      threads,
      (index): RotatePayload => ({ shared, index, rotations, holders, turns, visits }),
    );
    expect(wrong.flat()).toEqual([]);
    expect([...visits]).toEqual(new Array(workers).fill(rotations * workers));
    for (let worker = 0; worker < workers; worker++) {
      for (let iteration = 0; iteration < workers; iteration++) {
        expect(turns[worker * workers + blockAt(worker, iteration, workers)]).toBe(iteration);
      }
    }
    expect(trace[0]).toBe(visitCount);
  });
});
