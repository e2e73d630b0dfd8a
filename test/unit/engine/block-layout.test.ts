/** Where blocks lie in a process that is home to some of them. */
import { describe, expect, test } from 'vitest';
import {
  type BlockLayout,
  blockOf,
  layOutBlocks,
  VisitSlots,
  workersOfRank,
  workersOfRanks,
} from '../../../src/engine/block-layout.ts';
import { blockAt } from '../../../src/engine/ring.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, k) => k);

/** Blocks of unequal length, one of them empty. */
function boundsOf(size: number): Int32Array {
  const bounds = new Int32Array(size + 1);
  for (let block = 0; block < size; block++) {
    bounds[block + 1] = bounds[block] + ((5 * block + 3) % 7) * (block === 2 ? 0 : 1);
  }
  return bounds;
}

/** Whether two blocks share a position. */
function overlap(
  { blockOffsets: at, blockLengths: lengths }: BlockLayout,
  a: number,
  b: number,
): boolean {
  const empty = lengths[a] === 0 || lengths[b] === 0;
  return !empty && at[a] < at[b] + lengths[b] && at[b] < at[a] + lengths[a];
}

const pairsOf = (blocks: readonly number[]) =>
  blocks.flatMap((one, k) => blocks.slice(k + 1).map((other) => [one, other] as const));

/** The ranks that play a worker at all. */
const cases = [1, 2, 3, 4].flatMap((ranks) =>
  upTo(7).flatMap((k) => {
    const firsts = workersOfRanks(k + 1, ranks);
    return upTo(ranks)
      .map((rank) => ({ size: k + 1, first: firsts[rank], end: firsts[rank + 1] }))
      .filter(({ first, end }) => first < end);
  }),
);

describe.each(cases)('$size blocks, home to $first up to $end', ({ size, first, end }) => {
  const bounds = boundsOf(size);
  const layout = layOutBlocks(bounds, first, end);
  const visitSlots = new VisitSlots(size, first, end);
  const isHome = (block: number) => block >= first && block < end;

  test('home blocks lie one after the other, visiting blocks behind them', () => {
    const { blockLengths, blockOffsets: at, bufferLength } = layout;
    const columns = bounds[end] - bounds[first];
    expect([...blockLengths]).toEqual(upTo(size).map((b) => bounds[b + 1] - bounds[b]));
    for (const block of upTo(size)) {
      if (isHome(block)) {
        expect(at[block]).toBe(bounds[block] - bounds[first]);
      } else {
        expect(at[block]).toBeGreaterThanOrEqual(columns);
        expect(at[block] + blockLengths[block]).toBeLessThanOrEqual(bufferLength);
        expect(visitSlots.of(block)).toBeLessThan(layout.slots);
      }
    }
    if (end - first === size) expect(bufferLength).toBe(bounds[size]);
  });

  test('blocks that are worked on, arrive or leave at the same time do not overlap', () => {
    for (let iteration = 0; iteration < size; iteration++) {
      const here = upTo(end - first).map((k) => blockAt(first + k, iteration, size));
      here.push(blockAt(end, iteration, size));
      // Before the first visitor of a rotation comes, the last one of the rotation before has left.
      if (iteration > 0) here.push(blockAt(first, iteration - 1, size));
      const blocks = [...new Set(here)];
      for (const [block, other] of pairsOf(blocks)) {
        expect(overlap(layout, block, other)).toBe(false);
      }
      const slots = blocks.filter((block) => !isHome(block)).map((k) => visitSlots.of(k));
      expect(new Set(slots).size).toBe(slots.length);
    }
  });
});

test.each(cases.filter(({ size, first, end }) => end - first < size))(
  'a slot is free after the block that was there before: $size blocks, $first up to $end',
  ({ size, first, end }) => {
    const slots = new VisitSlots(size, first, end);
    const isHome = (block: number) => block >= first && block < end;
    const slotOf = (block: number) => (isHome(block) ? `home ${block}` : `slot ${slots.of(block)}`);
    // Arrival k is block (end + k) mod p, departure k is block (first + k) mod p.
    const occupant = new Map<string, number>();
    for (let departure = 0; departure < end - first; departure++) {
      occupant.set(slotOf((first + departure) % size), departure);
    }
    for (let arrival = 0; arrival < 4 * size; arrival++) {
      const block = (end + arrival) % size;
      const before = occupant.get(slotOf(block));
      if (before !== undefined) expect(slots.freeAfter(arrival)).toBe(before);
      else expect(slots.freeAfter(arrival)).toBeLessThan(0);
      // Block b arrives as number k and leaves as number k + home.
      occupant.set(slotOf(block), arrival + end - first);
    }
  },
);

test('each rank runs its workers', () => {
  expect(upTo(3).map((rank) => workersOfRank({ rank, size: 3 }, 7))).toEqual([
    [0, 2],
    [2, 4],
    [4, 7],
  ]);
  expect(workersOfRank({ rank: 0, size: 1 }, 5)).toEqual([0, 5]);
});

test('a process that runs no worker has no visiting blocks either', () => {
  const { bufferLength, slots } = layOutBlocks(boundsOf(5), 3, 3);
  expect([bufferLength, slots]).toEqual([0, 0]);
});

test('there are slots for the visiting blocks under way, however many blocks there are', () => {
  const bounds = Int32Array.from(upTo(101), (k) => 10 * k);
  const { slots, bufferLength } = layOutBlocks(bounds, 20, 25);
  expect(slots).toBe(7);
  expect(bufferLength).toBe(50 + 70);
});

test('blockOf is a view of the columns of a block, or of their lines', () => {
  const layout = layOutBlocks(Int32Array.of(0, 2, 5, 6), 1, 2);
  const array = new Float64Array(layout.bufferLength);
  expect(array).toHaveLength(3 + 2 * 3);
  blockOf(layout, array, 1).fill(1);
  blockOf(layout, array, 2).fill(2);
  blockOf(layout, array, 0).fill(3);
  expect([...array]).toEqual([1, 1, 1, 2, 0, 0, 3, 3, 0]);
  const lines = new Int32Array(4 * layout.bufferLength);
  expect(blockOf(layout, lines, 0, 4).byteOffset).toBe(4 * 4 * 6);
  expect(blockOf(layout, lines, 0, 4)).toHaveLength(8);
});
