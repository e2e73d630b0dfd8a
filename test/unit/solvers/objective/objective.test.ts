import { describe, expect, test } from 'vitest';
import { type Random, stream } from '../../../../src/math/random.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { describePenalty } from '../../../../src/problem/penalties/separable.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { relativeGap } from '../../../../src/solvers/objective/objective.ts';
import { lossCases } from '../../../laws/cases.ts';
import { sampleFor } from '../../../support/data.ts';
import { contextOf, type Engine, prepare } from '../../../support/engine.ts';
import { type NaiveProblem, naiveDomain, naiveDual, naiveImage, naivePrimal } from './naive.ts';

const columns = 8;
const factors = Float64Array.from({ length: columns }, (_, j) => [1, 2, 0.25][j % 3]);
const lambda = 0.05;

const free = [penalties.l2(), penalties.l1(), penalties.elasticNet({ l1Ratio: 0.3 })];
const bounded = [{ low: 0 }, { high: 0.3 }, { low: -0.2, high: 0.5 }].flatMap((box) =>
  free.map((penalty) => penalties.bounded(penalty, box)),
);

const variants = [...free, ...bounded].flatMap((penalty) => [
  { penalty, intercept: false, weighted: false, grid: 1, mode: 'rows' as const },
  { penalty, intercept: true, weighted: true, grid: 3, mode: 'rows' as const },
  { penalty, intercept: true, weighted: false, grid: 2, mode: 'columns' as const },
  { penalty, intercept: false, weighted: true, grid: 1, mode: 'columns' as const },
]);

const cases = lossCases.flatMap(({ label, loss }) =>
  variants
    .filter(({ mode }) => mode === 'rows' || loss.smooth)
    .map((variant) => ({
      ...variant,
      loss,
      title:
        `${label}, ${describePenalty(variant.penalty)}, grid ${variant.grid} by ${variant.mode}` +
        `${variant.intercept ? ', intercept' : ''}${variant.weighted ? ', factors' : ''}`,
    })),
);

/** α by row of the data: inside the domain, now and then at an end of it. */
function drawAlpha(random: Random, { labels, loss }: NaiveProblem, size: number): number[] {
  return labels.map((y) => {
    const [low, high] = naiveDomain(loss.name, y, loss.parameter);
    const from = Math.max(low, -size);
    const to = Math.min(high, size);
    return [from, to, from + random.uniform() * (to - from)][Math.min(2, random.below(6))];
  });
}

/** Arrays by position from arrays in the order of the data. */
function placed(
  { problem }: Engine,
  target: Float64Array,
  values: readonly number[],
  by: 'row' | 'column',
) {
  const { rowOrder, columnOrder } = problem.grid.partition;
  const order = by === 'row' ? rowOrder : columnOrder;
  order.forEach((original, position) => {
    target[position] = values[original];
  });
  return target;
}

const relative = (found: number, expected: number) =>
  Math.abs(found - expected) / Math.max(1, Math.abs(expected));

describe.each(cases)('$title', ({ loss, penalty, intercept, weighted, grid, mode }) => {
  const { rows, labels, dataset } = sampleFor(loss, { rows: 25, columns, seed: 4 });
  const engine = prepare({
    dataset,
    loss,
    penalty,
    lambda,
    grid,
    intercept,
    solver: solvers.ring({ mode }),
    ...(weighted && { factors }),
  });
  const { objective } = contextOf(engine);
  const naive: NaiveProblem = {
    rows,
    labels,
    loss,
    penalty,
    lambda,
    factors: weighted ? [...factors] : new Array(columns).fill(1),
    intercept,
  };
  const { low = -Infinity, high = Infinity } = penalty;
  const inside = (w: number) => Math.min(high, Math.max(low, w));
  // Kernels see arrays of the arena only.
  const weightsAt = engine.memory.best;
  const alphaAt = engine.memory.objective.margins;
  const primalAt = () => {
    objective.margins(weightsAt, alphaAt);
    return objective.primal(weightsAt, alphaAt);
  };

  test('P is the textbook’s', () => {
    const random = stream(8, 1);
    for (let trial = 0; trial < 20; trial++) {
      const scale = 10 ** (random.below(4) - 2);
      const w = Array.from({ length: columns }, () =>
        random.below(4) === 0 ? 0 : inside(scale * random.normal()),
      );
      const b = intercept ? random.normal() : 0;
      placed(engine, weightsAt, [...w, b], 'column');
      expect(relative(primalAt(), naivePrimal(naive, w, b))).toBeLessThan(1e-12);
    }
  });

  test('D is the textbook’s at a point that is feasible', () => {
    const random = stream(8, 2);
    for (let trial = 0; trial < 20; trial++) {
      const alpha = drawAlpha(random, naive, 10 ** (random.below(4) - 2));
      placed(engine, alphaAt, alpha, 'row');
      const found = objective.dual(alphaAt);
      const point = feasiblePoint(engine, naive, alpha, intercept);
      expect(relative(found, naiveDual(naive, point))).toBeLessThan(1e-11);
    }
  });

  test('P(0) is the textbook’s', () => {
    const expected = naivePrimal(naive, new Array(columns).fill(0), 0);
    expect(relative(objective.primalAtZero(), expected)).toBeLessThan(1e-14);
  });

  test('P(w) ≥ D(α) for any w and α', () => {
    const random = stream(8, 3);
    for (let trial = 0; trial < 40; trial++) {
      const w = Array.from({ length: columns + 1 }, (_, j) =>
        j < columns ? inside(random.normal() * 3 ** -random.below(6)) : random.normal(),
      );
      placed(engine, weightsAt, w, 'column');
      const primal = primalAt();
      placed(engine, alphaAt, drawAlpha(random, naive, 3 * random.uniform()), 'row');
      const dual = objective.dual(alphaAt);
      expect(primal - dual).toBeGreaterThan(-1e-12 * Math.max(1, Math.abs(primal)));
    }
  });
});

/**
 * What D is made of: α shifted to Σα = 0 and scaled to |v_j| ≤ λ l1 f_j, where no end of a box
 * holds w_j, each checked here.
 */
function feasiblePoint(
  engine: Engine,
  naive: NaiveProblem,
  alpha: readonly number[],
  intercept: boolean,
): number[] {
  const point = [...alpha];
  if (intercept) {
    const { rowOrder } = engine.problem.grid.partition;
    const shifts: number[] = [];
    rowOrder.forEach((row, position) => {
      point[row] = engine.memory.objective.alpha[position];
      const [low, high] = naiveDomain(naive.loss.name, naive.labels[row], naive.loss.parameter);
      expect(point[row] >= low && point[row] <= high).toBe(true);
      if (point[row] > low && point[row] < high) shifts.push(point[row] - alpha[row]);
    });
    const size = point.reduce((sum, a) => sum + Math.abs(a), 0);
    expect(Math.abs(point.reduce((sum, a) => sum + a, 0))).toBeLessThanOrEqual(1e-12 * size);
    // One shift for all rows that did not meet an end of their domain.
    for (const shift of shifts) expect(Math.abs(shift - shifts[0])).toBeLessThan(1e-12);
  }
  if (naive.penalty.l2 > 0) return point;
  const image = naiveImage(naive, point);
  const { low = -Infinity, high = Infinity } = naive.penalty;
  const largest = Math.max(
    ...image.map((v, j) => {
      const hasEnd = v > 0 ? high < Infinity : low > -Infinity;
      return hasEnd ? 0 : Math.abs(v) / (lambda * naive.factors[j]);
    }),
  );
  return point.map((a) => a / Math.max(1, largest));
}

describe('relativeGap', () => {
  test('is (P − D)/|P|', () => {
    expect(relativeGap({ primal: 2, dual: 1.5 })).toBe(0.25);
    expect(relativeGap({ primal: 2, dual: -2 })).toBe(2);
    expect(relativeGap({ primal: 1e-9, dual: 0.5e-9 })).toBe(0.5);
  });

  test('is 0 where rounding puts D above P', () => {
    expect(relativeGap({ primal: 1, dual: 1 + 1e-15 })).toBe(0);
    expect(relativeGap({ primal: 0, dual: 0 })).toBe(0);
  });

  test('has no floor: a P that vanishes beside P(0) counts as it is', () => {
    expect(relativeGap({ primal: 1e-30, dual: 0 })).toBe(1);
    expect(relativeGap({ primal: 1e-30, dual: 0.5e-30 })).toBe(0.5);
    expect(relativeGap({ primal: 0, dual: -1 })).toBe(Infinity);
  });

  test('is infinite while nothing is known', () => {
    expect(relativeGap({ primal: 1, dual: -Infinity })).toBe(Infinity);
  });
});
