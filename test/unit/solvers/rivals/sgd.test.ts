/** Serial stochastic gradient descent against the textbook's form of it, and its promises. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { type Penalty, penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { sgdSlot, sgdStride } from '../../../../src/solvers/kernels/kernels.ts';
import type { SgdSettings } from '../../../../src/solvers/registry.ts';
import type { SgdMemory } from '../../../../src/solvers/rivals/local-sgd.ts';
import { Sgd } from '../../../../src/solvers/rivals/sgd.ts';
import { datasetOf, sample, zipfDataset } from '../../../support/data.ts';
import { contextOf, prepare } from '../../../support/engine.ts';
import { eagerSgd } from '../eager-sgd.ts';

const lambda = 0.02;

interface Given {
  readonly dataset?: ReturnType<typeof datasetOf>;
  readonly loss?: Loss;
  readonly penalty?: Penalty;
  readonly settings?: Partial<SgdSettings>;
  readonly intercept?: boolean;
}

function start(given: Given) {
  const { loss = losses.hinge(), penalty = penalties.l2(), intercept = false } = given;
  const dataset = given.dataset ?? sample({ task: loss.task }).dataset;
  const solver = solvers.sgd(given.settings);
  const engine = prepare({ dataset, loss, penalty, lambda, intercept, solver });
  if (engine.plan.name !== 'sgd') throw new Error('not the requested solver');
  const { settings } = engine.plan;
  const memory = engine.memory.method as SgdMemory;
  const method = new Sgd(contextOf(engine), memory, settings, loss);
  const run = (epochs: number) => {
    for (let epoch = 0; epoch < epochs; epoch++) method.epoch();
    return method;
  };
  return { method, run, memory, settings, loss, problem: engine.problem };
}

function expectClose(found: Float64Array, expected: readonly number[], slack: number): void {
  const largest = Math.max(...expected.map((value, k) => Math.abs(found[k] - value)));
  expect(largest).toBeLessThan(slack);
}

const cases: { title: string; given: Given }[] = [
  { title: 'hinge, L2', given: {} },
  { title: 'hinge, L1', given: { penalty: penalties.l1() } },
  {
    title: 'logistic, elastic net, intercept',
    given: { loss: losses.logistic(), penalty: penalties.elasticNet(), intercept: true },
  },
  {
    title: 'square, L2, 1/√t',
    given: { loss: losses.square(), settings: { step: 'sqrt', stepSize: 0.04 } },
  },
  {
    title: 'absolute, L1, intercept, 1/√t',
    given: {
      loss: losses.absolute({ epsilon: 0.1 }),
      penalty: penalties.l1(),
      intercept: true,
      settings: { step: 'sqrt', stepSize: 0.3 },
    },
  },
];

test.each(cases)('lazy steps are the eager ones: $title', ({ given }) => {
  const settings = { stepSize: 0.7, ...given.settings, average: false };
  const { run, memory, problem, loss, settings: all } = start({ ...given, settings });
  const { weights } = run(5);
  const data = sample({ task: loss.task });
  const expected = eagerSgd(data, problem, { ...all, ...settings }, loss, 0, 5);
  expectClose(weights, expected.w, 1e-12);
  expectClose(memory.alpha, expected.alpha, 1e-12);
});

test('the average counts epoch e, the mean over its steps, e (e + 1) times', () => {
  const settings = { stepSize: 0.7, average: true };
  const { run, memory, problem, loss, settings: all } = start({ settings });
  const { weights } = run(4);
  const ends = [1, 2, 3, 4].map((epochs) =>
    eagerSgd(sample(), problem, { ...all, ...settings }, loss, 0, epochs),
  );
  const total = 2 + 6 + 12 + 20;
  const averaged = (values: (k: number) => readonly number[]) =>
    values(0).map((_, j) =>
      [2, 6, 12, 20].reduce((sum, weight, k) => sum + (weight / total) * values(k)[j], 0),
    );
  // Over short times the mean of a decaying weight is that of its ends.
  expectClose(
    weights,
    averaged((k) => ends[k].mean),
    1e-6,
  );
  expectClose(
    memory.meanAlpha,
    averaged((k) => ends[k].alpha),
    1e-12,
  );
});

test('averaging changes what is reported, not the steps, and is nearer to the optimum', () => {
  const averaged = start({ settings: { average: true } });
  const last = start({ settings: { average: false } });
  const better = averaged.run(30).evaluate(true);
  const worse = last.run(30).evaluate(true);
  expect(averaged.memory.alpha).toEqual(last.memory.alpha);
  expect(better.dual).toBe(worse.dual);
  expect(better.primal).toBeLessThan(worse.primal);
});

test('under L1 the last iterate has exact zeros, more than the average of the iterates', () => {
  const dataset = zipfDataset({ rows: 200, columns: 150, perRow: 8 });
  const zerosWith = (average: boolean) => {
    const { run } = start({ dataset, penalty: penalties.l1(), settings: { average } });
    return run(40).weights.filter((w) => w === 0).length;
  };
  expect(zerosWith(false)).toBeGreaterThan(30);
  expect(zerosWith(true)).toBeLessThan(zerosWith(false));
});

test('a pass is a look at every entry and, where ℓ is not flat, an update', () => {
  expect(start({ loss: losses.logistic() }).run(10).passes).toBe(20);
  const { passes } = start({}).run(10);
  expect(passes).toBeGreaterThan(10);
  expect(passes).toBeLessThan(20);
});

test('only a whole evaluation spends a pass', () => {
  expect(start({}).run(1).evaluate(false)).toEqual({ primal: Infinity, dual: -Infinity });
});

describe.each(['adagrad', 'sqrt'] as const)('%s, default step size', (step) => {
  test.each([1e-3, 1, 1e3])('square loss falls on features of scale %d', (scale) => {
    const { rows, labels } = sample({ task: 'regression' });
    const scaled = rows.map((row) => row.map((x) => Math.fround(scale * x)));
    const dataset = datasetOf(
      scaled,
      labels.map((y) => 50 * y),
    );
    const { method, run } = start({ dataset, loss: losses.square(), settings: { step } });
    const { primal: atZero } = method.evaluate(true);
    const best = scale === 1e-3 ? 1 : 0.5;
    for (let epoch = 0; epoch < 30; epoch++) {
      expect(run(1).evaluate(true).primal).toBeLessThan(1.001 * atZero);
    }
    expect(method.evaluate(true).primal).toBeLessThan(best * atZero);
  });
});

test('AdaGrad makes the same of columns in other units', () => {
  const { rows, labels } = sample();
  const unit = (column: number) => 2 ** (column - 5);
  const scaled = rows.map((row) => row.map((x, column) => x * unit(column)));
  const [plain, other] = [datasetOf(rows, labels), datasetOf(scaled, labels)].map((dataset) => {
    const started = start({ dataset });
    const { lines } = started.memory;
    // Without a penalty nothing but the units differs.
    for (let at = 0; at < lines.length; at += sgdStride) lines[at + sgdSlot.l2] = 0;
    started.run(5);
    return started;
  });
  const { columnOrder } = plain.problem.grid.partition;
  const back = other.method.weights.map((w, position) => w * unit(columnOrder[position]));
  expectClose(back, [...plain.method.weights], 1e-12);
});
