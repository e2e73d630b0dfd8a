import { type TeamShared, tokenStride } from './team.ts';

/** Which worker holds which block at this moment. */
export interface Whereabouts {
  /** holders[block] is the worker that was the last to take it up. */
  readonly holders: readonly number[];
  /** Blocks that are with another process: their holders are those that the ring provides for. */
  readonly elsewhere: readonly number[];
}

/** Looks at a team from outside, while it works. Takes no lock: a block may just be moving on. */
export function whereabouts(shared: TeamShared): Whereabouts {
  const { workers, holders, tokens, traffic, first, end } = shared;
  if (!traffic) return { holders: [...holders], elsewhere: [] };
  const visits = Array.from({ length: workers }, (_, b) => Atomics.load(tokens, b * tokenStride));
  // Block b meets worker b − t after t visits.
  const workerAfter = (block: number, made: number) =>
    (block + workers * Math.ceil(made / workers) - made) % workers;
  const next = visits.map((made, block) => workerAfter(block, made));
  const isHere = next.map((worker) => worker >= first && worker < end);
  const newest = visits.reduce(
    (most, made, block) => (isHere[block] ? Math.max(most, made) : most),
    0,
  );
  return {
    holders: next.map((worker, block) => {
      if (isHere[block]) return worker;
      const expected = workerAfter(block, Math.max(newest, visits[block]));
      return expected >= first && expected < end ? worker : expected;
    }),
    elsewhere: next.flatMap((_, block) => (isHere[block] ? [] : [block])),
  };
}
