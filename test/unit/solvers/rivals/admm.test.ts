/** Consensus ADMM: its parts in one thread, and the same bits on several. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { type Penalty, penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import type { AdmmSettings } from '../../../../src/solvers/registry.ts';
import { Admm } from '../../../../src/solvers/rivals/admm.ts';
import { AdmmCopies, type AdmmMemory } from '../../../../src/solvers/rivals/admm-copies.ts';
import { referenceOptimum } from '../../../reference/reference.ts';
import { datasetOf, sample } from '../../../support/data.ts';
import { contextOf, prepare, runOnThreads } from '../../../support/engine.ts';

const grid = 3;

interface Options {
  readonly loss?: Loss;
  readonly penalty?: Penalty;
  readonly intercept?: boolean;
  readonly lambda?: number;
  /** Of the features. */
  readonly scale?: number;
  readonly labelScale?: number;
  readonly settings?: Partial<AdmmSettings>;
}

function layOut(options: Options) {
  const { loss = losses.hinge(), penalty = penalties.l2(), intercept = false } = options;
  const { lambda = 0.02, scale = 1, labelScale = 1, settings = {} } = options;
  const data = sample({ task: loss.task });
  const rows = data.rows.map((row) => row.map((x) => Math.fround(scale * x)));
  const labels = data.labels.map((y) => labelScale * y);
  const dataset = datasetOf(rows, labels);
  const solver = solvers.admm(settings);
  const engine = prepare({ dataset, loss, penalty, lambda, grid, intercept, solver });
  const problem = { rows, labels, loss, penalty, lambda, intercept };
  return { engine, problem, memory: engine.memory.method as AdmmMemory };
}

function start(options: Options) {
  const { engine, problem, memory } = layOut(options);
  if (engine.plan.name !== 'admm') throw new Error('not the requested solver');
  const context = contextOf(engine);
  const method = new Admm(context, memory, engine.plan.settings, engine.loss);
  return { engine, problem, context, memory, method };
}

/** The worker's rows, dense and with columns by position. */
function rowsOf({ engine, problem }: ReturnType<typeof layOut>, worker: number) {
  const { rowStarts, rowOrder, columnOrder } = engine.problem.grid.partition;
  const own = [...rowOrder.subarray(rowStarts[worker], rowStarts[worker + 1])];
  return {
    rows: own.map((row) => [...columnOrder].map((column) => problem.rows[row][column] ?? 1)),
    labels: own.map((row) => problem.labels[row]),
  };
}

describe("a worker's own problem", () => {
  const rho = 0.05;

  test.each([losses.hinge(), losses.smoothedHinge({ smoothing: 0.5 }), losses.logistic()])(
    '$name: enough passes lead to argmin f_q(x) + (ρ/2)‖x‖²',
    (loss) => {
      const laidOut = layOut({ loss });
      const { engine, memory } = laidOut;
      const copies = new AdmmCopies(contextOf(engine), memory, rho);
      const { rows: height, columns } = engine.problem;
      for (let worker = 0; worker < grid; worker++) {
        copies.descend(worker, 3000);
        const own = rowsOf(laidOut, worker);
        // f_q has 1/m before its sum, the reference 1/m_q.
        const lambda = (rho * height) / own.rows.length;
        const { weights } = referenceOptimum({ ...own, loss, penalty: penalties.l2(), lambda });
        const copy = memory.copies.subarray(worker * columns, (worker + 1) * columns);
        expect(Math.max(...weights.map((w, j) => Math.abs(w - copy[j])))).toBeLessThan(1e-6);
      }
    },
  );

  test('the tie is to z − u_q: ρ_j (x_q − z + u_q) = −∇f_q(x_q), the intercept included', () => {
    const loss = losses.logistic();
    const laidOut = layOut({ loss, intercept: true });
    const { engine, memory } = laidOut;
    const context = contextOf(engine);
    const method = new Admm(context, memory, { passes: 3 }, loss);
    for (let epoch = 0; epoch < 4; epoch++) method.epoch();
    const { rows: height, columns } = engine.problem;
    // The copies that the epochs left behind are where the next problem starts from.
    const { weights, inverse, pulls, copies, alpha } = memory;
    for (let worker = 0; worker < grid; worker++) {
      const { rows } = rowsOf(laidOut, worker);
      const own = context.objective.rowsOf(alpha, worker);
      for (let j = 0; j < columns; j++) {
        const image = rows.reduce((sum, row, i) => sum + own[i] * row[j], 0) / height;
        const at = worker * columns + j;
        const tie = (copies[at] - weights[j] + pulls[at]) / inverse[j];
        expect(tie).toBeCloseTo(image, 12);
      }
    }
  });
});

test('z minimises the penalty and the ties to all copies', () => {
  const { engine, memory, method } = start({ penalty: penalties.elasticNet(), intercept: true });
  for (let epoch = 0; epoch < 3; epoch++) method.epoch();
  const { columns, l1, l2, interceptPosition } = engine.problem;
  // The ties' slope at the new z is −Σ_q ρ_j u_q with the new u_q, whatever the relaxation.
  for (let j = 0; j < columns; j++) {
    let slope = 0;
    for (let worker = 0; worker < grid; worker++) {
      slope += memory.pulls[worker * columns + j] / memory.inverse[j];
    }
    const z = memory.weights[j];
    if (j === interceptPosition) expect(slope).toBeCloseTo(0, 12);
    else if (z === 0) expect(Math.abs(slope)).toBeLessThanOrEqual(l1[j] + 1e-12);
    else expect(slope).toBeCloseTo(l1[j] * Math.sign(z) + l2[j] * z, 12);
  }
});

describe('reaches the reference optimum', () => {
  const cases: readonly (Options & { title: string; epochs: number })[] = [
    { title: 'hinge', epochs: 400 },
    {
      title: 'logistic, L1, intercept',
      loss: losses.logistic(),
      penalty: penalties.l1(),
      intercept: true,
      epochs: 400,
    },
    {
      title: 'square, elastic net',
      loss: losses.square(),
      penalty: penalties.elasticNet(),
      epochs: 200,
    },
    { title: 'one pass an iteration', settings: { passes: 1 }, epochs: 600 },
    { title: 'ρ as given', settings: { rho: 0.1 }, epochs: 600 },
    {
      title: 'features × 1000',
      scale: 1000,
      lambda: 0.02e6,
      intercept: true,
      loss: losses.logistic(),
      epochs: 300,
    },
    {
      title: 'features × 0.001',
      scale: 0.001,
      lambda: 0.02e-6,
      intercept: true,
      loss: losses.logistic(),
      epochs: 300,
    },
  ];

  test.each(cases)('$title', ({ epochs, ...options }) => {
    const { engine, problem, memory, method } = start(options);
    for (let epoch = 0; epoch < epochs; epoch++) method.epoch();
    const { primal, dual } = method.evaluate(true);
    const { value } = referenceOptimum(problem);
    expect(primal - value).toBeLessThan(1e-5 * value);
    expect(value - dual).toBeLessThan(1e-5 * value);
    expect(dual).toBeLessThanOrEqual(value * (1 + 1e-9));
    // All copies agree.
    const { columns } = engine.problem;
    const largest = Math.max(...memory.weights.map(Math.abs));
    memory.copies.forEach((x, k) => {
      expect(Math.abs(x - memory.weights[k % columns])).toBeLessThan(1e-3 * largest);
    });
  });
});

test('residuals are balanced where the scale of the labels puts the first ρ far off', () => {
  const scale = 1e5;
  const loss = losses.absolute({ epsilon: 0.1 * scale });
  const { memory, method } = start({ loss, lambda: 0.02 / scale, labelScale: scale });
  const before = memory.inverse[0];
  for (let epoch = 0; epoch < 400; epoch++) method.epoch();
  expect(memory.inverse[0]).toBeGreaterThan(1000 * before);
  const { primal, dual } = method.evaluate(true);
  expect(primal - dual).toBeLessThan(1e-4 * primal);
});

test('ρ as given stays as it is', () => {
  const { memory, method } = start({ settings: { rho: 7 } });
  for (let epoch = 0; epoch < 30; epoch++) method.epoch();
  expect(new Set(memory.inverse)).toEqual(new Set([1 / 7]));
});

test('a column has copies only where it occurs', () => {
  const rows = [
    [1, 0, 2, 0],
    [1, 3, 0, 0],
    [0, 1, 1, 0],
  ];
  const dataset = datasetOf(rows, [1, -1, 1], 4);
  const engine = prepare({
    dataset,
    loss: losses.hinge(),
    penalty: penalties.l2(),
    grid,
    solver: solvers.admm(),
  });
  const memory = engine.memory.method as AdmmMemory;
  const method = new Admm(contextOf(engine), memory, { passes: 2 }, engine.loss);
  const { columnPosition } = engine.problem.grid.partition;
  expect([0, 1, 2, 3].map((column) => memory.copyCounts[columnPosition[column]])).toEqual([
    2, 2, 2, 0,
  ]);
  for (let epoch = 0; epoch < 50; epoch++) method.epoch();
  expect(memory.weights[columnPosition[3]]).toBe(0);
});

test('leaves P and D unknown where they would cost a pass', () => {
  const { method } = start({});
  method.epoch();
  expect(method.evaluate(false)).toEqual({ primal: Infinity, dual: -Infinity });
});

test('passes: two per pass where every row moves, fewer where some rest', () => {
  const smooth = start({ loss: losses.logistic(), settings: { passes: 3 } });
  smooth.method.epoch();
  expect(smooth.method.passes).toBeCloseTo(6, 12);
  const { method } = start({ settings: { passes: 3 } });
  for (let epoch = 0; epoch < 10; epoch++) method.epoch();
  expect(method.passes).toBeLessThan(60);
  expect(method.passes).toBeGreaterThanOrEqual(30);
});

test('the same bits on 1 to 4 threads and with both kinds of kernels', async () => {
  const { dataset } = sample({ rows: 80 });
  const common = { dataset, loss: losses.logistic(), penalty: penalties.elasticNet(), grid: 4 };
  const results = [];
  for (const [threads, kernels] of [
    [1, 'wasm'],
    [2, 'wasm'],
    [3, 'wasm'],
    [4, 'wasm'],
    [2, 'plain'],
  ] as const) {
    const engine = prepare({ ...common, intercept: true, solver: solvers.admm(), kernels });
    const { outcome, events } = await runOnThreads(engine, threads, { epochs: 25 });
    const { weights, alpha, copies } = engine.memory.method as AdmmMemory;
    const figures = events.map(({ primal, dual, passes }) => [primal, dual, passes]);
    results.push({ weights: [...weights], alpha: [...alpha], copies: [...copies], figures });
    expect(outcome.epochs).toBe(25);
  }
  for (const result of results.slice(1)) expect(result).toEqual(results[0]);
});
