import { describe, expect, test } from 'vitest';
import { stream } from '../../../src/math/random.ts';
import { addScaled, CompensatedSum, dot, sum } from '../../../src/math/vectors.ts';

test.each([0, 1, 3, 4, 7, 8, 13])('dot of %i numbers', (length) => {
  const a = Float64Array.from({ length }, (_, k) => k + 1);
  const b = Float64Array.from({ length }, (_, k) => 2 * k - 3);
  let expected = 0;
  for (let k = 0; k < length; k++) expected += (k + 1) * (2 * k - 3);
  expect(dot(a, b)).toBe(expected);
});

test('addScaled adds in place', () => {
  const target = Float64Array.of(1, 2, 3);
  addScaled(target, -2, Float64Array.of(1, 0, 4));
  expect([...target]).toEqual([-1, 2, -5]);
});

describe('compensated sum', () => {
  test('keeps what plain addition loses', () => {
    expect(sum(Float64Array.of(1, 1e100, 1, -1e100))).toBe(2);
    expect(sum(new Float64Array(10).fill(0.1))).toBe(1);
  });

  test('equals the exact sum of random terms, rounded', () => {
    const random = stream(4, 1);
    // Multiples of 2^-20 below 2^30: their exact sum is an integer times 2^-20.
    const terms = Float64Array.from({ length: 5000 }, () => {
      const size = (random.nextUint32() * 2 ** 18 + (random.nextUint32() >>> 14)) * 2 ** -20;
      return random.uniform() < 0.5 ? -size : size;
    });
    let exact = 0n;
    for (const term of terms) exact += BigInt(term * 2 ** 20);
    expect(sum(terms)).toBe(Number(exact) * 2 ** -20);
  });

  test('takes other arrays, and none', () => {
    expect(sum(Float32Array.of(0.5, 0.25))).toBe(0.75);
    expect(sum(Int32Array.of(-3, 5))).toBe(2);
    expect(sum(new Float64Array(0))).toBe(0);
  });

  test('term by term it is the same, and an overflow stays an infinity', () => {
    const accumulator = new CompensatedSum();
    for (const term of [1, 1e100, 1, -1e100]) accumulator.add(term);
    expect(accumulator.total).toBe(2);
    expect(sum(Float64Array.of(1e308, 1e308))).toBe(Infinity);
  });
});
