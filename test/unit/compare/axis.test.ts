import { expect, test } from 'vitest';
import { scaleOf } from '../../../src/compare/axis.ts';

const labels = (log: boolean, values: number[], zero = false) =>
  scaleOf({ label: '', log, zero }, values, [0, 100]).ticks.map((tick) => tick.label);

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

test('linear: round numbers; from 0 where wanted', () => {
  expect(labels(false, [3.1, 5.9])).toEqual(['3.0', '3.5', '4.0', '4.5', '5.0', '5.5', '6.0']);
  expect(labels(false, [3.2, 4.9], true)[0]).toBe('0');
});

test('linear: a tight axis ends with its values', () => {
  const axis = { label: '', zero: true };
  expect(scaleOf(axis, [0.1, 4.03], [0, 100]).place(4.03)).toBeLessThan(90);
  const { place, ticks } = scaleOf({ ...axis, tight: true }, [0.1, 4.03], [0, 100]);
  expect([place(0), place(4.03)]).toEqual([0, 100]);
  expect(ticks.map(({ label }) => label)).toContain('4.0');
});

test('places lie inside the range; what cannot be shown has none', () => {
  for (const log of [true, false]) {
    const { place, ticks } = scaleOf({ label: '', log }, [0.5, 7], [10, 200]);
    for (const value of [0.5, 2, 7]) {
      expect(place(value)).toBeGreaterThanOrEqual(10);
      expect(place(value)).toBeLessThanOrEqual(200);
    }
    for (const { value } of ticks) expect(place(value)).toBeGreaterThanOrEqual(9.99);
    expect(place(Number.NaN)).toBeNaN();
    expect(place(Infinity)).toBeNaN();
  }
  expect(scaleOf({ label: '', log: true }, [1], [0, 1]).place(-1)).toBeNaN();
});

test('linear: around a value that never changes, but nothing beyond 0 and 1', () => {
  const all = (value: number) => scaleOf({ label: '' }, [value, value], [0, 100]).ticks;
  const ends = (value: number) => [all(value)[0].label, all(value).at(-1)!.label];
  expect(ends(5)).toEqual(['4.4', '5.6']);
  expect(ends(0)).toEqual(['0.0', '1.0']);
  expect(ends(1)).toEqual(['0.90', '1.00']);
});
