import { describe, expect, test } from 'vitest';
import { stream } from '../../../../src/math/random.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { type Penalty, penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { BestPoint } from '../../../../src/solvers/objective/best-point.ts';
import type { RingRowsMemory } from '../../../../src/solvers/ring/rows-state.ts';
import { datasetOf, sample, zipfDataset } from '../../../support/data.ts';
import { contextOf, prepare, runOnThreads } from '../../../support/engine.ts';
import { firstDifference } from '../../../support/engine-arrays.ts';

interface Variant {
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly grid: number;
  readonly intercept: boolean;
}

const l1 = penalties.l1();
const l2 = penalties.l2();
const elastic = penalties.elasticNet();

const variants: Variant[] = [
  { loss: losses.hinge(), penalty: l2, grid: 1, intercept: false },
  { loss: losses.hinge(), penalty: l1, grid: 3, intercept: true },
  { loss: losses.logistic(), penalty: elastic, grid: 2, intercept: true },
  { loss: losses.square(), penalty: l2, grid: 3, intercept: false },
  { loss: losses.absolute(), penalty: elastic, grid: 1, intercept: true },
  { loss: losses.squaredHinge(), penalty: l1, grid: 1, intercept: false },
];

/** A mixture, and a point in the memory of a solver that it can be offered. */
function setUp({ loss, penalty, grid, intercept }: Variant) {
  const { dataset } = sample({ rows: 40, columns: 9, task: loss.task });
  const solver = solvers.ring({ mode: 'rows' });
  const engine = prepare({ dataset, loss, penalty, grid, intercept, solver, lambda: 0.02 });
  const { objective, team } = contextOf(engine);
  const { best, bestMargins } = engine.memory;
  const { weights, margins } = engine.memory.method as RingRowsMemory;
  const random = stream(5, 5);
  const draw = (scale: number) => {
    weights.forEach((_, j) => {
      weights[j] = random.below(4) === 0 ? 0 : scale * random.normal();
    });
    objective.margins(weights, margins);
  };
  const mixture = new BestPoint({ weights: best, margins: bestMargins }, objective, team);
  return { mixture, objective, best, bestMargins, weights, margins, draw };
}

describe.each(variants)(
  '$loss.name + $penalty.name, grid $grid, intercept $intercept',
  (variant) => {
    test('begins at w = 0, and a worse point does not move it', () => {
      const { mixture, objective, weights, margins, draw } = setUp(variant);
      const atZero = objective.primalAtZero();
      expect(mixture.primal()).toBeCloseTo(atZero, 13);
      draw(1e6);
      mixture.take({ weights, margins });
      expect(objective.primal(weights, margins)).toBeGreaterThan(atZero);
      expect(mixture.primal()).toBeLessThanOrEqual(atZero * (1 + 1e-12));
    });

    test('a point that replaces it is copied', () => {
      const { mixture, objective, best, bestMargins, weights, margins, draw } = setUp(variant);
      draw(3);
      mixture.replace({ weights, margins });
      expect(firstDifference(best, weights)).toBeUndefined();
      expect(firstDifference(bestMargins, margins)).toBeUndefined();
      expect(mixture.primal()).toBe(objective.primal(weights, margins));
    });

    test('goes along the segment to each point offered; P never rises', () => {
      const { mixture, best, bestMargins, weights, margins, draw } = setUp(variant);
      draw(1);
      mixture.take({ weights, margins });
      const shares: number[] = [];
      for (let trial = 0; trial < 200; trial++) {
        const primal = mixture.primal();
        const from = best.slice();
        const fromMargins = bestMargins.slice();
        draw(2 ** -(trial % 8));
        const share = mixture.take({ weights, margins });
        shares.push(share);
        const between = (a: Float64Array, b: Float64Array) =>
          a.map((value, k) => (share === 1 ? b[k] : value + share * (b[k] - value)));
        expect(firstDifference(best, between(from, weights))).toBeUndefined();
        expect(firstDifference(bestMargins, between(fromMargins, margins))).toBeUndefined();
        expect(mixture.primal()).toBeLessThanOrEqual(primal * (1 + 1e-15));
      }
      expect(Math.min(...shares)).toBe(0);
      expect(shares.some((share) => share > 0 && share < 1)).toBe(true);
      expect(Math.max(...shares)).toBeLessThanOrEqual(1);
    });

    test('P from the margins at hand is P from the data, to rounding', () => {
      const { mixture, weights, margins, draw } = setUp(variant);
      for (let trial = 0; trial < 200; trial++) {
        draw(2 ** -(trial % 8));
        mixture.take({ weights, margins });
      }
      const primal = mixture.primal();
      expect(Math.abs(mixture.primalAfresh() - primal)).toBeLessThan(1e-13 * primal);
      expect(mixture.primalAfresh()).toBe(mixture.primal());
    });

    test('stays where it is when the way to the point is uphill', () => {
      const { mixture, objective, best, bestMargins, weights, margins, draw } = setUp(variant);
      draw(1);
      mixture.take({ weights, margins });
      let turned = 0;
      for (let trial = 0; trial < 20; trial++) {
        const from = best.slice();
        draw(1);
        const to = weights.slice();
        if (mixture.take({ weights, margins }) === 0) continue;
        // P is convex: where it falls towards one side it rises towards the other.
        best.set(from);
        objective.margins(best, bestMargins);
        weights.set(from.map((w, j) => 2 * w - to[j]));
        objective.margins(weights, margins);
        expect(mixture.take({ weights, margins })).toBe(0);
        expect(firstDifference(best, from)).toBeUndefined();
        turned++;
      }
      expect(turned).toBeGreaterThan(0);
    });
  },
);

test('stays inside the box of its points, where rounding would leave it', () => {
  const box = { low: -0.1, high: 0.3 };
  const penalty = penalties.bounded(elastic, box);
  const variant = { loss: losses.square(), penalty, grid: 2, intercept: false };
  const { mixture, objective, best, weights, margins, draw } = setUp(variant);
  const inside = (w: number) => w >= box.low && w <= box.high;
  let left = 0;
  for (let trial = 0; trial < 2000; trial++) {
    draw(2 ** (trial % 8));
    weights.forEach((w, j) => {
      weights[j] = Math.min(box.high, Math.max(box.low, w));
    });
    objective.margins(weights, margins);
    const from = best.slice();
    const share = mixture.take({ weights, margins });
    expect(best.every(inside)).toBe(true);
    left += [...from].filter((w, j) => !inside(w + share * (weights[j] - w))).length;
    best.fill(box.low);
    objective.margins(best, margins);
  }
  expect(left).toBeGreaterThan(0);
});

test.each([losses.square(), losses.logistic()])('$name: takes the best of the segment', (loss) => {
  const variant = { loss, penalty: l2, grid: 2, intercept: true };
  const { mixture, objective, best, weights, margins, draw } = setUp(variant);
  draw(1);
  mixture.take({ weights, margins });
  for (let trial = 0; trial < 20; trial++) {
    const from = best.slice();
    draw(1);
    const to = weights.slice();
    const share = mixture.take({ weights, margins });
    const primalAt = (at: number) => {
      weights.set(from.map((w, j) => w + at * (to[j] - w)));
      objective.margins(weights, margins);
      return objective.primal(weights, margins);
    };
    const sampled = Array.from({ length: 101 }, (_, k) => primalAt(k / 100));
    // The search ends where the slope is a hundredth of the first one, or at an end.
    const slope = Math.max(0, (primalAt(0) - primalAt(1e-6)) / 1e-6);
    const found = primalAt(share);
    expect(found).toBeLessThanOrEqual(Math.min(...sampled) + 0.0101 * slope + 1e-12);
  }
});

test.each([
  { title: 'rows, hinge, L2', mode: 'rows', loss: losses.hinge(), penalty: l2, intercept: false },
  {
    title: 'rows, hinge, elastic net, intercept',
    mode: 'rows',
    loss: losses.hinge(),
    penalty: elastic,
    intercept: true,
  },
  {
    title: 'columns, logistic, L1',
    mode: 'columns',
    loss: losses.logistic(),
    penalty: l1,
    intercept: false,
  },
] as const)('1 to 4 threads mix the same bits: $title', async (options) => {
  const { mode, loss, penalty, intercept } = options;
  const dataset = zipfDataset({ rows: 120, columns: 80, perRow: 8 });
  const run = async (threads: number) => {
    const solver = solvers.ring({ mode });
    const engine = prepare({ dataset, loss, penalty, intercept, grid: 4, solver, lambda: 0.005 });
    const { outcome, events } = await runOnThreads(engine, threads, { epochs: 12 });
    const primals = events.map(({ primal }) => primal);
    return { memory: engine.memory, primal: outcome.primal, primals };
  };
  const serial = await run(1);
  expect(new Set(serial.primals).size).toBeGreaterThan(3);
  expect(serial.memory.best.some((w) => w !== 0)).toBe(true);
  for (const threads of [2, 3, 4]) {
    const { memory, primal, primals } = await run(threads);
    expect(firstDifference(memory.best, serial.memory.best)).toBeUndefined();
    expect(firstDifference(memory.bestMargins, serial.memory.bestMargins)).toBeUndefined();
    expect([primal, ...primals]).toEqual([serial.primal, ...serial.primals]);
  }
});

test('P does not rise past a corner close by', () => {
  const dataset = datasetOf([[1], [1]], [1, 1]);
  const solver = solvers.ring({ mode: 'rows' });
  const loss = losses.absolute();
  const engine = prepare({ dataset, loss, penalty: l2, solver, lambda: 0.01 });
  const { objective, team } = contextOf(engine);
  const { weights, margins } = engine.memory.method as RingRowsMemory;
  const { best, bestMargins } = engine.memory;
  for (const near of [1e-1, 1e-2, 1e-4, 1e-8, 1e-12]) {
    for (const far of [2, 1e3, 1e9]) {
      const mixture = new BestPoint({ weights: best, margins: bestMargins }, objective, team);
      for (const w of [1 - near, far]) {
        const before = w === far ? mixture.primal() : Infinity;
        weights[0] = w;
        objective.margins(weights, margins);
        mixture.take({ weights, margins });
        expect(mixture.primal()).toBeLessThanOrEqual(before);
      }
    }
  }
});
