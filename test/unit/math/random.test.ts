import { describe, expect, test } from 'vitest';
import { Random, stream } from '../../../src/math/random.ts';

const goldenIntegers = [4162604516, 2530929380, 1705729128, 3807599200, 3776057278];
const goldenUniform = 0.06373462259077001;
const goldenNormal = 0.3849759851567973;
const goldenOrder = [3, 5, 7, 2, 0, 9, 1, 4, 8, 6];

/** xoshiro128** once more, from its definition, in integers of any size. */
function* definition(start: readonly [number, number, number, number]): Generator<number> {
  const mask = 0xffffffffn;
  const rotate = (x: bigint, k: bigint) => ((x << k) | (x >> (32n - k))) & mask;
  const s = start.map(BigInt);
  for (;;) {
    yield Number((rotate((s[1] * 5n) & mask, 7n) * 9n) & mask);
    const t = (s[1] << 9n) & mask;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 11n);
  }
}

describe('the generator', () => {
  test('is xoshiro128**', () => {
    const random = new Random(1, 2, 3, 4);
    const expected = definition([1, 2, 3, 4]);
    for (let i = 0; i < 5000; i += 1) expect(random.nextUint32()).toBe(expected.next().value);
  });

  test('gives the recorded sequence, on which models and samples depend', () => {
    const random = stream(1, 0);
    expect(Array.from({ length: 5 }, () => random.nextUint32())).toEqual(goldenIntegers);
    expect(random.uniform()).toBe(goldenUniform);
    expect(random.normal()).toBe(goldenNormal);
    const order = Int32Array.from({ length: 10 }, (_, i) => i);
    random.shuffle(order, 10);
    expect([...order]).toEqual(goldenOrder);
  });

  test('survives a state of zeros', () => {
    const random = new Random(0, 0, 0, 0);
    const drawn = new Set(Array.from({ length: 20 }, () => random.nextUint32()));
    expect(drawn.size).toBeGreaterThan(10);
  });
});

describe('streams', () => {
  test('differ by seed and by id, also above 2^32', () => {
    const starts = new Set<number>();
    for (const seed of [0, 1, 2, 3, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1]) {
      for (const id of [0, 1, 2, 1000, 2 ** 32]) starts.add(stream(seed, id).uniform());
    }
    expect(starts.size).toBe(35);
  });

  test('of neighbouring ids are not correlated', () => {
    const count = 20_000;
    const [a, b] = [stream(5, 1), stream(5, 2)];
    let product = 0;
    for (let i = 0; i < count; i += 1) product += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    expect(Math.abs((product / count) * 12)).toBeLessThan(4 / Math.sqrt(count));
  });
});

describe('distributions', () => {
  test('uniform lies in [0, 1) with the right moments', () => {
    const random = stream(3, 1);
    let [total, squares] = [0, 0];
    const count = 50_000;
    for (let i = 0; i < count; i += 1) {
      const x = random.uniform();
      expect(x >= 0 && x < 1).toBe(true);
      total += x;
      squares += x * x;
    }
    expect(Math.abs(total / count - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / count));
    expect(Math.abs(squares / count - 1 / 3)).toBeLessThan(4 * Math.sqrt(4 / 45 / count));
  });

  test.each([1, 2, 3, 7, 10])('below(%i) meets every value equally often', (n) => {
    const random = stream(3, n);
    const counts = new Array<number>(n).fill(0);
    const draws = 20_000;
    for (let i = 0; i < draws; i += 1) counts[random.below(n)] += 1;
    const spread = Math.sqrt((draws / n) * (1 - 1 / n));
    for (const count of counts) expect(Math.abs(count - draws / n)).toBeLessThanOrEqual(4 * spread);
  });

  test('below reaches far numbers', () => {
    const random = stream(3, 99);
    let largest = 0;
    for (let i = 0; i < 1000; i += 1) {
      const drawn = random.below(2 ** 31);
      expect(Number.isInteger(drawn) && drawn >= 0 && drawn < 2 ** 31).toBe(true);
      largest = Math.max(largest, drawn);
    }
    expect(largest).toBeGreaterThan(2 ** 31 * 0.99);
  });

  test('normal has mean 0, variance 1 and the right tails', () => {
    const random = stream(3, 4);
    const count = 50_000;
    let [total, squares, beyond] = [0, 0, 0];
    for (let i = 0; i < count; i += 1) {
      const x = random.normal();
      total += x;
      squares += x * x;
      if (Math.abs(x) > 1.959964) beyond += 1;
    }
    expect(Math.abs(total / count)).toBeLessThan(4 / Math.sqrt(count));
    expect(Math.abs(squares / count - 1)).toBeLessThan(4 * Math.sqrt(2 / count));
    expect(Math.abs(beyond / count - 0.05)).toBeLessThan(4 * Math.sqrt((0.05 * 0.95) / count));
  });

  test('shuffle permutes the first entries only, each order equally often', () => {
    const random = stream(3, 5);
    const seen = new Map<string, number>();
    const rounds = 12_000;
    for (let i = 0; i < rounds; i += 1) {
      const items = Int32Array.of(0, 1, 2, 7, 8);
      random.shuffle(items, 3);
      expect([items[3], items[4]]).toEqual([7, 8]);
      const key = items.join();
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    expect(seen.size).toBe(6);
    for (const count of seen.values()) expect(Math.abs(count - 2000)).toBeLessThan(4 * 41);
  });
});
