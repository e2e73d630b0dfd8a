/** Rows that count more or less than others, and weights that are bounded by a box, at once. */
import { describe, expect, test } from 'vitest';
import { stream } from '../../src/math/random.ts';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { Solver } from '../../src/solvers/registry.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { referenceObjective, referenceOptimum } from '../reference/reference.ts';
import { sample, sampleFor } from '../support/data.ts';
import { repeated, weighted } from '../support/weighted.ts';
import { expectIncompatible, trainCertified } from './certified.ts';
import { type Pair, pairs } from './pairs.ts';

interface Way {
  readonly name: string;
  readonly solver: Solver;
  readonly grid?: number;
  readonly tolerance: number;
  readonly smoothOnly?: boolean;
}

const box = { low: -0.1, high: 0.2 };
const inBox = (w: number) => w >= box.low && w <= box.high;

/**
 * Linear programs come to rest late, and only as averages in a saddle solver. Where a loss has a kink
 * and most weights are at an end of the box, an intercept leaves little else: row mode takes thousands
 * of epochs then to come below 1e-5.
 */
function ways({ loss, linear }: Pair, intercept: boolean): readonly Way[] {
  const exact = linear ? 1e-3 : intercept && !loss.smooth ? 1e-4 : 1e-6;
  const rows = solvers.ring({ mode: 'rows' });
  const columns = solvers.ring({ mode: 'columns' });
  const few = solvers.ring({ mode: 'rows', rotations: 2 });
  return [
    { name: 'ring rows, grid 1', solver: rows, tolerance: exact },
    { name: 'ring rows, grid 3', solver: rows, grid: 3, tolerance: exact },
    { name: 'few rotations', solver: few, grid: 3, tolerance: exact },
    { name: 'ring columns, grid 1', solver: columns, tolerance: exact, smoothOnly: true },
    { name: 'ring columns, grid 3', solver: columns, grid: 3, tolerance: exact, smoothOnly: true },
    { name: 'dso', solver: solvers.dso({ average: linear }), grid: 3, tolerance: 1e-2 },
    { name: 'dso-async', solver: solvers.dsoAsync({ average: linear }), grid: 3, tolerance: 1e-2 },
    { name: 'sgd', solver: solvers.sgd(), tolerance: 1e-2 },
    { name: 'sgd, η₀/√t', solver: solvers.sgd({ step: 'sqrt' }), tolerance: 1e-2 },
    { name: 'admm', solver: solvers.admm(), grid: 3, tolerance: exact },
  ];
}

describe.each(pairs)('$title', (pair) => {
  const { loss, lambda } = pair;
  const penalty = penalties.bounded(pair.penalty, box);
  const dense = sampleFor(loss);
  const random = stream(7, 42);
  const given = { loss, penalty, lambda };
  const common = { ...given, epochs: 40_000, threads: 1 };

  describe.each([false, true])('fractions, intercept %s', (intercept) => {
    const rowWeights = dense.rows.map(() => [0, 0.25, 1, 3, 4 * random.uniform()][random.below(5)]);
    const problem = { ...dense, ...given, intercept, rowWeights };
    const { value: optimum } = referenceOptimum(problem);

    test('both are felt', () => {
      expect(referenceOptimum({ ...problem, penalty: pair.penalty }).value).toBeLessThan(optimum);
      const { weights, intercept: b } = referenceOptimum({ ...dense, ...given, intercept });
      expect(referenceObjective(problem, weights, b)).toBeGreaterThan(optimum * (1 + 1e-4));
    });

    test.for(ways(pair, intercept))(
      '$name',
      async ({ solver, grid = 1, tolerance, smoothOnly }) => {
        const options = { ...common, intercept, solver, grid, tolerance };
        const dataset = weighted(dense, rowWeights);
        if (smoothOnly && !loss.smooth) return expectIncompatible(dataset, options);
        const { model, report } = await trainCertified(dataset, optimum, options);
        expect([...model.weights].every(inBox)).toBe(true);
        const value = referenceObjective(problem, [...model.weights], model.intercepts[0]);
        expect(Math.abs(value - report.primal)).toBeLessThan(1e-11 * optimum);
      },
    );
  });

  // Drawn here, not in the tests, whose order may change.
  const copies = ways(pair, false).map((way) => ({
    ...way,
    counts: dense.rows.map(() => random.below(4)),
  }));

  test.for(copies)(
    'k copies, or no copy at all: $name',
    async ({ solver, grid = 1, tolerance, smoothOnly, counts }) => {
      const options = { ...common, solver, grid, tolerance };
      if (smoothOnly && !loss.smooth) return expectIncompatible(weighted(dense, counts), options);
      const one = await train(weighted(dense, counts), options);
      const many = await train(repeated(dense, counts), options);
      const { primal } = many.report;
      expect([one.report.stopped, many.report.stopped]).toEqual(['converged', 'converged']);
      expect([...one.model.weights, ...many.model.weights].every(inBox)).toBe(true);
      expect(Math.abs(one.report.primal - primal)).toBeLessThan(2 * tolerance * primal);
      expect(Math.abs(one.report.dual - primal)).toBeLessThan(2 * tolerance * primal);
    },
  );
});

const dense = sample({ rows: 150, columns: 25, density: 0.3 });
const draws = stream(11, 43);
const rowWeights = dense.rows.map(() => [0, 0.5, 1, 2.5][draws.below(4)]);
const dataset = weighted(dense, rowWeights);
const logistic = losses.logistic();
const bounded = penalties.bounded(penalties.elasticNet({ l1Ratio: 0.3 }), box);
const outside = Float64Array.from({ length: 25 }, () => draws.normal());

const runs: readonly { readonly title: string; readonly options: TrainOptions }[] = [
  { title: 'ring rows', options: { solver: solvers.ring({ mode: 'rows' }) } },
  { title: 'few rotations', options: { solver: solvers.ring({ mode: 'rows', rotations: 2 }) } },
  { title: 'ring columns', options: { solver: solvers.ring({ mode: 'columns' }) } },
  { title: 'dso', options: { solver: solvers.dso() } },
  { title: 'psgd', options: { solver: solvers.psgd() } },
  { title: 'psgd, the last iterate', options: { solver: solvers.psgd({ average: false }) } },
  { title: 'admm', options: { solver: solvers.admm() } },
];

describe.each(runs)('$title, from a point', ({ options: { solver } }) => {
  const problem = { loss: logistic, penalty: bounded, lambda: 0.003 };
  const common: TrainOptions = { ...problem, grid: 4, threads: 1 };
  const options = { ...common, solver: solver as Solver };

  test('outside of the box: it begins at the nearest inside', async () => {
    const start = { weights: outside };
    const { model, report } = await train(dataset, { ...options, epochs: 1, start });
    const nearest = [...outside].map((w) => Math.min(box.high, Math.max(box.low, w)));
    const reference = { ...dense, ...problem, rowWeights };
    const most = referenceObjective(reference, nearest) * (1 + 1e-12);
    expect([...model.weights].every(inBox)).toBe(true);
    expect(report.primal).toBeLessThanOrEqual(most);
    const value = referenceObjective(reference, [...model.weights]);
    expect(Math.abs(value - report.primal)).toBeLessThan(1e-11 * value);
  });

  test('at the optimum: it is certified at once', async () => {
    const optimum = await train(dataset, { ...common, tolerance: 2e-7, alpha: true });
    const { alpha, model } = optimum;
    const start = { weights: model.weights, ...(alpha && { alpha }) };
    const { report } = await train(dataset, { ...options, tolerance: 1e-6, start });
    expect(report.stopped).toBe('converged');
    // Row mode looks at the gap after five epochs at the latest.
    expect(report.epochs).toBeLessThanOrEqual(5);
    expect(report.primal).toBeLessThanOrEqual(optimum.report.primal * (1 + 1e-12));
  });

  test('1, 2 and 3 threads make the same bits', async () => {
    const run = async (threads: number) => {
      const start = { weights: outside };
      const { model } = await train(dataset, { ...options, epochs: 4, threads, start });
      return Buffer.from(encodeModel(model));
    };
    const [one, ...others] = [await run(1), await run(2), await run(3)];
    for (const other of others) expect(other.equals(one)).toBe(true);
  });
});
