import { describe, expect, test } from 'vitest';
import {
  isShown,
  paddedRange,
  scaleOf,
  ticksOf,
  timeUnit,
  visibleRange,
} from '../../../../src/reporting/charts/axis.ts';

const labels = (log: boolean, values: number[], zero = false) =>
  scaleOf({ label: '', log, zero }, values, [0, 100])
    .ticks(log ? 8 : 6)
    .map((tick) => tick.label);

test('log: powers of ten, in full while they are short', () => {
  expect(labels(true, [0.001, 10])).toEqual(['0.001', '0.01', '0.1', '1', '10']);
  expect(labels(true, [1e-6, 1e-3])).toEqual(['10⁻⁶', '10⁻⁵', '10⁻⁴', '10⁻³']);
});

test('log: not every power where there are many', () => {
  const found = labels(true, [1e-15, 1]);
  expect(found.length).toBeLessThanOrEqual(8);
  expect(found).toContain('10⁻⁶');
});

test('log: twos and fives where there are few powers, other numbers where there are none', () => {
  expect(labels(true, [1, 60])).toEqual(['1', '2', '5', '10', '20', '50']);
  expect(labels(true, [0.31, 0.34]).length).toBeGreaterThanOrEqual(3);
  expect(labels(true, [2.1e-7, 3e-6])).toContain('5×10⁻⁷');
});

test('linear: round numbers; from 0 on request', () => {
  expect(labels(false, [3.1, 5.9])).toEqual(['3.0', '3.5', '4.0', '4.5', '5.0', '5.5', '6.0']);
  expect(labels(false, [3.2, 4.9], true)[0]).toBe('0');
});

test('linear: a tight axis ends with its values', () => {
  const axis = { label: '', zero: true };
  expect(scaleOf(axis, [0.1, 4.03], [0, 100]).position(4.03)).toBeLessThan(90);
  const { position, ticks } = scaleOf({ ...axis, tight: true }, [0.1, 4.03], [0, 100]);
  expect([position(0), position(4.03)]).toEqual([0, 100]);
  expect(ticks(6).map(({ label }) => label)).toContain('4.0');
});

test('positions are inside the range; what cannot be shown has none', () => {
  for (const log of [true, false]) {
    const { position, ticks } = scaleOf({ label: '', log }, [0.5, 7], [10, 200]);
    for (const value of [0.5, 2, 7]) {
      expect(position(value)).toBeGreaterThanOrEqual(10);
      expect(position(value)).toBeLessThanOrEqual(200);
    }
    for (const { value } of ticks(6)) expect(position(value)).toBeGreaterThanOrEqual(9.99);
    expect(position(Number.NaN)).toBeNaN();
    expect(position(Infinity)).toBeNaN();
  }
  expect(scaleOf({ label: '', log: true }, [1], [0, 1]).position(-1)).toBeNaN();
});

test('linear: around a value that never changes, but nothing beyond 0 and 1', () => {
  const all = (value: number) => scaleOf({ label: '' }, [value, value], [0, 100]).ticks(6);
  const ends = (value: number) => [all(value)[0].label, all(value).at(-1)!.label];
  expect(ends(5)).toEqual(['4.4', '5.6']);
  expect(ends(0)).toEqual(['0.0', '1.0']);
  expect(ends(1)).toEqual(['0.90', '1.00']);
});

describe('the values that an axis shows', () => {
  test('are all that it can', () => {
    expect(visibleRange([[3, null, 1], [2]], [], false)).toEqual([1, 3]);
    expect(visibleRange([[0.1, 0, -1, Infinity, Number.NaN, 10]], [], true)).toEqual([0.1, 10]);
    expect(visibleRange([[null]], [[]], false)).toBeUndefined();
    expect(visibleRange([], [[-5, 2]], false)).toEqual([-5, 2]);
  });

  test('of a bound no more than half as much as of the rest', () => {
    expect(visibleRange([[1, 3]], [[-100, 0.9]], false)).toEqual([0, 3]);
    expect(visibleRange([[1, 3]], [[0.5, 0.9]], false)).toEqual([0.5, 3]);
    expect(visibleRange([[1, 3]], [[1.5, 2]], false)).toEqual([1, 3]);
    expect(visibleRange([[1, 3]], [[0.001, 0.9]], true)).toEqual([0.1, 3]);
  });

  test('of a bound that is out of reach nothing', () => {
    expect(visibleRange([[1, 3]], [[-100, -50]], false)).toEqual([1, 3]);
  });

  test('of an objective that does not change, a bound near it', () => {
    expect(visibleRange([[2, 2]], [[1.999, 2]], false)).toEqual([1.999, 2]);
    expect(visibleRange([[2, 2]], [[1, 2]], false)).toEqual([2 - 2e-3, 2]);
  });

  test('of an objective with one value, a bound that is further away as well', () => {
    expect(visibleRange([[0.3]], [[0.1]], false)).toEqual([0.1, 0.3]);
    expect(visibleRange([[0.3]], [[-0.1, 0]], false)).toEqual([0, 0.3]);
    expect(visibleRange([[0.3]], [[-100]], false)).toEqual([0.3, 0.3]);
  });

  test('have room around them', () => {
    const [low, high] = paddedRange([[1, 3]], [], false);
    expect([low, high]).toEqual([1 - 0.08, 3 + 0.08]);
    expect(paddedRange([[5]], [], false)).toEqual([4.75 - 0.02, 5.25 + 0.02]);
    const [least, most] = paddedRange([[0.01, 1]], [], true);
    expect(most).toBeCloseTo(100 ** 0.04, 12);
    expect(least * most).toBeCloseTo(0.01, 12);
    expect([paddedRange([], [], false), paddedRange([], [], true)]).toEqual([
      [0, 1],
      [0.1, 1],
    ]);
  });

  test('an error of 0 and a perfect ranking have nothing beyond them but a margin', () => {
    expect(paddedRange([[0, 0]], [], false)).toEqual([-0.04, 1.04]);
    const [low, high] = paddedRange([[1, 1]], [], false);
    expect(low).toBeCloseTo(0.948, 12);
    expect(high).toBeCloseTo(1.002, 12);
  });

  test('what cannot be shown', () => {
    expect([0, -1, null, undefined, Number.NaN].map((value) => isShown(value, true))).toEqual(
      Array(5).fill(false),
    );
    expect([0, -1].map((value) => isShown(value, false))).toEqual([true, true]);
  });
});

describe('ticks with the formats of the page', () => {
  const values = (ticks: readonly { value: number }[]) => ticks.map(({ value }) => value);
  const linear = (low: number, high: number, count: number) =>
    values(ticksOf([low, high], { log: false, count, format: String }));
  const log = (low: number, high: number, count: number) =>
    ticksOf([low, high], { log: true, count, format: String });

  test('are round on a linear axis', () => {
    expect(linear(0.03, 1.02, 5)).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
    expect(linear(0, 0.3, 3)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(linear(-7, 7, 3)).toEqual([-5, 0, 5]);
  });

  test('are powers of ten on a logarithmic one, fewer where there are many', () => {
    expect(log(0.8e-6, 2, 10).map(({ label }) => label)).toEqual([
      '10⁻⁶',
      '10⁻⁵',
      '10⁻⁴',
      '10⁻³',
      '10⁻²',
      '10⁻¹',
      '10⁰',
    ]);
    expect(log(0.02, 20, 4).map(({ label }) => label)).toEqual(['0.1', '1', '10']);
    expect(values(log(1e-12, 1, 5))).toEqual([1e-12, 1e-9, 1e-6, 1e-3, 1]);
  });

  test('have 2 and 5 between powers of ten, and round values within one', () => {
    expect(values(log(1, 30, 6))).toEqual([1, 2, 5, 10, 20]);
    expect(values(log(0.2, 0.31, 3))).toEqual([0.2, 0.25, 0.3]);
  });

  test('are none where there is no width', () => {
    expect(linear(1, 1, 5)).toEqual([]);
  });
});

test('time is counted in a unit that gives small numbers', () => {
  expect([3, 3000, 30_000].map((seconds) => timeUnit(seconds).name)).toEqual(['s', 'min', 'h']);
});
