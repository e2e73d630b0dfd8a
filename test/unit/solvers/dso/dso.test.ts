/** The options of the paper's solver, in one thread. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { type Penalty, penalties } from '../../../../src/problem/penalties/index.ts';
import { Dso } from '../../../../src/solvers/dso/dso.ts';
import type { DsoMemory } from '../../../../src/solvers/dso/state.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { saddleStride } from '../../../../src/solvers/kernels/kernels.ts';
import type { DsoSettings } from '../../../../src/solvers/registry.ts';
import type { Method } from '../../../../src/solvers/solver.ts';
import { sample } from '../../../support/data.ts';
import { contextOf, prepare } from '../../../support/engine.ts';
import { naiveImage } from '../objective/naive.ts';

const data = sample({ rows: 40, columns: 12, seed: 6 });

function start(
  settings: Partial<DsoSettings>,
  loss: Loss = losses.hinge(),
  penalty: Penalty = penalties.l2(),
) {
  const solver = solvers.dso(settings);
  const engine = prepare({ dataset: data.dataset, loss, penalty, lambda: 0.02, grid: 3, solver });
  if (engine.plan.name !== 'dso') throw new Error('not the requested solver');
  const context = contextOf(engine);
  const memory = engine.memory.method as DsoMemory;
  const method: Method = new Dso(context, memory, engine.plan.settings, loss);
  return { engine, context, memory, method };
}

describe('boxes of the appendix', () => {
  const huge = { step: 'sqrt', svrg: false, stepSize: 1e6, dualStepSize: 1e6 } as const;

  test.each([
    { loss: losses.hinge(), bound: 1 / Math.sqrt(0.02), inset: 0 },
    { loss: losses.logistic(), bound: Math.sqrt(Math.log(2) / 0.02), inset: 1e-14 },
  ])('$loss.name: |w_j| and y α stay inside however long the steps', ({ loss, bound, inset }) => {
    const { engine, memory, method } = start(huge, loss);
    for (let t = 0; t < 3; t++) {
      method.epoch();
      expect(Math.max(...memory.weights.map(Math.abs))).toBeCloseTo(bound, 12);
      memory.alpha.forEach((a, i) => {
        const beta = engine.problem.labels[i] * a;
        expect(beta).toBeGreaterThanOrEqual(inset);
        expect(beta).toBeLessThanOrEqual(1 - inset);
      });
    }
  });

  test('an optimum lies inside: the boxes do not keep the solver from it', () => {
    const { memory, method } = start({}, losses.hinge());
    for (let t = 0; t < 300; t++) {
      method.epoch();
      method.evaluate(true);
    }
    expect(Math.max(...memory.weights.map(Math.abs))).toBeLessThan(1 / Math.sqrt(0.02));
    const { primal, dual } = method.evaluate(true);
    expect((primal - dual) / primal).toBeLessThan(0.05);
  });
});

test('the average is the mean of all iterates, of w and of α', () => {
  const { memory, method } = start({ average: true });
  const count = 7;
  const meanW = new Float64Array(memory.weights.length);
  const meanAlpha = new Float64Array(memory.alpha.length);
  for (let t = 0; t < count; t++) {
    method.epoch();
    memory.weights.forEach((w, j) => {
      meanW[j] += w / count;
    });
    memory.alpha.forEach((a, i) => {
      meanAlpha[i] += a / count;
    });
  }
  expect(method.weights).not.toEqual(memory.weights);
  method.weights.forEach((w, j) => {
    expect(w).toBeCloseTo(meanW[j], 12);
  });
  memory.alphaSum.forEach((a, i) => {
    expect(a).toBeCloseTo(meanAlpha[i], 12);
  });
});

test('averaging changes what is reported, not the iterates', () => {
  const averaged = start({ average: true });
  const last = start({ average: false });
  for (let t = 0; t < 4; t++) {
    averaged.method.epoch();
    averaged.method.evaluate(true);
    last.method.epoch();
    last.method.evaluate(true);
  }
  expect(averaged.memory.weights).toEqual(last.memory.weights);
  expect(averaged.memory.alpha).toEqual(last.memory.alpha);
});

test.each([penalties.l2(), penalties.elasticNet()])(
  'SVRG: the parts of a snapshot add up to the full gradient ($name)',
  (penalty) => {
    const loss = losses.logistic();
    const { engine, memory, method } = start({ initialize: 2 }, loss, penalty);
    method.epoch();
    method.evaluate(true);
    const w = memory.weights.slice();
    const alpha = memory.alpha.slice();
    method.epoch();
    const { partition } = engine.problem.grid;
    const { rowOrder, columnOrder, rowCounts, columnCounts } = partition;
    const byRow: number[] = [];
    rowOrder.forEach((row, position) => {
      byRow[row] = alpha[position];
    });
    const image = naiveImage(
      { ...data, loss, penalty, lambda: 0, factors: [], intercept: false },
      byRow,
    );
    columnOrder.forEach((column, position) => {
      const line = memory.columns.subarray(position * saddleStride, (position + 1) * saddleStride);
      expect(line[3]).toBe(w[position]);
      const expected = 0.02 * penalty.subgradient(w[position]) - image[column];
      expect(line[4] * columnCounts[position]).toBeCloseTo(expected, 12);
    });
    rowOrder.forEach((row, position) => {
      expect(memory.snapshot[position]).toBe(alpha[position]);
      const margin = data.rows[row].reduce(
        (sum, x, column) => sum + x * w[partition.columnPosition[column]],
        0,
      );
      const slope = loss.conjugateDerivative(-alpha[position], data.labels[row], 0);
      const expected = (slope - margin) / data.rows.length;
      expect(memory.snapshotGradient[position] * rowCounts[position]).toBeCloseTo(expected, 12);
    });
  },
);

test('passes: 2 an epoch, 4 with SVRG, 2 for each pass of the initialization', () => {
  const passesAfter = (settings: Partial<DsoSettings>) => {
    const { method } = start(settings);
    method.epoch();
    method.epoch();
    return method.passes;
  };
  expect(passesAfter({ svrg: false })).toBe(4);
  expect(passesAfter({ svrg: true })).toBe(8);
  expect(passesAfter({ svrg: true, initialize: 20 })).toBe(48);
});

test('the initialization starts nearer to the optimum than 0 does', () => {
  const { method } = start({ initialize: 20 });
  const { primal, dual } = method.evaluate(true);
  expect(primal).toBeLessThan(0.9);
  expect(dual).toBeGreaterThan(0);
});
