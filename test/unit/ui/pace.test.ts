import { expect, test } from 'vitest';
import { Pace } from '../../../ui/src/pace.ts';

function after(...costs: number[]): number {
  const pace = new Pace();
  for (const cost of costs) pace.note(cost);
  return pace.interval;
}

test('redraws that cost little come four times a second', () => {
  expect(after()).toBe(250);
  expect(after(0, 1, 2, 2.5)).toBe(250);
});

test('redraws that cost much take a hundredth of the time, and come every five seconds at least', () => {
  expect(after(...Array<number>(30).fill(20))).toBeCloseTo(2000, 3);
  expect(after(...Array<number>(30).fill(1000))).toBeCloseTo(5000, 3);
});

test('one slow frame is soon forgotten', () => {
  expect(after(1000)).toBeLessThan(3000);
  expect(after(1000, 1, 1, 1, 1, 1, 1)).toBeLessThan(300);
});
