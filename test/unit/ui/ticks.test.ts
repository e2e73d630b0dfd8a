import { describe, expect, test } from 'vitest';
import { linearTicks, logTicks, timeUnit } from '../../../ui/src/ticks.ts';

const values = (ticks: readonly { value: number }[]) => ticks.map(({ value }) => value);

describe('ticks', () => {
  test('are round on a linear axis', () => {
    expect(values(linearTicks(0.03, 1.02, 5, String))).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
    expect(values(linearTicks(0, 0.3, 3, String))).toEqual([0, 0.1, 0.2, 0.3]);
    expect(values(linearTicks(-7, 7, 3, String))).toEqual([-5, 0, 5]);
  });

  test('are powers of ten on a logarithmic one, fewer where there are many', () => {
    expect(logTicks(0.8e-6, 2, 10, String).map(({ text }) => text)).toEqual([
      '10⁻⁶',
      '10⁻⁵',
      '10⁻⁴',
      '10⁻³',
      '10⁻²',
      '10⁻¹',
      '10⁰',
    ]);
    expect(logTicks(0.02, 20, 4, String).map(({ text }) => text)).toEqual(['0.1', '1', '10']);
    expect(values(logTicks(1e-12, 1, 5, String))).toEqual([1e-12, 1e-9, 1e-6, 1e-3, 1]);
  });

  test('have 2 and 5 between powers of ten, and round values within one', () => {
    expect(values(logTicks(1, 30, 6, String))).toEqual([1, 2, 5, 10, 20]);
    expect(values(logTicks(0.2, 0.31, 5, String))).toEqual([0.2, 0.25, 0.3]);
  });

  test('are none where there is no width', () => {
    expect(linearTicks(1, 1, 5, String)).toEqual([]);
  });
});

test('time is counted in a unit that gives small numbers', () => {
  expect([3, 3000, 30_000].map((seconds) => timeUnit(seconds).name)).toEqual(['s', 'min', 'h']);
});
