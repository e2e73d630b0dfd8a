import { describe, expect, test } from 'vitest';
import {
  add,
  type DoubleDouble,
  DoubleDoubleSums,
  divide,
  exact,
  exp,
  log,
  log1p,
  multiply,
  product,
  subtract,
} from '../../../src/math/double-double.ts';
import { fc } from '../../support/property.ts';

/** A number of 106 bits as a fraction n / 2^1200, without any rounding. */
const scale = 1200n;

function fraction({ hi, lo }: DoubleDouble): bigint {
  return bitsOf(hi) + bitsOf(lo);
}

function bitsOf(x: number): bigint {
  if (x === 0) return 0n;
  let exponent = 0;
  let mantissa = x;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent++;
  }
  return (BigInt(mantissa) << scale) >> BigInt(exponent);
}

/** |found − expected| ≤ 2^-bits |expected| */
function expectWithin(found: DoubleDouble, expected: bigint, bits: bigint): void {
  const size = (x: bigint) => (x < 0n ? -x : x);
  const error = size(fraction(found) - expected);
  expect(error <= size(expected) >> bits).toBe(true);
}

const part = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((x) => x + 2 ** -40);
const numbers = fc.tuple(part, part).map(([a, b]) => add(exact(a), exact(b * 2 ** -60)));

describe('an operation has 100 bits', () => {
  test('addition, of numbers with one sign', () => {
    fc.assert(
      fc.property(numbers, numbers, (x, y) => {
        fc.pre(x.hi > 0 === y.hi > 0);
        expectWithin(add(x, y), fraction(x) + fraction(y), 100n);
      }),
    );
  });

  test('subtraction loses no bits of what it is given', () => {
    fc.assert(
      fc.property(numbers, part, (x, small) => {
        const y = add(x, exact(small * 2 ** -80));
        expectWithin(subtract(y, x), fraction(y) - fraction(x), 50n);
      }),
    );
  });

  test('multiplication and division', () => {
    fc.assert(
      fc.property(numbers, numbers, (x, y) => {
        fc.pre(Math.abs(x.hi) > 1e-9 && Math.abs(y.hi) > 1e-9);
        expectWithin(multiply(x, y), (fraction(x) * fraction(y)) >> scale, 99n);
        expectWithin(divide(x, y), (fraction(x) << scale) / fraction(y), 98n);
      }),
    );
  });
});

test('the product of two doubles is exact, of the largest ones too', () => {
  expect(product(1 + 2 ** -52, 1 + 2 ** -52)).toEqual({ hi: 1 + 2 ** -51, lo: 2 ** -104 });
  const { hi, lo } = product(2 ** 1000 * (1 + 2 ** -52), 2 ** -1000 * (1 + 2 ** -52));
  expect({ hi, lo }).toEqual({ hi: 1 + 2 ** -51, lo: 2 ** -104 });
  expect(product(1e300, 1e300).hi).toBe(Infinity);
});

/** From tables, to 40 digits. */
const known: readonly [string, DoubleDouble, bigint][] = [
  ['e', exp(exact(1)), 2718281828459045235360287471352662497757n],
  [
    'e^-10, times 10^5',
    multiply(exp(exact(-10)), exact(1e5)),
    4539992976248485153559151556055061023792n,
  ],
  ['e^0.1', exp(divide(exact(1), exact(10))), 1105170918075647624811707826490246668225n],
  ['log 2', log(exact(2)), 693147180559945309417232121458176568076n],
  ['log 10', log(exact(10)), 2302585092994045684017991454684364207601n],
  [
    'log (1 + 2^-40), times 2^40',
    multiply(log1p(exact(2 ** -40)), exact(2 ** 40)),
    // 1 − 2^-41 + 2^-80 / 3 − 2^-122
    (10n ** 39n * (3n * 2n ** 122n - 3n * 2n ** 81n + 2n ** 42n - 3n)) / (3n * 2n ** 122n),
  ],
];

test.each(known)('%s', (_, found, digits) => {
  expectWithin(found, (digits << scale) / 10n ** 39n, 95n);
});

test('the logarithm undoes the exponential, far from 0 as well', () => {
  for (const x of [-600, -300.3, -1, -1e-8, 1e-8, 3.7, 250, 690]) {
    const error = subtract(log(exp(exact(x))), exact(x));
    expect(Math.abs(error.hi)).toBeLessThanOrEqual(2 ** -92 * Math.max(1, Math.abs(x)));
  }
  expect(exp(exact(800)).hi).toBe(Infinity);
  expect(exp(exact(-800)).hi).toBe(0);
  expect(log(exact(0)).hi).toBe(-Infinity);
  expect(log(exact(2 ** -1070)).hi).toBeCloseTo(-1070 * Math.LN2, 10);
});

test('a sum keeps what doubles lose', () => {
  const sums = new DoubleDoubleSums(2);
  for (const x of [1e16, 1, 1e-3, -1e16, -1]) sums.add(1, exact(x));
  expect(sums.at(1).hi).toBeCloseTo(1e-3, 14);
  expect(sums.at(0)).toEqual({ hi: 0, lo: 0 });
});
