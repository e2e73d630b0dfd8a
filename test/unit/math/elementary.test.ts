import { describe, expect, test } from 'vitest';
import { exp, log, log1p, logit } from '../../../src/math/elementary.ts';
import { stream } from '../../../src/math/random.ts';
import { ulpDistance } from './ulp.ts';

/** The built-in functions are within one ulp of the truth, ours too. */
const allowed = 2;

function worstDistance(
  ours: (x: number) => number,
  builtIn: (x: number) => number,
  draw: () => number,
): number {
  let worst = 0;
  for (let i = 0; i < 20_000; i += 1) {
    const x = draw();
    worst = Math.max(worst, ulpDistance(ours(x), builtIn(x)));
  }
  return worst;
}

describe('exp', () => {
  const random = stream(2, 1);
  test.each([
    ['near 0', () => (random.uniform() - 0.5) * 1e-3],
    ['within ±3', () => (random.uniform() - 0.5) * 6],
    ['over all normal results', () => random.uniform() * 1417 - 708],
    ['over subnormal results', () => -708 - random.uniform() * 37],
  ])('%s', (_name, draw) => {
    expect(worstDistance(exp, Math.exp, draw)).toBeLessThanOrEqual(allowed);
  });

  test('at the ends', () => {
    expect(exp(0)).toBe(1);
    expect(exp(-0)).toBe(1);
    expect(ulpDistance(exp(709.782712893384), 1.797693134862273e308)).toBeLessThanOrEqual(allowed);
    expect(exp(709.7827128933841)).toBe(Infinity);
    expect(exp(1e308)).toBe(Infinity);
    expect(exp(Infinity)).toBe(Infinity);
    expect(exp(-745)).toBe(Number.MIN_VALUE);
    expect(exp(-745.14)).toBe(0);
    expect(exp(-Infinity)).toBe(0);
    expect(exp(Number.NaN)).toBeNaN();
  });
});

describe('log', () => {
  const random = stream(2, 2);
  test.each([
    ['near 1', () => 1 + (random.uniform() - 0.5) * 1e-3],
    ['within [0, 4]', () => random.uniform() * 4],
    ['over all normal numbers', () => (1 + random.uniform()) * 2 ** (random.below(2046) - 1022)],
    ['over subnormal numbers', () => random.nextUint32() * Number.MIN_VALUE],
  ])('%s', (_name, draw) => {
    expect(worstDistance(log, Math.log, draw)).toBeLessThanOrEqual(allowed);
  });

  test('at the ends', () => {
    expect(log(1)).toBe(0);
    expect(log(0)).toBe(-Infinity);
    expect(log(-0)).toBe(-Infinity);
    expect(log(Number.MIN_VALUE)).toBe(-744.4400719213812);
    expect(log(Number.MAX_VALUE)).toBe(709.782712893384);
    expect(log(Infinity)).toBe(Infinity);
    expect(log(-Number.MIN_VALUE)).toBeNaN();
    expect(log(-Infinity)).toBeNaN();
    expect(log(Number.NaN)).toBeNaN();
  });

  test('undoes exp', () => {
    for (let x = -700; x <= 700; x += 0.37) {
      expect(Math.abs(log(exp(x)) - x)).toBeLessThanOrEqual(4e-16 * Math.max(1, Math.abs(x)));
    }
  });
});

describe('log1p', () => {
  const random = stream(2, 3);
  test.each([
    ['near 0', () => (random.uniform() - 0.5) * 1e-6],
    ['within (−1, 3)', () => random.uniform() * 4 - 1],
    ['where 1 + x forgets x', () => (random.uniform() - 0.5) * 2 ** -random.below(1000)],
    ['over large numbers', () => (1 + random.uniform()) * 2 ** random.below(1023)],
  ])('%s', (_name, draw) => {
    expect(worstDistance(log1p, Math.log1p, draw)).toBeLessThanOrEqual(3);
  });

  test('at the ends', () => {
    expect(log1p(-0)).toBe(-0);
    expect(log1p(1e-320)).toBe(1e-320);
    expect(log1p(-1)).toBe(-Infinity);
    expect(log1p(-1.5)).toBeNaN();
    expect(log1p(Infinity)).toBe(Infinity);
    expect(log1p(Number.NaN)).toBeNaN();
  });
});

describe('logit', () => {
  test('is the inverse of the logistic function, accurate also near ½ and near 0', () => {
    const random = stream(3, 9);
    for (let k = 0; k < 20_000; k++) {
      const x = k % 2 === 0 ? random.uniform() : 10 ** (-300 * random.uniform());
      // Near ½ the difference of logarithms cancels, and the built-in artanh has a few ulp.
      const near = Math.abs(x - 0.5) < 0.1;
      const expected = near ? 2 * Math.atanh(2 * x - 1) : Math.log(x) - Math.log1p(-x);
      expect(Math.abs(logit(x) - expected)).toBeLessThanOrEqual(
        (near ? 2e-14 : 5e-16) * Math.abs(expected),
      );
    }
  });

  test('at the ends of its domain', () => {
    expect(logit(0)).toBe(-Infinity);
    expect(logit(1)).toBe(Infinity);
    expect(logit(0.5)).toBe(0);
  });
});
