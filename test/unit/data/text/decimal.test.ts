import { describe, expect, test } from 'vitest';
import { malformed, scanFloat32, scanFloat64 } from '../../../../src/data/text/decimal.ts';
import { stream } from '../../../../src/math/random.ts';
import { float32Format, float64Format, isNearest, unitsOf } from '../support/rounding-oracle.ts';

function scan(text: string, ending = '\n') {
  const bytes = new Uint8Array(Buffer.from(`${text}${ending}`));
  const single = new Float32Array(1);
  const double = new Float64Array(1);
  const end32 = scanFloat32(bytes, 0, single, 0);
  const end64 = scanFloat64(bytes, 0, double, 0);
  return { end32, end64, single: single[0], double: double[0] };
}

/** The number a scanner found, Infinity where it rejected one as too large. */
function expectNearest(text: string): void {
  const { end32, end64, single, double } = scan(text);
  const unsigned = text.replace(/^[+-]/, '');
  const found32 = end32 === malformed ? Infinity : Math.abs(single);
  const found64 = end64 === malformed ? Infinity : Math.abs(double);
  if (!isNearest(unsigned, found32, float32Format)) expect.fail(`${text} → float32 ${found32}`);
  if (!isNearest(unsigned, found64, float64Format)) expect.fail(`${text} → float64 ${found64}`);
}

/** An exact decimal of units · 2^-scale. */
function decimalOf(units: bigint, scale: bigint): string {
  const digits = (units * 5n ** scale).toString().padStart(Number(scale) + 1, '0');
  const point = digits.length - Number(scale);
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

const random = stream(7, 1);
const digitsOf = (count: number) =>
  Array.from({ length: count }, () => String(random.below(10))).join('');

describe('the oracle', () => {
  test('knows the right float from its neighbours', () => {
    expect(isNearest('0.1', Math.fround(0.1), float32Format)).toBe(true);
    expect(isNearest('0.1', 0.1, float64Format)).toBe(true);
    expect(isNearest('0.1', Math.fround(0.10000001), float32Format)).toBe(false);
    expect(isNearest('0.1', 0.1 + 2 ** -56, float64Format)).toBe(false);
    expect(isNearest('1e39', Infinity, float32Format)).toBe(true);
    expect(isNearest('3.4e38', Infinity, float32Format)).toBe(false);
  });
});

describe('forms', () => {
  test.each([
    ['1', 1],
    ['+1', 1],
    ['-1', -1],
    ['0', 0],
    ['5.', 5],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['1e5', 1e5],
    ['1E5', 1e5],
    ['1e+5', 1e5],
    ['25e-2', 0.25],
    ['5.e1', 50],
    ['.5e1', 5],
    ['00012.500', 12.5],
    ['0.000000000000000000000000001', 1e-27],
    ['123456789012345678901234567890', 12345678901234568e13],
    ['1e-0000000000000000000000000001', 0.1],
    ['6.2699720e-02', 0.06269972],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['4.9406564584124654e-324', Number.MIN_VALUE],
  ])('%s', (text, value) => {
    const { end64, double } = scan(text);
    expect(end64).toBe(text.length);
    expect(double).toBe(value);
    expectNearest(text);
  });

  test('exponents beyond any number', () => {
    expect(scan('0e999999999999999999')).toMatchObject({ single: 0, double: 0 });
    expect(scan('1e-999999999999999999')).toMatchObject({ single: 0, double: 0 });
    expect(scan('1e999999999999999999')).toMatchObject({ end32: malformed, end64: malformed });
  });

  test('-0 is the label 0', () => {
    for (const text of ['-0', '-0.0', '-0e5']) expect(scan(text).double).toBe(0);
  });

  test.each([
    '',
    '+',
    '-',
    '.',
    '+.',
    'e5',
    '.e5',
    '1e',
    '1e+',
    '1e-',
    '1.2.3',
    '--1',
    '+-1',
    '1-',
    '1x',
    'x1',
    '0x10',
    '1_000',
    '1,5',
    'nan',
    'NaN',
    'inf',
    'Infinity',
    '1e5.5',
    '1:2',
  ])('rejects "%s"', (text) => {
    const { end32, end64 } = scan(text);
    expect([end32, end64]).toEqual([malformed, malformed]);
  });

  test('rejects what is too large, at the exact limit', () => {
    // The middle between the largest float32 and 2^128 rounds to even: to infinity.
    const middle = 2n ** 128n - 2n ** 103n;
    expect(scan(`${middle - 1n}`).single).toBe(3.4028234663852886e38);
    expect(scan(`${middle}`).end32).toBe(malformed);
    expect(scan(`-${middle}`).end32).toBe(malformed);
    expect(scan('1e309').end64).toBe(malformed);
    expect(scan('1e400').end32).toBe(malformed);
    expect(scan(`1${'0'.repeat(400)}`).end64).toBe(malformed);
    expect(scan(`1${'0'.repeat(400)}e-400`).double).toBe(1);
  });

  test.each([' ', '\t', '\r\n', '\n', '#'])('ends at %j', (ending) => {
    for (const text of ['7', '0.25', '-1.5e3', '0.12345678901234']) {
      const { end32, end64, single } = scan(text, ending);
      expect([end32, end64]).toEqual([text.length, text.length]);
      expect(single).toBe(Math.fround(Number(text)));
    }
  });
});

describe('correctly rounded', () => {
  test('short decimals, as data files have them', () => {
    for (let trial = 0; trial < 20000; trial += 1) {
      const whole = random.below(3) > 0 ? '0' : digitsOf(1 + random.below(4));
      expectNearest(`${whole}.${digitsOf(1 + random.below(9))}`);
    }
  });

  test('any number of digits, any exponent', () => {
    for (let trial = 0; trial < 20000; trial += 1) {
      const mantissa = `${digitsOf(1 + random.below(20))}.${digitsOf(random.below(20))}`;
      const exponent = random.below(2) > 0 ? `e${random.below(110) - 60}` : '';
      expectNearest(mantissa + exponent);
    }
  });

  test('float64 over its whole range of exponents', () => {
    for (let trial = 0; trial < 5000; trial += 1) {
      const exponent = random.below(660) - 345;
      expectNearest(`${digitsOf(1 + random.below(25))}e${exponent}`);
    }
  });

  test('subnormals', () => {
    for (let trial = 0; trial < 5000; trial += 1) {
      expectNearest(`${digitsOf(1 + random.below(18))}e-${38 + random.below(26)}`);
    }
    expect(scan('1.4e-45').single).toBe(2 ** -149);
    expect(scan('7.1e-46').single).toBe(2 ** -149);
    expect(scan('7e-46').single).toBe(0);
  });

  test('midpoints of adjacent float32 and their closest surroundings', () => {
    for (let trial = 0; trial < 3000; trial += 1) {
      const bits = BigInt(random.below(0x7f800000));
      const twice = unitsOf(bits, float32Format) + unitsOf(bits + 1n, float32Format);
      const exact = decimalOf(twice, 150n);
      expectNearest(exact);
      expectNearest(`${exact}${'0'.repeat(30)}1`);
      expectNearest(exact.slice(0, -1));
      // Cut to the digits that a float64 holds: where rounding twice goes wrong.
      const short = Number(exact).toPrecision(17);
      expectNearest(short);
    }
  });

  test('through float64: the nearest float32 of the nearest float64', () => {
    const single = new Float32Array(1);
    for (let repeat = 0; repeat < 2000; repeat += 1) {
      const first = Math.fround(random.uniform());
      const middle = (first + first + 2 ** -24 * 2 ** Math.floor(Math.log2(first) + 1)) / 2;
      for (const text of [`${middle}`, `${middle}1`, `-${middle}e-3`, middle.toFixed(20)]) {
        const bytes = new Uint8Array(Buffer.from(`${text}\n`));
        expect(scanFloat32(bytes, 0, single, 0, true)).toBe(text.length);
        if (!Object.is(single[0], Math.fround(Number(text)))) expect.fail(`${text} → ${single[0]}`);
      }
    }
  });

  test('midpoints near 1 with few digits, through the short form', () => {
    for (let numerator = 1; numerator < 2 ** 11; numerator += 2) {
      const exact = decimalOf(BigInt(2 ** 24 + 1) * BigInt(numerator), 40n);
      expectNearest(exact);
      for (let length = 3; length < 17; length += 1) expectNearest(exact.slice(0, length));
    }
  });

  test('midpoints of adjacent float64', () => {
    for (let trial = 0; trial < 500; trial += 1) {
      const bits = BigInt(Math.floor(random.uniform() * 0x7fe00000)) << 32n;
      const low = bits + BigInt(random.nextUint32());
      const twice = unitsOf(low, float64Format) + unitsOf(low + 1n, float64Format);
      const exact = decimalOf(twice, 1075n);
      expectNearest(exact);
      expectNearest(`${exact}1`);
    }
  });
});
