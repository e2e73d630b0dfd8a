import { describe, expect, test } from 'vitest';
import { clamp, log1pExp, sigmoid, softThreshold, xlogx } from '../../../src/math/scalars.ts';
import { ulpDistance } from './ulp.ts';

describe('log1pExp', () => {
  test('far out it is x or e^x', () => {
    expect(log1pExp(1e3)).toBe(1e3);
    expect(log1pExp(1e308)).toBe(1e308);
    expect(log1pExp(-1e3)).toBe(0);
    expect(ulpDistance(log1pExp(-40), Math.exp(-40))).toBeLessThanOrEqual(2);
    expect(log1pExp(-744)).toBe(Math.exp(-744));
    expect(log1pExp(Infinity)).toBe(Infinity);
    expect(log1pExp(-Infinity)).toBe(0);
  });

  test('in between it is the textbook form', () => {
    expect(log1pExp(0)).toBe(Math.LN2);
    for (let x = -30; x <= 30; x += 0.13) {
      const expected = Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
      expect(ulpDistance(log1pExp(x), expected)).toBeLessThanOrEqual(4);
    }
    expect(ulpDistance(log1pExp(1e-300), Math.LN2)).toBeLessThanOrEqual(1);
  });
});

describe('sigmoid', () => {
  test('far out it is e^x or 1', () => {
    expect(sigmoid(1e3)).toBe(1);
    expect(sigmoid(-1e3)).toBe(0);
    expect(sigmoid(-740)).toBe(Math.exp(-740));
    expect(sigmoid(Infinity)).toBe(1);
    expect(sigmoid(-Infinity)).toBe(0);
  });

  test('in between it is the textbook form, and odd about ½', () => {
    expect(sigmoid(0)).toBe(0.5);
    expect(sigmoid(1e-20)).toBe(0.5);
    for (let x = -30; x <= 30; x += 0.13) {
      expect(ulpDistance(sigmoid(x), 1 / (1 + Math.exp(-x)))).toBeLessThanOrEqual(4);
      expect(Math.abs(sigmoid(x) + sigmoid(-x) - 1)).toBeLessThanOrEqual(2.3e-16);
    }
  });
});

test('xlogx is continued by 0', () => {
  expect(xlogx(0)).toBe(0);
  expect(xlogx(-1e-18)).toBe(0);
  expect(xlogx(1)).toBe(0);
  expect(xlogx(Number.MIN_VALUE)).toBe(Number.MIN_VALUE * -744.4400719213812);
  expect(ulpDistance(xlogx(Math.E), Math.E)).toBeLessThanOrEqual(2);
  expect(ulpDistance(xlogx(1e3), 6907.755278982137)).toBeLessThanOrEqual(2);
});

test('softThreshold', () => {
  expect(softThreshold(3, 1)).toBe(2);
  expect(softThreshold(-3, 1)).toBe(-2);
  expect(softThreshold(1, 1)).toBe(0);
  expect(softThreshold(-0.5, 1)).toBe(0);
  expect(softThreshold(-1e3, 0)).toBe(-1e3);
  expect(softThreshold(1e-300, 1e-301)).toBeCloseTo(9e-301, 310);
});

test('clamp', () => {
  expect(clamp(5, -1, 1)).toBe(1);
  expect(clamp(-5, -1, 1)).toBe(-1);
  expect(clamp(0.25, -1, 1)).toBe(0.25);
  expect(clamp(Infinity, 0, 1)).toBe(1);
  expect(clamp(-7, -Infinity, 0)).toBe(-7);
});
