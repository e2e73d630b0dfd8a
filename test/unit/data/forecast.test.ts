import { expect, test } from 'vitest';
import { forecastBytes } from '../../../src/data/forecast.ts';

test('sixteen bytes per non-zero while partitioning, and the state', () => {
  const shape = { rows: 350_000, columns: 16_610_000, nonzeros: 1.28e9, grid: 8 };
  expect(forecastBytes({ ...shape, rows: 0, columns: 0 })).toBe(16 * 1.28e9);
  expect(forecastBytes({ ...shape, columns: 0, nonzeros: 0 })).toBe(350_000 * (64 + 32));
  expect(forecastBytes({ ...shape, rows: 0, nonzeros: 0 })).toBe(16_610_000 * 64);
  expect(forecastBytes(shape)).toBe(16 * 1.28e9 + 350_000 * 96 + 16_610_000 * 64);
});
