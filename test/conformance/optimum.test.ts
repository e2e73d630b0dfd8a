/** Every loss with every penalty reaches the optimum of an independent reference, with a proof. */
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { Solver } from '../../src/solvers/registry.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { referenceObjective, referenceOptimum } from '../reference/reference.ts';
import { sampleFor } from '../support/data.ts';
import { expectIncompatible, trainCertified } from './certified.ts';
import { pairs } from './pairs.ts';

interface Way {
  readonly name: string;
  readonly solver: Solver;
  readonly grid: number;
  readonly smoothOnly?: boolean;
}

const ways: readonly Way[] = [
  { name: 'auto, grid 1', solver: solvers.auto(), grid: 1 },
  { name: 'auto, grid 3', solver: solvers.auto(), grid: 3 },
  { name: 'ring rows, grid 1', solver: solvers.ring({ mode: 'rows' }), grid: 1 },
  { name: 'ring rows, grid 3', solver: solvers.ring({ mode: 'rows' }), grid: 3 },
  {
    name: 'ring rows, grid 3, 1 rotation',
    solver: solvers.ring({ mode: 'rows', rotations: 1 }),
    grid: 3,
  },
  {
    name: 'ring rows, grid 3, 4 rotations',
    solver: solvers.ring({ mode: 'rows', rotations: 4 }),
    grid: 3,
  },
  {
    name: 'ring columns, grid 1',
    solver: solvers.ring({ mode: 'columns' }),
    grid: 1,
    smoothOnly: true,
  },
  {
    name: 'ring columns, grid 3',
    solver: solvers.ring({ mode: 'columns' }),
    grid: 3,
    smoothOnly: true,
  },
];

interface Other extends TrainOptions {
  readonly name: string;
  readonly solver: Solver;
  readonly tolerance: number;
  /** Problems that are out of a solver's reach are refused, and not in silence. */
  readonly refuses?: boolean;
}

const problems = pairs.flatMap((pair) =>
  [false, true].map((intercept) => ({
    ...pair,
    intercept,
    title: `${pair.title}${intercept ? ', intercept' : ''}`,
  })),
);

describe.each(problems)('$title', ({ loss, penalty, linear, lambda, intercept }) => {
  const { rows, labels, dataset } = sampleFor(loss);
  const problem = { rows, labels, loss, penalty, lambda, intercept };
  const { value: optimum } = referenceOptimum(problem);
  const tolerance = linear ? 1e-3 : 1e-6;
  const common = { loss, penalty, lambda, intercept, epochs: 20_000 };
  const noCurvature = intercept || !(penalty.l2 > 0);
  const noNewton = !loss.smooth || penalty.l1 > 0;

  test.for(ways)('$name', async ({ solver, grid, smoothOnly }) => {
    const options = { ...common, solver, grid, threads: 1, tolerance };
    if (smoothOnly && !loss.smooth) return expectIncompatible(dataset, options);
    const { model, report } = await trainCertified(dataset, optimum, options);
    // The model, by the textbook's formula, is as good as the report says.
    const value = referenceObjective(problem, [...model.weights], model.intercepts[0]);
    expect(Math.abs(value - report.primal)).toBeLessThan(1e-11 * optimum);
    expect(value - optimum).toBeLessThanOrEqual(tolerance * value);
  });

  // Equal bits in every epoch: what one thread has proved above holds for two.
  const several: [string, Solver][] = [
    ['auto', solvers.auto()],
    ['ring', solvers.ring()],
    ...(loss.smooth && penalty.l1 > 0
      ? [['working-set', solvers.workingSet()] as [string, Solver]]
      : []),
  ];
  test.each(several)('%s, grid 3: two threads do the same as one', async (_, solver) => {
    const run = async (threads: number) => {
      const reported: unknown[] = [];
      const { model } = await train(dataset, {
        ...common,
        solver,
        grid: 3,
        threads,
        tolerance,
        epochs: 12,
        onEpoch: ({ epoch, primal, dual }) => reported.push([epoch, primal, dual]),
      });
      return { reported, weights: model.weights, intercepts: model.intercepts };
    };
    const one = await run(1);
    expect(one.reported.length).toBeGreaterThan(1);
    expect(await run(2)).toEqual(one);
  });

  // On linear programs only the average of the iterates of a saddle solver comes to rest.
  const others: readonly Other[] = [
    { name: 'dso', solver: solvers.dso({ average: linear }), grid: 3, tolerance: 1e-2 },
    {
      name: 'dso-async',
      solver: solvers.dsoAsync({ average: linear }),
      grid: 3,
      threads: 3,
      tolerance: 1e-2,
    },
    { name: 'sgd', solver: solvers.sgd(), tolerance: 1e-2 },
    { name: 'sgd, η₀/√t', solver: solvers.sgd({ step: 'sqrt' }), tolerance: 1e-2 },
    { name: 'admm', solver: solvers.admm(), grid: 3, tolerance },
    { name: 'dcd', solver: solvers.dcd(), tolerance, refuses: noCurvature },
    {
      name: 'dcd without shrinking',
      solver: solvers.dcd({ shrink: false }),
      tolerance,
      refuses: noCurvature,
    },
    { name: 'bmrm', solver: solvers.bmrm(), grid: 3, tolerance, refuses: noCurvature },
    { name: 'lbfgs', solver: solvers.lbfgs(), grid: 3, tolerance, refuses: !loss.smooth },
    { name: 'newton', solver: solvers.newton(), tolerance, refuses: noNewton },
    { name: 'newton, grid 3', solver: solvers.newton(), grid: 3, tolerance, refuses: noNewton },
    { name: 'interior-point', solver: solvers.interiorPoint(), tolerance },
    { name: 'interior-point, grid 3', solver: solvers.interiorPoint(), grid: 3, tolerance },
    { name: 'proximal-point', solver: solvers.proximalPoint(), tolerance },
    { name: 'proximal-point, grid 3', solver: solvers.proximalPoint(), grid: 3, tolerance },
    ...(penalty.l1 > 0
      ? [1, 3].map((grid) => ({
          name: `interior-point, growing set, grid ${grid}`,
          solver: solvers.interiorPoint({ joining: 2 }),
          grid,
          tolerance,
        }))
      : []),
    {
      name: 'working-set',
      solver: solvers.workingSet(),
      tolerance,
      refuses: !loss.smooth || !(penalty.l1 > 0),
    },
    {
      name: 'working-set, grid 3',
      solver: solvers.workingSet(),
      grid: 3,
      tolerance,
      refuses: !loss.smooth || !(penalty.l1 > 0),
    },
  ];

  test.for(others)('$name', async ({ refuses, name, ...options }) => {
    const settled = { threads: 1, ...common, ...options };
    if (refuses) {
      await expect(train(dataset, settled)).rejects.toThrow(UsageError);
      return;
    }
    await trainCertified(dataset, optimum, settled);
  });
});
