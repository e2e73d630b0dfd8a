/** Weights that are bounded: every solver that takes them reaches the optimum of the reference. */
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { referenceObjective, referenceOptimum } from '../reference/reference.ts';
import { sampleFor } from '../support/data.ts';
import { expectIncompatible, trainCertified } from './certified.ts';
import { pairs } from './pairs.ts';

const boxes = [
  { name: 'non-negative', bounds: { low: 0 }, intercept: false },
  { name: 'in [−0.1, 0.2], intercept', bounds: { low: -0.1, high: 0.2 }, intercept: true },
  { name: 'at most 0.05, factors', bounds: { high: 0.05 }, intercept: false, weighted: true },
];

const problems = pairs.flatMap((pair) =>
  boxes.map((box) => ({
    ...box,
    ...pair,
    penalty: penalties.bounded(pair.penalty, box.bounds),
    title: `${pair.title}, ${box.name}`,
  })),
);

const factors = [1, 2, 0.25, 0.5];

interface Way extends TrainOptions {
  readonly name: string;
  readonly tolerance: number;
  readonly smoothOnly?: boolean;
}

/** On linear programs only the average of the iterates of a saddle solver comes to rest. */
function ways(linear: boolean): Way[] {
  const rows = solvers.ring({ mode: 'rows' });
  const columns = solvers.ring({ mode: 'columns' });
  const dso = { average: linear };
  const tolerance = linear ? 1e-3 : 1e-6;
  return [
    { name: 'auto', solver: solvers.auto(), grid: 2, tolerance },
    { name: 'ring rows, grid 1', solver: rows, grid: 1, tolerance },
    { name: 'ring rows, grid 3', solver: rows, grid: 3, tolerance },
    {
      name: 'ring rows, grid 3, 2 rotations',
      solver: solvers.ring({ mode: 'rows', rotations: 2 }),
      grid: 3,
      tolerance,
    },
    { name: 'ring columns, grid 1', solver: columns, grid: 1, tolerance, smoothOnly: true },
    { name: 'ring columns, grid 3', solver: columns, grid: 3, tolerance, smoothOnly: true },
    { name: 'dso', solver: solvers.dso(dso), grid: 3, tolerance: 1e-2 },
    { name: 'dso-async', solver: solvers.dsoAsync(dso), grid: 3, threads: 3, tolerance: 1e-2 },
    { name: 'sgd', solver: solvers.sgd(), tolerance: 1e-2 },
    { name: 'sgd, η₀/√t', solver: solvers.sgd({ step: 'sqrt' }), tolerance: 1e-2 },
    { name: 'admm', solver: solvers.admm(), grid: 3, tolerance },
  ];
}

describe.each(problems)('$title', (given) => {
  const { loss, penalty, linear, lambda, intercept, weighted = false } = given;
  const { rows, labels, dataset } = sampleFor(loss);
  const { low = -Infinity, high = Infinity } = penalty;
  const penaltyFactors = rows[0].map((_, j) => factors[j % factors.length]);
  const settings = { loss, penalty, lambda, intercept };
  const problem = { rows, labels, ...settings, ...(weighted && { penaltyFactors }) };
  const { value: optimum, weights } = referenceOptimum(problem);
  const common: TrainOptions = {
    ...settings,
    threads: 1,
    epochs: 20_000,
    ...(weighted && { penaltyFactors: Float64Array.from(penaltyFactors) }),
  };

  test('the box is felt', () => {
    const free = { ...problem, penalty: { l1: penalty.l1, l2: penalty.l2 } };
    expect(weights.every((w) => w >= low && w <= high)).toBe(true);
    expect(referenceOptimum(free).value).toBeLessThan(optimum - 1e-4);
  });

  test.for(ways(linear))('$name', async ({ name, smoothOnly, ...options }) => {
    if (smoothOnly && !loss.smooth) return expectIncompatible(dataset, { ...common, ...options });
    const { model, report } = await trainCertified(dataset, optimum, { ...common, ...options });
    // Not a rounding error outside: the textbook's objective is infinite there.
    expect([...model.weights].every((w) => w >= low && w <= high)).toBe(true);
    const value = referenceObjective(problem, [...model.weights], model.intercepts[0]);
    expect(Math.abs(value - report.primal)).toBeLessThan(1e-11 * optimum);
    expect(value - optimum).toBeLessThanOrEqual(options.tolerance * value);
    expect(model.penalty).toEqual({
      name: penalty.name,
      l1: penalty.l1,
      l2: penalty.l2,
      ...(low > -Infinity && { low }),
      ...(high < Infinity && { high }),
    });
  });

  test('psgd stays in the box, with a bound that holds', async () => {
    const options = { ...common, solver: solvers.psgd(), grid: 3, epochs: 40, tolerance: 1e-9 };
    const { model, report } = await train(dataset, options);
    expect([...model.weights].every((w) => w >= low && w <= high)).toBe(true);
    expect(report.primal).toBeGreaterThanOrEqual(optimum * (1 - 1e-9));
    expect(report.dual).toBeLessThanOrEqual(optimum * (1 + 1e-9));
  });

  const refusing = [solvers.bmrm(), solvers.lbfgs(), solvers.proximalPoint(), solvers.dcd()];
  test.each(refusing)('$name refuses', async (solver) => {
    await expect(train(dataset, { ...common, solver })).rejects.toThrow(UsageError);
  });
});
