import { describe, expect, test } from 'vitest';
import { allocateWander, Wander } from '../../../src/engine/async-ring.ts';
import { whereabouts } from '../../../src/engine/block-positions.ts';
import { Ring } from '../../../src/engine/ring.ts';
import { shareTeam, Team, tokenStride } from '../../../src/engine/team.ts';
import { openTraffic } from '../../../src/parallel/traffic.ts';

const plainArena = {
  int32: (length: number) => new Int32Array(new SharedArrayBuffer(4 * length)),
  uint8: (length: number) => new Uint8Array(new SharedArrayBuffer(length)),
};

describe('where the blocks are', () => {
  test('at the beginning every worker holds its own', () => {
    const shared = shareTeam({ threads: 1, workers: 3, cores: 1 });
    expect(whereabouts(shared)).toEqual({ holders: [0, 1, 2], elsewhere: [] });
  });

  test('during a visit the visitor holds its block, as Algorithm 1 says', () => {
    const shared = shareTeam({ threads: 1, workers: 4, cores: 1 });
    const ring = new Ring(new Team(shared, 0));
    const seen: boolean[] = [];
    ring.rotate(
      ring.cargo(() => []),
      (worker, block, iteration) => {
        expect(block).toBe((worker + iteration) % 4);
        seen.push(whereabouts(shared).holders[block] === worker);
      },
    );
    expect(seen).toEqual(new Array(16).fill(true));
    expect(whereabouts(shared)).toEqual({ holders: [0, 1, 2, 3], elsewhere: [] });
  });

  test('every worker holds one block, as in Figure 2, also where one thread plays them all', () => {
    const shared = shareTeam({ threads: 1, workers: 4, cores: 1 });
    const ring = new Ring(new Team(shared, 0));
    const cargo = ring.cargo(() => []);
    for (let rotation = 0; rotation < 2; rotation++) {
      ring.rotate(cargo, (_, __, iteration) => {
        const own = (block: number) => (block + 4 - iteration) % 4;
        expect(whereabouts(shared).holders).toEqual([own(0), own(1), own(2), own(3)]);
      });
    }
  });

  test('blocks that wander are with whoever has taken them up', () => {
    const shared = shareTeam({ threads: 1, workers: 3, cores: 1 });
    const wander = new Wander(new Team(shared, 0), allocateWander(plainArena, 3));
    const seen: boolean[] = [];
    wander.rotate({ id: 0 }, (worker, block) => {
      seen.push(whereabouts(shared).holders[block] === worker);
    });
    expect(seen).toEqual(new Array(9).fill(true));
    expect(whereabouts(shared).holders).toEqual([0, 1, 2]);
  });

  test('blocks on another process are told apart, at the workers that the ring provides for', () => {
    const open = (tokens: Int32Array) => openTraffic(0, 2, 4, tokens);
    const shared = shareTeam({ threads: 1, workers: 4, cores: 1, open });
    expect(whereabouts(shared)).toEqual({ holders: [0, 1, 2, 3], elsewhere: [2, 3] });
    // Workers 0 and 1 are here. Block 0 has been with worker 0 and left for worker 3; block 1 has
    // been with worker 1 and is next at worker 0; block 2 came from worker 2 and is at worker 1.
    for (const block of [0, 1, 2]) Atomics.store(shared.tokens, block * tokenStride, 1);
    expect(whereabouts(shared)).toEqual({ holders: [3, 0, 1, 2], elsewhere: [0, 3] });
  });
});
