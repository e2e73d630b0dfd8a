import { describe, expect, test } from 'vitest';
import { stream } from '../../../src/math/random.ts';
import { SegmentOrder } from '../../../src/solvers/orders.ts';

const upTo = (count: number) => Int32Array.from({ length: count }, (_, item) => item);

describe('the order of rows', () => {
  test('of one segment is a plain shuffle, draw by draw', () => {
    const order = new SegmentOrder(Int32Array.of(0, 100), 16);
    const [items, plain] = [upTo(100), upTo(100)];
    const [ours, theirs] = [stream(3, 1), stream(3, 1)];
    for (let epoch = 0; epoch < 3; epoch++) {
      order.shuffle(items, 16, ours);
      theirs.shuffle(plain, plain.length);
      expect(items).toEqual(plain);
    }
    expect(ours.nextUint32()).toBe(theirs.nextUint32());
  });

  test.each([
    ['rows', 16, 200],
    ['runs', 1, 13],
  ] as const)('of several segments goes from one to the next: %s', (_, itemsPerRun, count) => {
    const starts = Int32Array.of(0, 32, 80, 144, 200);
    const order = new SegmentOrder(starts, 16);
    const random = stream(4, 1);
    const items = upTo(count);
    const firsts = new Set<number>();
    for (let epoch = 0; epoch < 20; epoch++) {
      order.shuffle(items, itemsPerRun, random);
      expect([...items].sort((left, right) => left - right)).toEqual([...upTo(count)]);
      const rows = [...items].map((item) => (itemsPerRun === 1 ? 16 * item : item));
      const segments = rows.map((row) => starts.findLastIndex((start) => start <= row));
      const met = segments.filter((segment, position) => segment !== segments[position - 1]);
      expect(met).toHaveLength(4);
      firsts.add(met[0]);
    }
    expect(firsts.size).toBe(4);
  });

  test('can be continued from the items and the state of the generator', () => {
    const starts = Int32Array.of(0, 32, 80, 144, 200);
    const [random, items] = [stream(4, 1), upTo(200)];
    const order = new SegmentOrder(starts, 16);
    order.shuffle(items, 16, random);
    const words = new Int32Array(4);
    random.store(words);
    const other = items.slice();
    order.shuffle(items, 16, random);
    const later = stream(9, 9);
    later.load(words);
    new SegmentOrder(starts, 16).shuffle(other, 16, later);
    expect(other).toEqual(items);
  });
});
