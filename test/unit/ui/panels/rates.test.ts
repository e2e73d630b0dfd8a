import { expect, test } from 'vitest';
import type { RunSeries, SampleLine } from '../../../../src/reporting/records/record.ts';
import { byteRate, memoryUse, rateOf, updateRate } from '../../../../ui/src/panels/rates.ts';

const upTo = (count: number, step = 1) => Array.from({ length: count }, (_, k) => step * (k + 1));

function seriesOf(more: Partial<RunSeries>): RunSeries {
  const empty = { epoch: [], seconds: [], passes: [], primal: [], dual: [], relativeGap: [] };
  return { ...empty, ...more };
}

test('a steady amount has a steady rate', () => {
  const rate = rateOf(upTo(100), upTo(100, 7));
  expect(rate.points).toHaveLength(99);
  for (const { y } of rate.points) expect(y).toBeCloseTo(7);
  expect(rate.now).toBeCloseTo(7);
  expect(rate.mean).toBeCloseTo(7);
});

test('one jump is spread over the window, and leaves it', () => {
  const amounts = upTo(300).map((k) => (k < 150 ? k : k + 100));
  const { points } = rateOf(upTo(300), amounts);
  const highest = points.reduce((most, { y }) => Math.max(most, y ?? 0), 0);
  expect(highest).toBeLessThan(15);
  expect(highest).toBeGreaterThan(8);
  expect(points.at(-1)?.y).toBeCloseTo(1);
});

test('no rate without time', () => {
  expect(rateOf([], [])).toEqual({ points: [], now: null, mean: null });
  expect(rateOf([1], [5])).toEqual({ points: [], now: null, mean: null });
  expect(rateOf([2, 2], [1, 5]).now).toBeNull();
  expect(rateOf([2, 1], [1, 5]).now).toBeNull();
});

test('updates are passes times non-zeros, from second 0 on if the first epoch is there', () => {
  const nonzeros = 50;
  const whole = seriesOf({ epoch: [1], seconds: [0.5], passes: [2] });
  expect(updateRate({ nonzeros }, whole).now).toBe(200);
  const resumed = seriesOf({ epoch: [5, 6], seconds: [1, 2], passes: [5, 6] });
  expect(updateRate({ nonzeros }, resumed).mean).toBe(50);
});

test('bytes only where they are counted', () => {
  const series = seriesOf({ epoch: [1, 2], seconds: [1, 2], passes: [1, 2] });
  expect(byteRate(series)).toBeUndefined();
  expect(byteRate({ ...series, bytes: [300, 600] })?.mean).toBe(300);
});

test('memory now and most', () => {
  const base = { event: 'sample', epoch: 1, threads: [], features: [] } as const;
  const samples: SampleLine[] = [5, 9, 7].map((memory, k) => ({ ...base, seconds: k, memory }));
  expect(memoryUse(samples)).toMatchObject({ now: 7, most: 9 });
  expect(memoryUse([])).toEqual({ points: [], now: null, most: null });
  expect(memoryUse(samples.slice(1)).points.map(({ x }) => x)).toEqual([1, 2]);
});

test('memory of several vectors continues from one to the next, whose clocks begin anew', () => {
  const base = { event: 'sample', epoch: 1, threads: [], features: [], memory: 5 } as const;
  const samples = [0.1, 0.2, 0.1, 0.3].map((seconds, k) => ({
    ...base,
    seconds,
    vector: Math.floor(k / 2),
  }));
  expect(memoryUse(samples).points.map(({ x }) => x)).toEqual([0, 1, 2, 3]);
});
