/** Workers that descend on their own: their mean is the model, and not the optimum. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import type { SgdSettings } from '../../../../src/solvers/registry.ts';
import type { SgdMemory } from '../../../../src/solvers/rivals/local-sgd.ts';
import { Sgd } from '../../../../src/solvers/rivals/sgd.ts';
import { referenceOptimum } from '../../../reference/reference.ts';
import { sample } from '../../../support/data.ts';
import { contextOf, type Engine, prepare, runOnThreads } from '../../../support/engine.ts';
import { eagerSgd } from '../eager-sgd.ts';

const lambda = 0.01;
const loss = losses.logistic();
const penalty = penalties.elasticNet();
const data = sample({ rows: 90, columns: 12, seed: 3 });
const common = { dataset: data.dataset, loss, penalty, lambda, intercept: true };

function methodOf(engine: Engine): Sgd {
  const settings = engine.plan.settings as SgdSettings;
  return new Sgd(contextOf(engine), engine.memory.method as SgdMemory, settings, loss);
}

const variants = [
  { title: 'AdaGrad', settings: { step: 'adagrad', stepSize: 0.6, average: true } },
  { title: '1/√t', settings: { step: 'sqrt', stepSize: 0.1, average: true } },
  { title: 'last iterate', settings: { step: 'adagrad', stepSize: 0.6, average: false } },
] as const;

describe.each(variants)('$title', ({ settings }) => {
  test('one worker is sgd, to the last bit', () => {
    const serial = methodOf(prepare({ ...common, solver: solvers.sgd(settings) }));
    const alone = methodOf(prepare({ ...common, solver: solvers.psgd(settings) }));
    for (let epoch = 0; epoch < 6; epoch++) {
      serial.epoch();
      alone.epoch();
      expect(alone.evaluate(true)).toEqual(serial.evaluate(true));
    }
    expect(alone.weights).toEqual(serial.weights);
    expect(alone.passes).toBe(serial.passes);
  });

  test('1, 2, 3 and 4 threads make the same bits', async () => {
    const runWith = async (threads: number) => {
      const engine = prepare({ ...common, grid: 4, solver: solvers.psgd(settings) });
      const { events } = await runOnThreads(engine, threads, { epochs: 5 });
      const untimed = events.map(({ seconds: _seconds, effort: _effort, ...rest }) => rest);
      return { best: engine.memory.best, events: untimed };
    };
    const one = await runWith(1);
    expect(one.best.some((w) => w !== 0)).toBe(true);
    for (const threads of [2, 3, 4]) expect(await runWith(threads)).toEqual(one);
  });
});

test.each([1, 3, 4])('%d workers: the model is the mean of what each finds alone', (grid) => {
  const { settings } = variants[2];
  const engine = prepare({ ...common, grid, solver: solvers.psgd(settings) });
  const method = methodOf(engine);
  for (let epoch = 0; epoch < 5; epoch++) {
    method.epoch();
    // Whether anybody looks makes no difference.
    if (epoch % 2 === 0) method.evaluate(true);
  }
  const alone = Array.from({ length: grid }, (_, worker) =>
    eagerSgd(data, engine.problem, settings, loss, worker, 5),
  );
  method.weights.forEach((w, j) => {
    const mean = alone.reduce((sum, { w: own }) => sum + own[j] / grid, 0);
    expect(Math.abs(w - mean)).toBeLessThan(1e-12);
  });
});

test('it stops short of the optimum, the more so the more workers there are', () => {
  const { value: optimum } = referenceOptimum({ ...data, loss, penalty, lambda, intercept: true });
  const excess = [1, 3, 9].map((grid) => {
    const method = methodOf(prepare({ ...common, grid, solver: solvers.psgd() }));
    for (let epoch = 0; epoch < 1000; epoch++) method.epoch();
    const { primal, dual } = method.evaluate(true);
    expect(dual).toBeLessThan(optimum);
    return primal / optimum - 1;
  });
  expect(excess[0]).toBeLessThan(1e-4);
  expect(excess[1]).toBeGreaterThan(1e-2);
  expect(excess[2]).toBeGreaterThan(2 * excess[1]);
});
