import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatGap,
  formatGapUp,
  formatNumber,
  formatPercent,
  formatPercentUp,
  formatSeconds,
  plural,
} from '../../../src/reporting/format.ts';
import { fc } from '../../support/property.ts';

test('counts, numbers, gaps and percentages', () => {
  expect(formatCount(1234567)).toBe('1,234,567');
  expect(formatNumber(0.311330943)).toBe('0.311331');
  expect(formatNumber(12)).toBe('12');
  expect(formatNumber(0)).toBe('0');
  expect(formatNumber(-0.00001234)).toBe('-1.234e-5');
  expect(formatNumber(Infinity)).toBe('–');
  expect(formatGap(0.00079)).toBe('7.9e-4');
  expect(formatGap(Infinity)).toBe('–');
  expect(formatPercent(0.04314)).toBe('4.31 %');
});

test('a certified gap and percentage', () => {
  const both = (gap: number): string[] => [formatGapUp(gap), formatPercentUp(gap)];
  expect(both(0.000791)).toEqual(['8.0e-4', '0.080 %']);
  expect(both(0.00079)).toEqual(['7.9e-4', '0.079 %']);
  expect(both(0.000951)).toEqual(['9.6e-4', '0.096 %']);
  expect(both(0.0999)).toEqual(['1.0e-1', '10 %']);
  expect(both(0.5)).toEqual(['5.0e-1', '50 %']);
  expect(both(1)).toEqual(['1.0e0', '100 %']);
  expect(both(0)).toEqual(['0', '0 %']);
  expect(both(1e-20)).toEqual(['1.0e-20', '1.0e-18 %']);
});

test('a certificate is never below the truth', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-30, max: 1, noNaN: true }), (gap) => {
      const claimed = Number(formatGapUp(gap));
      expect(claimed).toBeGreaterThanOrEqual(gap);
      expect(claimed).toBeLessThanOrEqual(gap * 1.1001);
      expect(Number.parseFloat(formatPercentUp(gap)) / claimed).toBeCloseTo(100, 9);
    }),
  );
});

test('seconds', () => {
  expect([0.4123, 3.12, 9.96, 42.4, 75, 3599.6, 7530].map(formatSeconds)).toEqual([
    '0.41 s',
    '3.1 s',
    '10 s',
    '42 s',
    '1 min 15 s',
    '1 h 0 min',
    '2 h 6 min',
  ]);
});

test('bytes', () => {
  expect([12, 999, 1000, 1530000, 25e6, 3.2e9, 4e15].map(formatBytes)).toEqual([
    '12 B',
    '999 B',
    '1.0 kB',
    '1.5 MB',
    '25 MB',
    '3.2 GB',
    '4000 TB',
  ]);
});

test('plurals', () => {
  expect([plural(1, 'row'), plural(2000, 'row')]).toEqual(['1 row', '2,000 rows']);
});
