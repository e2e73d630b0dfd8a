import { describe, expect, test } from 'vitest';
import { whereabouts } from '../../../src/parallel/look.ts';
import { Ring } from '../../../src/parallel/ring.ts';
import { shareTeam, Team, tokenStride } from '../../../src/parallel/team.ts';
import { openTraffic } from '../../../src/parallel/traffic.ts';

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
