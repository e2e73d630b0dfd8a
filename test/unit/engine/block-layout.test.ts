/** Where blocks lie in a process that is home to some of them. */
import { describe, expect, test } from 'vitest';
import { blockAt } from '../../../src/engine/ring.ts';
import { blockOf, type Lodging, lodge } from '../../../src/parallel/lodging.ts';
import { workersOfRanks } from '../../../src/parallel/traffic.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, k) => k);

/** Blocks of unequal length, one of them empty. */
function boundsOf(size: number): Int32Array {
  const bounds = new Int32Array(size + 1);
  for (let block = 0; block < size; block++) {
    bounds[block + 1] = bounds[block] + ((5 * block + 3) % 7) * (block === 2 ? 0 : 1);
  }
  return bounds;
}

/** Whether two blocks have a place in common. */
function overlap({ blockAt: at, blockLengths: lengths }: Lodging, a: number, b: number): boolean {
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
  const lodging = lodge(bounds, first, end);
  const isHome = (block: number) => block >= first && block < end;

  test('blocks at home lie one after the other, guests behind them', () => {
    const { blockLengths, blockAt: at, blockSlot, travelling } = lodging;
    const columns = bounds[end] - bounds[first];
    expect([...blockLengths]).toEqual(upTo(size).map((b) => bounds[b + 1] - bounds[b]));
    for (const block of upTo(size)) {
      if (isHome(block)) {
        expect(at[block]).toBe(bounds[block] - bounds[first]);
        expect(blockSlot[block]).toBe(-1);
      } else {
        expect(at[block]).toBeGreaterThanOrEqual(columns);
        expect(at[block] + blockLengths[block]).toBeLessThanOrEqual(travelling);
        expect(blockSlot[block]).toBeLessThan(lodging.slots);
      }
    }
    if (end - first === size) expect(travelling).toBe(bounds[size]);
  });

  test('blocks that are worked on, arrive or leave at a time are in places of their own', () => {
    for (let iteration = 0; iteration < size; iteration++) {
      const here = upTo(end - first).map((k) => blockAt(first + k, iteration, size));
      here.push(blockAt(end, iteration, size));
      // Before the first guest of a rotation comes, the last one of the rotation before has left.
      if (iteration > 0) here.push(blockAt(first, iteration - 1, size));
      const blocks = [...new Set(here)];
      for (const [block, other] of pairsOf(blocks)) {
        expect(overlap(lodging, block, other)).toBe(false);
      }
      const slots = blocks.filter((block) => !isHome(block)).map((k) => lodging.blockSlot[k]);
      expect(new Set(slots).size).toBe(slots.length);
    }
  });
});

test('a process that plays no worker has no guests either', () => {
  const { travelling, slots } = lodge(boundsOf(5), 3, 3);
  expect([travelling, slots]).toEqual([0, 0]);
});

test('as many guests have room as can be under way, however many blocks there are', () => {
  const bounds = Int32Array.from(upTo(101), (k) => 10 * k);
  const { slots, travelling } = lodge(bounds, 20, 25);
  expect(slots).toBe(7);
  expect(travelling).toBe(50 + 70);
});

test('blockOf is a view of the columns of a block, or of their lines', () => {
  const lodging = lodge(Int32Array.of(0, 2, 5, 6), 1, 2);
  const array = new Float64Array(lodging.travelling);
  expect(array).toHaveLength(3 + 2 * 3);
  blockOf(lodging, array, 1).fill(1);
  blockOf(lodging, array, 2).fill(2);
  blockOf(lodging, array, 0).fill(3);
  expect([...array]).toEqual([1, 1, 1, 2, 0, 0, 3, 3, 0]);
  const lines = new Int32Array(4 * lodging.travelling);
  expect(blockOf(lodging, lines, 0, 4).byteOffset).toBe(4 * 4 * 6);
  expect(blockOf(lodging, lines, 0, 4)).toHaveLength(8);
});
