/** Every loss with every penalty reaches the optimum of an independent reference, with a proof. */
import { describe, expect, test } from 'vitest';
import { solvers } from '../../src/solvers/index.ts';
import type { Solver } from '../../src/solvers/solver.ts';
import { referenceObjective, referenceOptimum } from '../reference/reference.ts';
import { sample } from '../support/data.ts';
import { trainCertified } from './certified.ts';
import { pairs } from './pairs.ts';

interface Way {
  readonly name: string;
  readonly solver: Solver;
  readonly grid: number;
  /** Threads do not change the result (see determinism.test.ts), so that most runs can do with 1. */
  readonly threads: number;
  readonly smoothOnly?: boolean;
}

const ways: readonly Way[] = [
  { name: 'auto, grid 1', solver: solvers.auto(), grid: 1, threads: 1 },
  { name: 'auto, grid 3 on 2 threads', solver: solvers.auto(), grid: 3, threads: 2 },
  { name: 'ring rows, grid 1', solver: solvers.ring({ mode: 'rows' }), grid: 1, threads: 1 },
  { name: 'ring rows, grid 3', solver: solvers.ring({ mode: 'rows' }), grid: 3, threads: 1 },
  {
    name: 'ring columns, grid 1',
    solver: solvers.ring({ mode: 'columns' }),
    grid: 1,
    threads: 1,
    smoothOnly: true,
  },
  {
    name: 'ring columns, grid 3',
    solver: solvers.ring({ mode: 'columns' }),
    grid: 3,
    threads: 1,
    smoothOnly: true,
  },
];

const problems = pairs.flatMap((pair) =>
  [false, true].map((intercept) => ({
    ...pair,
    intercept,
    title: `${pair.title}${intercept ? ', intercept' : ''}`,
  })),
);

const lambda = 0.02;

describe.each(problems)('$title', ({ loss, penalty, linear, intercept }) => {
  const { rows, labels, dataset } = sample({ task: loss.task });
  const problem = { rows, labels, loss, penalty, lambda, intercept };
  const { value: optimum } = referenceOptimum(problem);
  const tolerance = linear ? 1e-3 : 1e-6;
  const common = { loss, penalty, lambda, intercept, epochs: 20_000 };

  test.for(ways)('$name', async ({ solver, grid, threads, smoothOnly }, { skip }) => {
    if (smoothOnly && !loss.smooth) skip(`${loss.name} has no second derivative`);
    const options = { ...common, solver, grid, threads, tolerance };
    const { model, report } = await trainCertified(dataset, optimum, options);
    // The model, by the textbook's formula, is as good as the report says.
    const value = referenceObjective(problem, [...model.weights], model.intercept);
    expect(Math.abs(value - report.primal)).toBeLessThan(1e-11 * optimum);
    expect(value - optimum).toBeLessThanOrEqual(tolerance * value);
  });

  test('dso, grid 3, to 1e-2', async () => {
    // On linear programs only the average of the iterates comes to rest.
    const solver = solvers.dso({ average: linear });
    const options = { ...common, solver, grid: 3, threads: 1, tolerance: 1e-2 };
    await trainCertified(dataset, optimum, options);
  });
});
