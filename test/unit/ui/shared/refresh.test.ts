import { expect, test } from 'vitest';
import { Pace } from '../../../../ui/src/shared/refresh.ts';

function paceAfter(cores: number, ...costs: number[]): Pace {
  const pace = new Pace(cores);
  for (const cost of costs) pace.note(cost);
  return pace;
}

const often = (cost: number) => Array<number>(30).fill(cost);

test('redraws that cost little come four times a second', () => {
  for (const calm of [false, true]) {
    expect(paceAfter(2).interval(calm)).toBe(250);
    expect(paceAfter(2, ...often(0.2)).interval(calm)).toBe(250);
  }
  expect(paceAfter(2, 0, 1, 2, 2.5).interval(false)).toBe(250);
});

test('redraws that cost much take a hundredth of the time, and come every five seconds at least', () => {
  expect(paceAfter(2, ...often(20)).interval(false)).toBeCloseTo(2000, 3);
  expect(paceAfter(2, ...often(1000)).interval(false)).toBeCloseTo(5000, 3);
});

test('where all cores train and nobody waits, they take a small part of all cores', () => {
  expect(paceAfter(2, ...often(4)).interval(true)).toBeCloseTo(2000, 3);
  expect(paceAfter(8, ...often(4)).interval(true)).toBeCloseTo(500, 3);
  expect(paceAfter(2, ...often(20)).interval(true)).toBe(5000);
});

test('one slow frame is soon forgotten', () => {
  expect(paceAfter(2, 1000).interval(false)).toBeLessThan(3000);
  expect(paceAfter(2, 1000, 1, 1, 1, 1, 1, 1).interval(false)).toBeLessThan(300);
});
