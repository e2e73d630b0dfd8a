import { expect, test } from 'vitest';
import { hatchedWorkers, hatches, workerColor } from '../../../../ui/src/panels/grid-colors.ts';
import { rangeWithZero, sparkPath } from '../../../../ui/src/panels/spark.ts';
import { cutMiddle, formatShare, formatSi, formatWeight } from '../../../../ui/src/shared/words.ts';

const box = { width: 100, height: 10 };
const points = (...values: (number | null)[]) => values.map((y, x) => ({ x, y }));

test('a line goes through all points, up for larger values', () => {
  expect(sparkPath(points(0, 1, 0.5), box)).toBe('M0 10L50 0L100 5');
});

test('a gap breaks the line, and a lonely point is a dash', () => {
  expect(sparkPath(points(0, 1, null, 1, null), box)).toBe('M0 10L25 0M73 0h4');
  expect(sparkPath(points(1, null, null), box)).toBe('M0 5h4');
  expect(sparkPath(points(null, null, 1), box)).toBe('M96 5h4');
  expect(sparkPath(points(null, null), box)).toBe('');
  expect(sparkPath([], box)).toBe('');
});

test('given ranges hold; a constant runs through the middle', () => {
  expect(sparkPath(points(1, 1), { ...box, y: [0, 2] })).toBe('M0 5L100 5');
  expect(sparkPath(points(3, 3), box)).toBe('M0 5L100 5');
  expect(rangeWithZero(points(-2, null, -1))).toEqual([-2, 0]);
  expect(rangeWithZero(points(3, 2))).toEqual([0, 3]);
});

test('the first 21 workers differ in colour, the first 8 in hatch', () => {
  const colors = Array.from({ length: 21 }, (_, worker) => workerColor(worker));
  expect(new Set(colors).size).toBe(21);
  expect(workerColor(21)).toBe(workerColor(0));
  expect(new Set(hatches.map(({ path }) => path)).size).toBe(hatchedWorkers);
});

test.each([
  [0, '0\u00a0%'],
  [0.0561, '5.6\u00a0%'],
  [0.0996, '10\u00a0%'],
  [1.124, '112\u00a0%'],
])('share %d', (share, text) => {
  expect(formatShare(share)).toBe(text);
});

test.each([
  [0, '', '0'],
  [950, '', '950'],
  [0.25, '', '0.25'],
  [12_345_678, 'B', '12.3 MB'],
  [999_600, 'B', '1.00 MB'],
  [9_996, '', '10.0 k'],
  [99_960, '', '100 k'],
  [5e17, 'B', '500 PB'],
  [Number.NaN, 'B', '–'],
])('%d with unit "%s"', (value, unit, text) => {
  expect(formatSi(value, unit)).toBe(text);
});

test.each([
  [1.25, '+1.25'],
  [-0.03125, '−0.0313'],
  [0, '+0.00'],
  [-4.2e-5, '−4.20e−5'],
  [123_456, '+1.23e5'],
])('weight %d', (weight, text) => {
  expect(formatWeight(weight)).toBe(text);
});

test('names are cut in the middle, between letters', () => {
  expect(cutMiddle('short', 5)).toBe('short');
  expect(cutMiddle('abcdefghij', 5)).toBe('ab…ij');
  expect(cutMiddle('abcdefghij', 6)).toBe('abc…ij');
  expect(cutMiddle('😀😀😀😀😀😀', 3)).toBe('😀…😀');
});
