import { expect, test } from 'vitest';
import {
  Downsampling,
  everySecond,
  spreadIndices,
} from '../../../../src/reporting/records/series.ts';

/** The numbers, from 1, that are chosen of that many lines. */
function chosen(sampling: Downsampling, count: number): number[] {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return numbers.filter(() => sampling.next());
}

test('the first lines are all chosen, then every tenth, then every hundredth', () => {
  const numbers = chosen(new Downsampling(10_000, 10), 1_000_000);
  expect(numbers.slice(0, 10_000)).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
  expect(numbers.slice(10_000, 10_003)).toEqual([10_010, 10_020, 10_030]);
  expect(numbers.filter((number) => number <= 100_000)).toHaveLength(19_000);
  expect(numbers.slice(19_000, 19_003)).toEqual([100_100, 100_200, 100_300]);
  expect(numbers).toHaveLength(28_000);
});

test('with a factor of two', () => {
  expect(chosen(new Downsampling(4, 2), 34)).toEqual([1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
});

test('with an infinite factor the first ones alone', () => {
  expect(chosen(new Downsampling(3, Infinity), 1000)).toEqual([1, 2, 3]);
});

test('the number of a line counts where it is given', () => {
  const sampling = new Downsampling(2, 10);
  expect([7, 8, 9, 10, 11].filter((epoch) => sampling.next(epoch))).toEqual([7, 8, 10]);
});

test('indices spread evenly have both ends', () => {
  expect(spreadIndices(10, 4)).toEqual([0, 3, 6, 9]);
  expect(spreadIndices(11, 4)).toEqual([0, 4, 8, 10]);
  expect(spreadIndices(3, 300)).toEqual([0, 1, 2]);
  expect(spreadIndices(5, 1)).toEqual([4]);
  expect(spreadIndices(0, 5)).toEqual([]);
});

test('every second item, and the newest', () => {
  expect(everySecond([1, 2, 3, 4])).toEqual([2, 4]);
  expect(everySecond([1, 2, 3])).toEqual([1, 3]);
});
