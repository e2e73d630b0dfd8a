/** What a process tells its carrier, and who plays whom. */
import { describe, expect, test } from 'vitest';
import {
  announcedCargo,
  announceRotation,
  asked,
  askForGathering,
  blocksTravel,
  openTraffic,
  rankOf,
  workersOfRanks,
} from '../../../src/parallel/traffic.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, k) => k);
const open = (rank: number, ranks: number, workers: number) =>
  openTraffic(rank, ranks, workers, new Int32Array(new SharedArrayBuffer(64 * workers)));

describe.each([1, 2, 3, 4, 9])('%i ranks', (ranks) => {
  test.each([1, 2, 3, 4, 5, 6, 7])(
    'play %i workers, each one of them, as evenly as can be',
    (workers) => {
      const firsts = workersOfRanks(workers, ranks);
      expect(firsts[0]).toBe(0);
      expect(firsts[ranks]).toBe(workers);
      const shares = upTo(ranks).map((rank) => firsts[rank + 1] - firsts[rank]);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      for (const worker of upTo(workers)) {
        const rank = rankOf({ firsts }, worker);
        expect(worker >= firsts[rank] && worker < firsts[rank + 1]).toBe(true);
      }
      // Room for the numbers of the rank that has most workers.
      const { outbox, inbox } = open(0, ranks, workers);
      expect(outbox.length).toBeGreaterThanOrEqual(Math.max(...shares));
      expect(inbox).toHaveLength(ranks * outbox.length);
    },
  );
});

test('blocks leave a process that plays some workers, but not all', () => {
  expect(blocksTravel(open(0, 1, 4))).toBe(false);
  expect(blocksTravel(open(0, 2, 4))).toBe(true);
  expect(upTo(3).map((rank) => blocksTravel(open(rank, 3, 2)))).toEqual([false, true, true]);
  expect(upTo(2).map((rank) => blocksTravel(open(rank, 2, 1)))).toEqual([false, false]);
});

test('rotations are announced in order, and the bell rings', () => {
  const traffic = open(0, 2, 4);
  expect(announcedCargo(traffic, 0)).toBeUndefined();
  for (const rotation of upTo(40)) {
    announceRotation(traffic, 3 * rotation);
    expect(traffic.bell[0]).toBe(rotation + 1);
    expect(announcedCargo(traffic, rotation)).toBe(3 * rotation);
    expect(announcedCargo(traffic, rotation + 1)).toBeUndefined();
  }
});

test('gatherings are counted from 0', () => {
  const traffic = open(0, 2, 4);
  expect(upTo(3).map(() => askForGathering(traffic))).toEqual([0, 1, 2]);
  expect(traffic.gatherings[asked]).toBe(3);
});
