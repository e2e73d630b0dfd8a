/** Values worked out by hand, so that a formula is not only consistent but the right one. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';

interface Row {
  readonly u: number;
  readonly y: number;
  readonly value: number;
  readonly derivative: number;
}

const tables: readonly [Loss, readonly Row[]][] = [
  [
    losses.hinge(),
    [
      { u: 0.25, y: 1, value: 0.75, derivative: -1 },
      { u: 0.25, y: -1, value: 1.25, derivative: 1 },
      { u: 3, y: 1, value: 0, derivative: 0 },
    ],
  ],
  [
    losses.squaredHinge(),
    [
      { u: 0.5, y: 1, value: 0.25, derivative: -1 },
      { u: 1, y: -1, value: 4, derivative: 4 },
      { u: 2, y: 1, value: 0, derivative: 0 },
    ],
  ],
  [
    losses.smoothedHinge({ smoothing: 0.5 }),
    [
      { u: 0, y: 1, value: 0.75, derivative: -1 },
      { u: 0.75, y: 1, value: 0.0625, derivative: -0.5 },
      { u: -0.5, y: -1, value: 0.25, derivative: 1 },
      { u: 1.5, y: 1, value: 0, derivative: 0 },
    ],
  ],
  [
    losses.logistic(),
    [
      { u: 0, y: 1, value: Math.LN2, derivative: -0.5 },
      { u: Math.log(3), y: -1, value: Math.log(4), derivative: 0.75 },
      { u: -1e3, y: 1, value: 1e3, derivative: -1 },
      { u: 1e3, y: 1, value: 0, derivative: 0 },
    ],
  ],
  [
    losses.square(),
    [
      { u: 3, y: 1, value: 2, derivative: 2 },
      { u: -1, y: 2.5, value: 6.125, derivative: -3.5 },
    ],
  ],
  [
    losses.huber({ delta: 2 }),
    [
      { u: 1, y: 0, value: 0.5, derivative: 1 },
      { u: 5, y: 0, value: 8, derivative: 2 },
      { u: -5, y: 0, value: 8, derivative: -2 },
    ],
  ],
  [
    losses.absolute({ epsilon: 0.5 }),
    [
      { u: 3, y: 1, value: 1.5, derivative: 1 },
      { u: 1.25, y: 1, value: 0, derivative: 0 },
      { u: -2, y: 1, value: 2.5, derivative: -1 },
    ],
  ],
  [
    losses.squaredAbsolute({ epsilon: 0.5 }),
    [
      { u: 3, y: 1, value: 2.25, derivative: 3 },
      { u: 1.25, y: 1, value: 0, derivative: 0 },
      { u: -2, y: 1, value: 6.25, derivative: -5 },
    ],
  ],
  [
    losses.quantile({ quantile: 0.75 }),
    [
      { u: 3, y: 1, value: 0.5, derivative: 0.25 },
      { u: 1, y: 1, value: 0, derivative: 0 },
      { u: -1, y: 1, value: 1.5, derivative: -0.75 },
    ],
  ],
  [
    losses.poisson(),
    [
      { u: 0, y: 1, value: 0, derivative: 0 },
      { u: Math.LN2, y: 0, value: 2, derivative: 2 },
      { u: 0, y: 2, value: 2 * Math.LN2 - 1, derivative: -1 },
      { u: -1e3, y: 0, value: 0, derivative: 0 },
    ],
  ],
];

describe.each(tables)('$name', (loss, rows) => {
  test.each(rows)('at u = $u, y = $y', ({ u, y, value, derivative }) => {
    expect(loss.value(u, y, loss.parameter)).toBeCloseTo(value, 14);
    expect(loss.derivative(u, y, loss.parameter)).toBeCloseTo(derivative, 14);
  });
});

describe('dual steps worked out by hand', () => {
  test('hinge', () => {
    const { dualStep } = losses.hinge();
    expect(dualStep(0.25, 0.5, 2, 1, 0)).toBe(0.5);
    expect(dualStep(-0.25, -0.5, 2, -1, 0)).toBe(-0.5);
    expect(dualStep(0.25, -9, 2, 1, 0)).toBe(1);
    expect(dualStep(0.25, 9, 2, 1, 0)).toBe(0);
    // An empty row: the linear model alone decides.
    expect(dualStep(0, 0, 0, -1, 0)).toBe(-1);
    expect(dualStep(0.5, 2, 0, 1, 0)).toBe(0);
    // Momentum may have carried α out of its domain.
    expect(dualStep(1.75, 1, 2, 1, 0)).toBe(1);
  });

  test('absolute', () => {
    const { dualStep } = losses.absolute({ epsilon: 0.5 });
    expect(dualStep(0, 0, 4, 2.5, 0.5)).toBe(0.5);
    expect(dualStep(0, 0, 4, 0.25, 0.5)).toBe(0);
    expect(dualStep(0, 0, 0, 2.5, 0.5)).toBe(1);
    expect(dualStep(0.25, 0, 0, -2.5, 0.5)).toBe(-1);
    expect(dualStep(0.25, 1, 0, 1, 0.5)).toBe(0);
  });

  test('squared absolute', () => {
    const { dualStep } = losses.squaredAbsolute({ epsilon: 0.5 });
    expect(dualStep(0, 0, 1.5, 2.5, 0.5)).toBe(1);
    expect(dualStep(0, 0, 1.5, 0.25, 0.5)).toBe(0);
    expect(dualStep(0, 0, 0, -2.5, 0.5)).toBe(-4);
  });

  test('quantile', () => {
    const { dualStep } = losses.quantile({ quantile: 0.75 });
    expect(dualStep(0, 0, 4, 2, 0.75)).toBe(0.5);
    expect(dualStep(0, 0, 0, 2, 0.75)).toBe(0.75);
    expect(dualStep(0.25, 0, 0, -2, 0.75)).toBe(-0.25);
  });

  test('poisson: at q = 0 the mean, for a stiff row the old value', () => {
    const { dualStep } = losses.poisson();
    expect(dualStep(0.7, Math.LN2, 0, 5, 0)).toBeCloseTo(3, 14);
    // log β + β = 1 where β = 1.
    expect(dualStep(0, -2, 1, 3, 0)).toBeCloseTo(2, 14);
    expect(dualStep(0.3, 0, 1e12, 1, 0)).toBeCloseTo(0.3, 11);
    expect(dualStep(0, -1000, 0, 4, 0)).toBe(4);
    expect(dualStep(0, 1e9, 0, 4, 0)).toBeCloseTo(4 - Math.exp(200), -73);
  });

  test('logistic: at q = 0 the sigmoid, for a stiff row the old value', () => {
    const { dualStep } = losses.logistic();
    expect(dualStep(0.7, Math.log(3), 0, 1, 0)).toBeCloseTo(0.25, 15);
    expect(dualStep(-0.7, Math.log(3), 0, -1, 0)).toBeCloseTo(-0.75, 15);
    expect(dualStep(0.3, 0, 1e12, 1, 0)).toBeCloseTo(0.3, 11);
    expect(dualStep(0.3, 1000, 0, 1, 0)).toBe(0);
    expect(dualStep(0.3, -1000, 0, 1, 0)).toBe(1);
  });
});
