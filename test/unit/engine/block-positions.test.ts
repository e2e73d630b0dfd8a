import { describe, expect, test } from 'vitest';
import { AsyncRing, allocateAsyncRing } from '../../../src/engine/async-ring.ts';
import { blockPositions, Ring } from '../../../src/engine/ring.ts';
import { shareTeam, Team, tokenStride } from '../../../src/engine/team.ts';

const plainArena = {
  int32: (length: number) => new Int32Array(new SharedArrayBuffer(4 * length)),
  uint8: (length: number) => new Uint8Array(new SharedArrayBuffer(length)),
};

describe('where the blocks are', () => {
  test('at the beginning every worker holds its own', () => {
    const shared = shareTeam({ threads: 1, workers: 3, cores: 1 });
    expect(blockPositions(shared)).toEqual({ holders: [0, 1, 2], elsewhere: [] });
  });

  test('during a visit the visitor holds its block, as Algorithm 1 says', () => {
    const shared = shareTeam({ threads: 1, workers: 4, cores: 1 });
    const ring = new Ring(new Team(shared, 0));
    const seen: boolean[] = [];
    ring.rotate(
      ring.fields(() => []),
      (worker, block, iteration) => {
        expect(block).toBe((worker + iteration) % 4);
        seen.push(blockPositions(shared).holders[block] === worker);
      },
    );
    expect(seen).toEqual(new Array(16).fill(true));
    expect(blockPositions(shared)).toEqual({ holders: [0, 1, 2, 3], elsewhere: [] });
  });

  test('every worker holds one block, as in Figure 2, also where one thread runs them all', () => {
    const shared = shareTeam({ threads: 1, workers: 4, cores: 1 });
    const ring = new Ring(new Team(shared, 0));
    const fields = ring.fields(() => []);
    for (let rotation = 0; rotation < 2; rotation++) {
      ring.rotate(fields, (_, __, iteration) => {
        const own = (block: number) => (block + 4 - iteration) % 4;
        expect(blockPositions(shared).holders).toEqual([own(0), own(1), own(2), own(3)]);
      });
    }
  });

  test('blocks of the async ring are with the worker that took them last', () => {
    const shared = shareTeam({ threads: 1, workers: 3, cores: 1 });
    const ring = new AsyncRing(new Team(shared, 0), allocateAsyncRing(plainArena, 3));
    const seen: boolean[] = [];
    ring.rotate({ id: 0 }, (worker, block) => {
      seen.push(blockPositions(shared).holders[block] === worker);
    });
    expect(seen).toEqual(new Array(9).fill(true));
    expect(blockPositions(shared).holders).toEqual([0, 1, 2]);
  });

  test('blocks in another process are listed, with the workers that follow from the ring', () => {
    const group = { rank: 0, size: 2 };
    const shared = shareTeam({ threads: 1, workers: 4, cores: 1, group });
    expect(blockPositions(shared)).toEqual({ holders: [0, 1, 2, 3], elsewhere: [2, 3] });
    // Workers 0 and 1 are here. Block 0 has been with worker 0 and left for worker 3; block 1 has
    // been with worker 1 and is next at worker 0; block 2 came from worker 2 and is at worker 1.
    for (const block of [0, 1, 2]) Atomics.store(shared.tokens, block * tokenStride, 1);
    expect(blockPositions(shared)).toEqual({ holders: [3, 0, 1, 2], elsewhere: [0, 3] });
  });
});
