import { expect, test } from 'vitest';
import { tooltipPlace } from '../../../ui/src/tooltip-place.ts';

const chart = { width: 400, height: 240, left: 0, right: 0 };
const cursor = (left: number) => ({ left, offset: { left: 60, top: 10 }, width: 320 });
const few = { width: 100, height: 60 };
const many = { width: 200, height: 180 };

test('few readings stand beside the crosshair, on the side with room', () => {
  expect(tooltipPlace(cursor(50), few, chart)).toEqual({ left: 122, top: 14 });
  expect(tooltipPlace(cursor(300), few, chart)).toEqual({ left: 248, top: 14 });
});

test('many stand beside the chart, or below it where nothing is free', () => {
  expect(tooltipPlace(cursor(50), many, { ...chart, right: 450 }).left).toBe(412);
  expect(tooltipPlace(cursor(50), many, { ...chart, left: 450 }).left).toBe(-212);
  expect(tooltipPlace(cursor(50), many, chart)).toEqual({ left: 0, top: 240 });
});

test('in a wide chart they hide little', () => {
  const wide = { ...chart, width: 900 };
  expect(tooltipPlace({ ...cursor(500), width: 820 }, many, wide)).toEqual({ left: 572, top: 14 });
});
