import { describe, expect, test } from 'vitest';
import { exponentOf, mantissaOf, scaleByPowerOfTwo } from '../../../src/math/bits.ts';
import { stream } from '../../../src/math/random.ts';

const smallestNormal = 2 ** -1022;

describe('the parts of a double', () => {
  test('at powers of two and just beside them', () => {
    for (let k = -1022; k <= 1023; k += 1) {
      const power = 2 ** k;
      expect(exponentOf(power)).toBe(k);
      expect(mantissaOf(power)).toBe(1);
      const above = power * (1 + Number.EPSILON);
      expect(exponentOf(above)).toBe(k);
      expect(mantissaOf(above)).toBe(1 + Number.EPSILON);
      const last = power * (2 - Number.EPSILON);
      expect(exponentOf(last)).toBe(k);
      expect(mantissaOf(last)).toBe(2 - Number.EPSILON);
    }
  });

  test('mantissa and exponent give the number back', () => {
    const random = stream(1, 1);
    for (let i = 0; i < 2000; i += 1) {
      const x = (1 + random.uniform()) * 2 ** (random.below(2046) - 1022);
      expect(scaleByPowerOfTwo(mantissaOf(x), exponentOf(x))).toBe(x);
    }
  });
});

describe('scaling by a power of two', () => {
  test('is one rounded multiplication where the power is a double', () => {
    const random = stream(1, 2);
    for (let i = 0; i < 2000; i += 1) {
      const x = (random.uniform() - 0.5) * 2 ** (random.below(200) - 100);
      const k = random.below(2097) - 1074;
      expect(scaleByPowerOfTwo(x, k)).toBe(x * 2 ** k);
    }
  });

  test('reaches both ends without rounding twice', () => {
    expect(scaleByPowerOfTwo(0.75, 1024)).toBe(0.75 * 2 ** 1023 * 2);
    expect(scaleByPowerOfTwo(1, 1024)).toBe(Infinity);
    expect(scaleByPowerOfTwo(-1, 1024)).toBe(-Infinity);
    expect(scaleByPowerOfTwo(smallestNormal, 2044)).toBe(2 ** 1022);
    expect(scaleByPowerOfTwo(1, -1074)).toBe(Number.MIN_VALUE);
    expect(scaleByPowerOfTwo(1, -1075)).toBe(0);
    expect(scaleByPowerOfTwo(1 + Number.EPSILON, -1075)).toBe(Number.MIN_VALUE);
    expect(scaleByPowerOfTwo(2 ** 1000, -2044)).toBe(2 ** -1044);
    // A hair below 9.5 units of the subnormal grid: rounded in two steps it would end at 10.
    const belowTie = 9.5 / 8 - Number.EPSILON;
    expect(scaleByPowerOfTwo(belowTie, -1071)).toBe(9 * Number.MIN_VALUE);
    expect(scaleByPowerOfTwo(0, -2044)).toBe(0);
    expect(scaleByPowerOfTwo(smallestNormal, -2044)).toBe(0);
  });
});
