import { expect, test } from 'vitest';
import { readingsAt } from '../../../ui/src/readings.ts';

const options = { height: 30, position: (value: number) => 100 - value, most: 3, log: false };

test('readings are those nearest to the pointer, from top to bottom', () => {
  const sources = [10, 80, 60, 72, 75].map((value) => ({
    id: `at ${value}`,
    xs: [1, 5],
    values: [value, 0],
  }));
  const { shown, more } = readingsAt(sources, 3, options);
  expect(shown.map(({ value }) => value)).toEqual([75, 72, 80].toSorted((a, b) => b - a));
  expect(more).toBe(2);
});

test('a curve without a value there has no reading', () => {
  const sources = [
    { id: 'not begun', xs: [4, 5], values: [1, 1] },
    { id: 'over', xs: [1, 2], values: [1, 1] },
    { id: 'no column', xs: [1, 5], values: undefined },
    { id: 'no bound', xs: [1, 5], values: [null, 1] },
    { id: 'not positive', xs: [1, 5], values: [0, 1] },
  ];
  const ids = (log: boolean) =>
    readingsAt(sources, 3, { ...options, log }).shown.map(({ id }) => id);
  expect(ids(true)).toEqual([]);
  expect(ids(false)).toEqual(['not positive']);
});
