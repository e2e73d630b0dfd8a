import { expect, test } from 'vitest';
import { Rate, Throttle, VisibilityWatch } from '../../../../ui/src/shared/refresh.ts';

function paceAfter(cores: number, ...costs: number[]): Rate {
  const pace = new Rate(cores);
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

test('where all cores train and the user is away, they take a small part of all cores', () => {
  expect(paceAfter(2, ...often(4)).interval(true)).toBeCloseTo(2000, 3);
  expect(paceAfter(8, ...often(4)).interval(true)).toBeCloseTo(500, 3);
  expect(paceAfter(2, ...often(20)).interval(true)).toBe(5000);
});

test('one slow frame is soon forgotten', () => {
  expect(paceAfter(2, 1000).interval(false)).toBeLessThan(3000);
  expect(paceAfter(2, 1000, 1, 1, 1, 1, 1, 1).interval(false)).toBeLessThan(300);
});

test('who does not touch the page for ten seconds is taken to be gone', () => {
  const attention = new VisibilityWatch(1000);
  expect(attention.isThere(11_000)).toBe(true);
  expect(attention.isThere(11_001)).toBe(false);
});

test('who comes back is news, once', () => {
  const attention = new VisibilityWatch(0);
  expect(attention.touch(5000)).toBe(false);
  expect(attention.touch(15_001)).toBe(true);
  expect(attention.touch(15_002)).toBe(false);
  expect(attention.isThere(25_002)).toBe(true);
});

test('no more tasks run at a time than allowed, and all of them do', async () => {
  const limited = new Throttle(3);
  const order: number[] = [];
  let [running, most] = [0, 0];
  await new Promise<void>((resolve) => {
    for (let task = 0; task < 10; task++) {
      limited.add(async () => {
        most = Math.max(most, ++running);
        order.push(task);
        await new Promise(setImmediate);
        running--;
        if (order.length === 10 && running === 0) resolve();
      });
    }
  });
  expect(most).toBe(3);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
