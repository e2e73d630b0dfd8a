/** The bundle method: what it owes after every iteration, with much and with little memory. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import { type Penalty, penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { type BmrmMemory, bmrm, planeCapacity } from '../../../../src/solvers/rivals/bmrm.ts';
import type { Method } from '../../../../src/solvers/solver.ts';
import { pairs } from '../../../conformance/pairs.ts';
import { referenceObjective, referenceOptimum } from '../../../reference/reference.ts';
import { sample, sampleFor, zipfDataset } from '../../../support/data.ts';
import { contextOf, type EngineOptions, prepare, runOnThreads } from '../../../support/engine.ts';
import { firstDifference } from '../../../support/engine-arrays.ts';

const lambda = 0.02;

function start(options: Omit<EngineOptions, 'solver'>, capacity?: number): Method {
  const engine = prepare({ lambda, grid: 3, ...options, solver: solvers.bmrm() });
  const memory = engine.memory.method as BmrmMemory;
  const room = { ...memory, planes: memory.planes.slice(0, capacity) };
  return bmrm.create(contextOf(engine), room, {}, options.loss);
}

/** Iterates until the gap is met, and demands P ≥ P* ≥ D after each iteration, D never falling. */
function follow(method: Method, optimum: number, tolerance: number, most: number): number {
  const slack = 1e-9 * optimum;
  let primal = Infinity;
  let bound = -Infinity;
  for (let t = 1; t <= most; t++) {
    method.epoch();
    const found = method.evaluate(true);
    expect(found.primal, `iteration ${t}`).toBeGreaterThanOrEqual(optimum - slack);
    expect(found.dual, `iteration ${t}`).toBeLessThanOrEqual(optimum + slack);
    expect(found.dual, `iteration ${t}`).toBeGreaterThanOrEqual(bound);
    expect(method.passes).toBe(2 * t);
    primal = Math.min(primal, found.primal);
    bound = found.dual;
    if (primal - bound <= tolerance * primal) return t;
  }
  throw new Error(`after ${most} iterations P is ${primal}, the bound ${bound}`);
}

const quadratic = pairs.filter(({ penalty }) => penalty.l2 > 0);

describe.each(quadratic)('$title', ({ loss, penalty }) => {
  const { rows, labels, dataset } = sampleFor(loss);
  const { value: optimum } = referenceOptimum({ rows, labels, loss, penalty, lambda });

  test('the bound stays below the optimum, never falls, and meets P', () => {
    // Planes far out on an exponential are steep and teach little.
    const most = loss.name === 'poisson' ? 2000 : 500;
    follow(start({ dataset, loss, penalty }), optimum, 1e-6, most);
  });

  test('so it does with room for five planes, which must be merged', () => {
    follow(start({ dataset, loss, penalty }, 5), optimum, 1e-2, 3000);
  });
});

test('columns with penalties of their own', () => {
  const { rows, labels, dataset } = sample({ seed: 5 });
  const penaltyFactors = rows[0].map((_, j) => 0.1 + 0.7 * j);
  for (const penalty of [penalties.l2(), penalties.elasticNet({ l1Ratio: 0.3 })]) {
    const loss = losses.hinge();
    const problem = { rows, labels, loss, penalty, lambda, penaltyFactors };
    const { value: optimum } = referenceOptimum(problem);
    const factors = Float64Array.from(penaltyFactors);
    follow(start({ dataset, loss, penalty, factors }), optimum, 1e-6, 500);
  }
});

test('P is that of the weights', () => {
  const { rows, labels, dataset } = sample({ seed: 2 });
  const [loss, penalty] = [losses.hinge(), penalties.elasticNet()];
  const engine = prepare({ dataset, loss, penalty, lambda, grid: 3, solver: solvers.bmrm() });
  const memory = engine.memory.method as BmrmMemory;
  const method = bmrm.create(contextOf(engine), memory, {}, loss);
  for (let t = 0; t < 5; t++) method.epoch();
  const { columnPosition } = engine.problem.grid.partition;
  const weights = Array.from(columnPosition, (position) => method.weights[position]);
  const value = referenceObjective({ rows, labels, loss, penalty, lambda }, weights);
  expect(method.evaluate(true).primal).toBeCloseTo(value, 13);
});

test('the elastic net leaves weights of useless columns at exactly zero', () => {
  const { dataset } = sample({ columns: 30, rows: 40, seed: 3 });
  const loss = losses.logistic();
  const penalty = penalties.elasticNet({ l1Ratio: 0.95 });
  const method = start({ dataset, loss, penalty, lambda: 0.1 });
  for (let t = 0; t < 30; t++) method.epoch();
  expect(method.weights.filter((w) => w === 0).length).toBeGreaterThan(5);
});

test.each([penalties.l2(), penalties.elasticNet()])(
  'the same bits on 1 to 4 threads, with $name',
  async (penalty: Penalty) => {
    const dataset = zipfDataset({ rows: 300, columns: 200, perRow: 12 });
    const run = async (threads: number) => {
      const loss = losses.hinge();
      const solver = solvers.bmrm();
      const engine = prepare({ dataset, loss, penalty, lambda: 0.003, grid: 4, solver });
      const { events } = await runOnThreads(engine, threads, { epochs: 40 });
      const trail = Float64Array.from(events.flatMap(({ primal, dual }) => [primal, dual]));
      return { best: engine.memory.best.slice(), trail };
    };
    const one = await run(1);
    expect(one.trail).toHaveLength(80);
    for (const threads of [2, 3, 4]) {
      const more = await run(threads);
      expect(firstDifference(more.best, one.best)).toBeUndefined();
      expect(firstDifference(more.trail, one.trail)).toBeUndefined();
    }
  },
);

test('memory for planes is bounded', () => {
  expect(planeCapacity(10)).toBe(500);
  expect(planeCapacity(36_191)).toBe(500);
  expect(planeCapacity(1e6)).toBe(33);
  expect(planeCapacity(1e7)).toBe(20);
});

describe('what it refuses', () => {
  const { dataset } = sample();
  const loss = losses.hinge();
  const solver = solvers.bmrm();

  test('a penalty without a quadratic part', () => {
    expect(() => prepare({ dataset, loss, penalty: penalties.l1(), solver })).toThrow(
      "bmrm is not compatible with penalty 'l1': it needs a quadratic part (l2 or elastic-net)",
    );
  });

  test('an intercept', () => {
    const options = { dataset, loss, penalty: penalties.l2(), solver, intercept: true };
    expect(() => prepare(options)).toThrow(
      'bmrm is not compatible with an intercept: it needs a quadratic penalty on every column',
    );
  });
});
