import { expect, test } from 'vitest';
import { readingsAt, tooltipPosition } from '../../../../ui/src/charts/tooltip.ts';

const options = { height: 30, position: (value: number) => 100 - value, most: 3 };

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
    { id: 'no column', xs: [1, 5], values: undefined },
    { id: 'no bound', xs: [1, 5], values: [null, 1] },
    { id: 'nothing', xs: [], values: [] },
  ];
  expect(readingsAt(sources, 3, options).shown).toEqual([]);
});

test('a curve that has come to its end keeps its last value', () => {
  const sources = [
    { id: 'over', xs: [1, 2], values: [5, 4] },
    { id: 'running', xs: [1, 5], values: [8, 1] },
  ];
  expect(readingsAt(sources, 3, options).shown).toEqual([
    { id: 'running', value: 8 },
    { id: 'over', value: 4, end: 2 },
  ]);
});

test('a value that the axis cannot show is read last', () => {
  const position = (value: number) => -Math.log(value);
  const sources = [0, 1, 2, 3].map((value) => ({ id: `${value}`, xs: [1, 5], values: [value, 1] }));
  const { shown, more } = readingsAt(sources, 3, { ...options, position });
  expect(shown.map(({ value }) => value)).toEqual([3, 2, 1]);
  expect(more).toBe(1);
  expect(readingsAt(sources.slice(0, 1), 3, { ...options, position }).shown).toHaveLength(1);
});

const chart = { width: 400, height: 240, left: 0, right: 0 };
const cursor = (left: number) => ({ left, offset: { left: 60, top: 10 }, width: 320 });
const few = { width: 100, height: 60 };
const many = { width: 200, height: 180 };

test('few readings are next to the crosshair, on the side with room', () => {
  expect(tooltipPosition(cursor(50), few, chart)).toEqual({ left: 122, top: 14 });
  expect(tooltipPosition(cursor(300), few, chart)).toEqual({ left: 248, top: 14 });
});

test('many are next to the chart, or below it where nothing is free', () => {
  expect(tooltipPosition(cursor(50), many, { ...chart, right: 450 }).left).toBe(412);
  expect(tooltipPosition(cursor(50), many, { ...chart, left: 450 }).left).toBe(-212);
  expect(tooltipPosition(cursor(50), many, chart)).toEqual({ left: 0, top: 240 });
});

test('in a wide chart they hide little', () => {
  const wide = { ...chart, width: 900 };
  expect(tooltipPosition({ ...cursor(500), width: 820 }, many, wide)).toEqual({
    left: 572,
    top: 14,
  });
});
