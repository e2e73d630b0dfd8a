/** Limited-memory BFGS and OWL-QN: the optimum, the way there, and the rest once there. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import type { LbfgsMemory } from '../../../../src/solvers/rivals/lbfgs.ts';
import { lbfgs } from '../../../../src/solvers/rivals/owl-qn.ts';
import type { Method } from '../../../../src/solvers/solver.ts';
import { pairs } from '../../../conformance/pairs.ts';
import { type ReferenceProblem, referenceOptimum } from '../../../reference/reference.ts';
import { datasetOf, sample, sampleFor, zipfDataset } from '../../../support/data.ts';
import { contextOf, type EngineOptions, prepare, runOnThreads } from '../../../support/engine.ts';
import { firstDifference } from '../../../support/engine-arrays.ts';

const lambda = 0.02;

function start(options: Omit<EngineOptions, 'solver'>, history = 10): Method {
  const settings = { history };
  const engine = prepare({ lambda, grid: 3, ...options, solver: solvers.lbfgs(settings) });
  const memory = engine.memory.method as LbfgsMemory;
  return lbfgs.create(contextOf(engine), memory, settings, options.loss);
}

/** Iterates until the gap is met; P falls on the way, with the optimum between D and P. */
function follow(method: Method, optimum: number, tolerance: number, most: number): number {
  const slack = 1e-9 * optimum;
  let primal = Infinity;
  for (let t = 1; t <= most; t++) {
    method.epoch();
    const found = method.evaluate(true);
    expect(found.primal, `iteration ${t}`).toBeLessThanOrEqual(primal * (1 + 1e-13));
    expect(found.primal, `iteration ${t}`).toBeGreaterThanOrEqual(optimum - slack);
    expect(found.dual, `iteration ${t}`).toBeLessThanOrEqual(optimum + slack);
    primal = found.primal;
    if (primal - found.dual <= tolerance * primal) return t;
  }
  throw new Error(`after ${most} iterations P is ${primal}, the optimum ${optimum}`);
}

const smooth = pairs.filter(({ loss }) => loss.smooth);

describe.each(smooth)('$title', ({ loss, penalty }) => {
  const { rows, labels, dataset } = sampleFor(loss);

  test.each([false, true])('reaches the optimum, intercept: %s', (intercept) => {
    const problem: ReferenceProblem = { rows, labels, loss, penalty, lambda, intercept };
    const { value: optimum } = referenceOptimum(problem);
    follow(start({ dataset, loss, penalty, intercept }), optimum, 1e-6, 60);
  });

  test('reaches it with one pair, and with columns that have penalties of their own', () => {
    const penaltyFactors = rows[0].map((_, j) => 0.1 + 0.7 * j);
    const problem: ReferenceProblem = { rows, labels, loss, penalty, lambda, penaltyFactors };
    const { value: optimum } = referenceOptimum(problem);
    const factors = Float64Array.from(penaltyFactors);
    follow(start({ dataset, loss, penalty, factors }, 1), optimum, 1e-6, 300);
  });

  test('comes to rest at the optimum, to rounding, and then touches no data', () => {
    const problem: ReferenceProblem = { rows, labels, loss, penalty, lambda };
    const { value: optimum } = referenceOptimum(problem);
    const method = start({ dataset, loss, penalty });
    for (let t = 0; t < 300; t++) method.epoch();
    const { passes } = method;
    const weights = method.weights.slice();
    for (let t = 0; t < 10; t++) method.epoch();
    expect(method.passes).toBe(passes);
    expect(firstDifference(method.weights, weights)).toBeUndefined();
    const { primal, dual } = method.evaluate(true);
    expect(Math.abs(primal - optimum)).toBeLessThan(1e-10 * optimum);
    expect(primal - dual).toBeLessThan(1e-6 * optimum);
  });
});

test('an iteration with L2 is two passes', () => {
  const { dataset } = sample();
  const method = start({ dataset, loss: losses.logistic(), penalty: penalties.l2() });
  for (let t = 1; t <= 5; t++) {
    method.epoch();
    expect(method.passes).toBe(1 + 2 * t);
  }
});

test('L1 sets weights to exactly zero, as many as the reference', () => {
  const { rows, labels, dataset } = sample({ columns: 30, rows: 40, seed: 3 });
  const [loss, penalty] = [losses.logistic(), penalties.l1()];
  const problem = { rows, labels, loss, penalty, lambda: 0.05 };
  const { value: optimum, weights } = referenceOptimum(problem);
  const method = start({ dataset, loss, penalty, lambda: 0.05 });
  follow(method, optimum, 1e-7, 300);
  const expected = weights.filter((w) => Math.abs(w) > 1e-6).length;
  expect(expected).toBeLessThan(25);
  expect(method.weights.filter((w) => w !== 0)).toHaveLength(expected);
});

test('columns of very different scales', () => {
  const { rows, labels } = sample({ seed: 4, task: 'regression' });
  const scaled = rows.map((row) => row.map((x, j) => Math.fround(x * 4 ** (j - 5))));
  const [loss, penalty] = [losses.square(), penalties.l2()];
  const problem = { rows: scaled, labels, loss, penalty, lambda, intercept: true };
  const { value: optimum } = referenceOptimum(problem);
  const dataset = datasetOf(scaled, labels);
  follow(start({ dataset, loss, penalty, intercept: true }), optimum, 1e-6, 200);
});

test('a start that is the optimum', () => {
  // Labels of zero: w = 0 fits them.
  const dataset = datasetOf([[1], [2]], [0, 0]);
  const method = start({ dataset, loss: losses.square(), penalty: penalties.l2(), grid: 1 });
  method.epoch();
  expect([...method.weights]).toEqual([0]);
  expect(method.evaluate(true)).toEqual({ primal: 0, dual: -0 });
});

test.each([
  { penalty: penalties.l2(), intercept: true },
  { penalty: penalties.l1(), intercept: true },
  { penalty: penalties.elasticNet(), intercept: false },
])(
  'the same bits on 1 to 4 threads, with $penalty.name, intercept: $intercept',
  async ({ penalty, intercept }) => {
    const dataset = zipfDataset({ rows: 300, columns: 200, perRow: 12 });
    const run = async (threads: number) => {
      const [loss, solver] = [losses.logistic(), solvers.lbfgs()];
      const options = { dataset, loss, penalty, lambda: 0.003, grid: 4, solver, intercept };
      const engine = prepare(options);
      const { events } = await runOnThreads(engine, threads, { epochs: 12 });
      const trail = Float64Array.from(events.flatMap(({ primal, dual }) => [primal, dual]));
      return { best: engine.memory.best.slice(), trail };
    };
    const one = await run(1);
    expect(one.trail).toHaveLength(24);
    for (const threads of [2, 3, 4]) {
      const more = await run(threads);
      expect(firstDifference(more.best, one.best)).toBeUndefined();
      expect(firstDifference(more.trail, one.trail)).toBeUndefined();
    }
  },
);

test.each([losses.hinge(), losses.absolute({ epsilon: 0.1 })])('refuses $name', (loss) => {
  const { dataset } = sample({ task: loss.task });
  const options = { dataset, loss, penalty: penalties.l2(), solver: solvers.lbfgs() };
  expect(() => prepare(options)).toThrow(
    `lbfgs is not compatible with loss '${loss.name}': it needs a smooth loss (use ring, dso or bmrm)`,
  );
});
