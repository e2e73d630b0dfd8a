import type { Point } from '../../src/reporting/charts/quantities.ts';

export interface Line {
  readonly slope: number;
  readonly intercept: number;
}

/** Least squares; needs two different x. */
export function fitLine(points: readonly Point[]): Line {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map((point) => point[0]));
  const y = mean(points.map((point) => point[1]));
  let above = 0;
  let below = 0;
  for (const [px, py] of points) {
    above += (px - x) * (py - y);
    below += (px - x) ** 2;
  }
  const slope = above / below;
  return { slope, intercept: y - slope * x };
}

/** The power b and the factor a of y ≈ a x^b; points with a coordinate of 0 or less are left out. */
export function fitPower(points: readonly Point[]): { power: number; factor: number } {
  const logarithms = points
    .filter(([x, y]) => x > 0 && y > 0)
    .map(([x, y]): Point => [Math.log(x), Math.log(y)]);
  const { slope, intercept } = fitLine(logarithms);
  return { power: slope, factor: Math.exp(intercept) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
