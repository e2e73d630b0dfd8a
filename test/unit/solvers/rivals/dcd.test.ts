/** Dual coordinate descent, in one thread. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { type Penalty, penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { stat } from '../../../../src/solvers/kernels/kernels.ts';
import { Dcd, type DcdMemory } from '../../../../src/solvers/rivals/dcd.ts';
import { train } from '../../../../src/train/train.ts';
import { referenceOptimum } from '../../../reference/reference.ts';
import { sample } from '../../../support/data.ts';
import { contextOf, prepare } from '../../../support/engine.ts';

const lambda = 0.02;
const rounding = 1e-12;

const problems: readonly { loss: Loss; penalty: Penalty; factors?: Float64Array }[] = [
  { loss: losses.hinge(), penalty: penalties.l2() },
  { loss: losses.logistic(), penalty: penalties.l2() },
  { loss: losses.squaredHinge(), penalty: penalties.elasticNet({ l1Ratio: 0.5 }) },
  { loss: losses.absolute({ epsilon: 0.1 }), penalty: penalties.elasticNet({ l1Ratio: 0.2 }) },
  {
    loss: losses.hinge(),
    penalty: penalties.l2(),
    factors: Float64Array.from({ length: 10 }, (_, j) => 0.5 + 0.3 * j),
  },
];

function start({ loss, penalty, factors }: (typeof problems)[number], shrink: boolean) {
  const data = sample({ task: loss.task });
  const engine = prepare({
    dataset: data.dataset,
    loss,
    penalty,
    lambda,
    solver: solvers.dcd({ shrink }),
    ...(factors && { factors }),
  });
  const context = contextOf(engine);
  const memory = engine.memory.method as DcdMemory;
  const method = new Dcd(context, memory, { shrink }, engine.loss);
  const optimum = referenceOptimum({
    ...data,
    loss,
    penalty,
    lambda,
    ...(factors && { penaltyFactors: [...factors] }),
  });
  return { engine, context, memory, method, optimum };
}

describe.each(problems)('$loss.name, $penalty.name, factors $factors', (problem) => {
  test.each([true, false])('no epoch lets the dual fall; shrinking: %s', (shrink) => {
    const { method } = start(problem, shrink);
    let before = -Infinity;
    for (let epoch = 0; epoch < 60; epoch++) {
      method.epoch();
      const { primal, dual } = method.evaluate(false);
      expect(primal).toBe(Infinity);
      expect(dual).toBeGreaterThanOrEqual(before - rounding);
      before = dual;
    }
  });

  test.each([true, false])('reaches the optimum; shrinking: %s', (shrink) => {
    const { method, optimum } = start(problem, shrink);
    for (let epoch = 0; epoch < 3000; epoch++) method.epoch();
    const { primal, dual } = method.evaluate(true);
    expect(primal - optimum.value).toBeLessThan(1e-7 * optimum.value);
    expect(optimum.value - dual).toBeLessThan(1e-7 * optimum.value);
  });
});

describe('shrinking', () => {
  /** Rows that an epoch looks at, given the entries touched: 1 for a look, 2 for a step. */
  function visits(shrink: boolean, epochs: number): { rows: number[]; work: number[] } {
    const { method, memory } = start(problems[0], shrink);
    const rows: number[] = [];
    const work: number[] = [];
    for (let epoch = 0; epoch < epochs; epoch++) {
      method.epoch();
      rows.push(new Set(memory.active.subarray(0, memory.activeCount[0])).size);
      work.push(memory.stats[stat.work]);
    }
    return { rows, work };
  }

  test('off: every row is visited in every epoch', () => {
    const { engine } = start(problems[0], false);
    const { nonzeros: entries, rows: height } = engine.problem;
    const { rows, work } = visits(false, 40);
    expect(rows).toEqual(new Array(40).fill(height));
    for (const touched of work) expect(touched).toBeGreaterThanOrEqual(entries);
  });

  test('on: rows at rest are left out, none for longer than seven epochs', () => {
    const { method, memory, engine } = start(problems[0], true);
    const height = engine.problem.rows;
    const seen = new Int32Array(height);
    let least = height;
    for (let epoch = 1; epoch <= 60; epoch++) {
      method.epoch();
      const active = memory.active.subarray(0, memory.activeCount[0]);
      least = Math.min(least, active.length);
      for (const i of active) seen[i] = epoch;
      expect(epoch - Math.min(...seen)).toBeLessThanOrEqual(7);
    }
    expect(least).toBeLessThan(0.6 * height);
  });

  test('every epoch has an order of its own', () => {
    const { method, memory } = start(problems[0], false);
    method.epoch();
    const first = [...memory.active];
    method.epoch();
    const second = [...memory.active];
    expect(second).not.toEqual(first);
    expect(second.toSorted((a, b) => a - b)).toEqual(first.toSorted((a, b) => a - b));
  });

  test('passes count what was touched', () => {
    const { method, memory, engine } = start(problems[0], true);
    let work = 0;
    for (let epoch = 0; epoch < 10; epoch++) {
      method.epoch();
      work += memory.stats[stat.work];
    }
    expect(method.passes).toBeCloseTo(work / engine.problem.nonzeros, 12);
    expect(method.passes).toBeLessThan(20);
  });
});

describe('what it cannot solve it refuses in words', () => {
  const { dataset } = sample();
  const solver = solvers.dcd();

  test('a pure L1 penalty', async () => {
    await expect(train(dataset, { solver, penalty: penalties.l1() })).rejects.toThrow(
      /dcd is not compatible with penalty 'l1': .* quadratic part/,
    );
  });

  test('an intercept', async () => {
    await expect(train(dataset, { solver, intercept: true })).rejects.toThrow(
      /dcd is not compatible with an intercept: .* quadratic penalty/,
    );
  });

  test('a grid', async () => {
    await expect(train(dataset, { solver, grid: 2 })).rejects.toThrow(/serial/);
  });
});
