/** Rows that count more or less than others: the problem, its proofs and its bits. */
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/data/dataset.ts';
import { DataError } from '../../src/errors.ts';
import { stream } from '../../src/math/random.ts';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { Solver } from '../../src/solvers/registry.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { referenceObjective, referenceOptimum } from '../reference/reference.ts';
import { inParts, sample, sampleFor } from '../support/data.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { repeated, weighted } from '../support/weighted.ts';
import { expectIncompatible, trainCertified } from './certified.ts';
import { type Pair, pairs } from './pairs.ts';

interface Way {
  readonly name: string;
  readonly solver: Solver;
  readonly grid?: number;
  readonly refuses?: (pair: Pair, intercept: boolean) => boolean;
}

const kinked = ({ loss }: Pair) => !loss.smooth;
const notSparse = ({ loss, penalty }: Pair) => !loss.smooth || !(penalty.l1 > 0);
const flat = ({ penalty }: Pair, intercept: boolean) => intercept || !(penalty.l2 > 0);

const exact: readonly Way[] = [
  { name: 'ring rows, grid 1', solver: solvers.ring({ mode: 'rows' }) },
  { name: 'ring rows, grid 3', solver: solvers.ring({ mode: 'rows' }), grid: 3 },
  { name: 'few rotations', solver: solvers.ring({ mode: 'rows', rotations: 3 }), grid: 3 },
  { name: 'ring columns, grid 1', solver: solvers.ring({ mode: 'columns' }), refuses: kinked },
  {
    name: 'ring columns, grid 3',
    solver: solvers.ring({ mode: 'columns' }),
    grid: 3,
    refuses: kinked,
  },
  { name: 'admm', solver: solvers.admm(), grid: 3 },
  { name: 'dcd', solver: solvers.dcd(), refuses: flat },
  { name: 'bmrm', solver: solvers.bmrm(), grid: 3, refuses: flat },
  { name: 'lbfgs', solver: solvers.lbfgs(), grid: 3, refuses: kinked },
  { name: 'proximal-point', solver: solvers.proximalPoint(), grid: 3 },
  {
    name: 'newton',
    solver: solvers.newton(),
    grid: 3,
    refuses: (pair) => kinked(pair) || pair.penalty.l1 > 0,
  },
  { name: 'interior-point', solver: solvers.interiorPoint(), grid: 3 },
  { name: 'interior-point, growing set', solver: solvers.interiorPoint({ joining: 3 }), grid: 3 },
  { name: 'working-set', solver: solvers.workingSet(), refuses: notSparse },
  { name: 'working-set, grid 3', solver: solvers.workingSet(), grid: 3, refuses: notSparse },
];

/** What comes to rest at a hundredth, as without weights. */
function rough({ linear, penalty }: Pair): readonly Way[] {
  const average = linear;
  return [
    { name: 'dso', solver: solvers.dso({ average }), grid: 3 },
    { name: 'dso-async', solver: solvers.dsoAsync({ average }), grid: 3 },
    ...(penalty.l2 > 0
      ? [{ name: 'dso from local descent', solver: solvers.dso({ initialize: 2 }), grid: 3 }]
      : []),
    { name: 'sgd', solver: solvers.sgd() },
    { name: 'sgd, η₀/√t', solver: solvers.sgd({ step: 'sqrt' }) },
  ];
}

/**
 * The gap that a solver can close, with weights or without: on linear programs only admm comes to
 * 1e-9, and OWL-QN stalls before where nothing but L1 bounds the weights.
 */
function reach({ name }: Way, pair: Pair): number {
  if (rough(pair).some((way) => way.name === name)) return 1e-2;
  if (pair.linear && name !== 'admm') return 1e-3;
  return name === 'lbfgs' && !(pair.penalty.l2 > 0) ? 1e-7 : 5e-10;
}

describe.each(pairs)('$title', (pair) => {
  const { loss, penalty, linear, lambda } = pair;
  const dense = sampleFor(loss);
  const random = stream(3, 41);

  describe.each([false, true])('fractions, intercept %s', (intercept) => {
    const weights = dense.rows.map(
      () => [0, 0.25, 1, 3, 0.1 + 4 * random.uniform()][random.below(5)],
    );
    const problem = { ...dense, loss, penalty, lambda, intercept, rowWeights: weights };
    const { value: optimum } = referenceOptimum(problem);
    const common = { loss, penalty, lambda, intercept, epochs: 100_000, threads: 1 };
    const reached = [
      ...exact.map((way) => ({ ...way, tolerance: linear ? 1e-3 : 1e-6 })),
      ...rough(pair).map((way) => ({ ...way, tolerance: 1e-2 })),
    ];
    test.for(reached)('$name', async ({ solver, grid = 1, tolerance, refuses }) => {
      const options = { ...common, solver, grid, tolerance };
      const dataset = weighted(dense, weights);
      if (refuses?.(pair, intercept)) return expectIncompatible(dataset, options);
      const { model, report } = await trainCertified(dataset, optimum, options);
      const value = referenceObjective(problem, [...model.weights], model.intercepts[0]);
      expect(Math.abs(value - report.primal)).toBeLessThan(1e-11 * optimum);
    });
  });

  // Drawn here, not in the tests, whose order may change.
  const copies = [...exact, ...rough(pair)].map((way) => ({
    ...way,
    tolerance: reach(way, pair),
    weights: dense.rows.map(() => random.below(4)),
  }));

  test.for(copies)(
    'k copies, or no copy at all, to $tolerance: $name',
    async ({ solver, grid = 1, refuses, tolerance, weights }) => {
      const options = { loss, penalty, lambda, epochs: 100_000, threads: 1, solver, tolerance };
      if (refuses?.(pair, false)) return expectIncompatible(weighted(dense, weights), options);
      const one = await train(weighted(dense, weights), { ...options, grid });
      const many = await train(repeated(dense, weights), { ...options, grid });
      const { primal } = many.report;
      expect([one.report.stopped, many.report.stopped]).toEqual(['converged', 'converged']);
      expect(Math.abs(one.report.primal - primal)).toBeLessThan(2 * tolerance * primal);
      expect(Math.abs(one.report.dual - primal)).toBeLessThan(2 * tolerance * primal);
      if (!(penalty.l2 > 0)) return;
      // P − P* ≥ (λ l2/2) ‖w − w*‖² on both sides.
      const apart = 2 * Math.sqrt((2 * tolerance * primal) / (lambda * penalty.l2));
      one.model.weights.forEach((w, j) => {
        expect(Math.abs(w - many.model.weights[j])).toBeLessThan(apart);
      });
    },
  );
});

const classes = sample({ rows: 150, columns: 25, density: 0.3 });
const numbers = sample({ rows: 150, columns: 25, density: 0.3, task: 'regression' });
const mixed = { penalty: penalties.elasticNet({ l1Ratio: 0.5 }), intercept: true };

const runs: readonly { readonly title: string; readonly options: TrainOptions }[] = [
  { title: 'ring rows', options: { solver: solvers.ring({ mode: 'rows' }) } },
  { title: 'ring rows, mapped', options: { solver: solvers.ring({ mode: 'rows' }), ...mixed } },
  { title: 'few rotations', options: { solver: solvers.ring({ rotations: 2 }), ...mixed } },
  {
    title: 'ring columns',
    options: { solver: solvers.ring({ mode: 'columns' }), loss: losses.logistic(), ...mixed },
  },
  { title: 'dso', options: { solver: solvers.dso(), intercept: true } },
  { title: 'dso, η₀/√t', options: { solver: solvers.dso({ step: 'sqrt', svrg: false }) } },
  { title: 'dso of the paper', options: { solver: solvers.paper(), loss: losses.logistic() } },
  { title: 'psgd', options: { solver: solvers.psgd(), loss: losses.square() } },
  { title: 'psgd, η₀/√t', options: { solver: solvers.psgd({ step: 'sqrt' }), intercept: true } },
  { title: 'bmrm', options: { solver: solvers.bmrm() } },
  { title: 'lbfgs', options: { solver: solvers.lbfgs(), loss: losses.logistic(), ...mixed } },
  {
    title: 'proximal point',
    options: { solver: solvers.proximalPoint(), ...mixed },
  },
  { title: 'admm', options: { solver: solvers.admm(), loss: losses.huber(), ...mixed } },
  { title: 'sgd', options: { solver: solvers.sgd(), grid: 1 } },
  { title: 'dcd', options: { solver: solvers.dcd(), grid: 1 } },
];

describe.each(runs)('bits: $title', ({ options }) => {
  const dense = options.loss?.task === 'regression' ? numbers : classes;
  const bytesOf = async (dataset: Dataset, more: TrainOptions = {}): Promise<Buffer> => {
    const limits = { lambda: 0.003, grid: 4, epochs: 8, tolerance: 1e-13, threads: 1 };
    const { model } = await train(dataset, { ...limits, ...options, ...more });
    // Where it comes from, the weights included, is part of a model; here its numbers matter.
    const { provenance: _, ...numbersAlone } = model;
    return Buffer.from(encodeModel(numbersAlone));
  };
  const random = stream(8, 1);
  const weights = dense.rows.map(() => [0, 1, 0.3, 5 * random.uniform()][random.below(4)]);

  test('threads and parts do not matter', async () => {
    const dataset = weighted(dense, weights);
    const one = await bytesOf(dataset);
    for (const threads of [2, 4])
      expect((await bytesOf(dataset, { threads })).equals(one)).toBe(true);
    expect((await bytesOf(inParts(dataset, 37), { threads: 2 })).equals(one)).toBe(true);
  });

  test('the weights do, unless all are 1 or the same power of two', async () => {
    const plain = await bytesOf(weighted(dense, new Array(150).fill(1)));
    expect((await bytesOf(dense.dataset)).equals(plain)).toBe(true);
    for (const weight of [1 / 4, 8]) {
      const same = await bytesOf(weighted(dense, new Array(150).fill(weight)));
      expect(same.equals(plain), `weight ${weight}`).toBe(true);
    }
    expect((await bytesOf(weighted(dense, weights))).equals(plain)).toBe(false);
  });
});

test('the default λ is 1/Σc, and rows set aside take their weights along', async () => {
  const weights = classes.rows.map((_, row) => 1 + (row % 3));
  const dataset = weighted(classes, weights);
  const { report } = await train(dataset, { threads: 1 });
  expect(report.lambda).toBe(1 / 300);
  const left = await train(dataset, { holdout: 0.5, threads: 1 });
  expect(1 / left.report.lambda).toBeGreaterThan(75);
  expect(1 / left.report.lambda).toBeLessThan(225);
});

test('a checkpoint continues with the same weights, and with no others', async () => {
  const dataset = weighted(
    classes,
    classes.rows.map((_, row) => row % 3),
  );
  const options = { lambda: 0.01, grid: 2, tolerance: 1e-13, threads: 1, epochs: 6 };
  const whole = await train(dataset, options);
  const folder = temporaryFolder();
  await train(dataset, { ...options, epochs: 3, checkpoint: { folder } });
  const resumed = await train(dataset, { ...options, resume: folder });
  const bytes = Buffer.from(encodeModel(resumed.model));
  expect(bytes.equals(Buffer.from(encodeModel(whole.model)))).toBe(true);
  await expect(train(classes.dataset, { ...options, resume: folder })).rejects.toThrow(
    'array: other numbers than those of the checkpoint',
  );
});

test('what cannot be divided by is refused', async () => {
  const huge = weighted(classes, new Array(150).fill(1.7e308));
  await expect(train(huge)).rejects.toThrow(
    new DataError(
      'array: weights of rows whose sum is not finite; expected a positive, finite sum',
    ),
  );
  const parts = classes.dataset.parts.map((part) => ({ ...part, weights: new Float64Array(150) }));
  await expect(train({ ...classes.dataset, parts })).rejects.toThrow(
    'array: all rows have weight 0; expected a positive, finite sum',
  );
});
