/** Odd shapes, wild scales, early ends: what every solver must survive, and what once broke one. */
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { Replay } from '../../../src/engine/async-ring.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import type { Loss, Task } from '../../../src/problem/losses/loss.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { isSerial, solvers } from '../../../src/solvers/index.ts';
import type { Solver } from '../../../src/solvers/registry.ts';
import { BundleProgram } from '../../../src/solvers/rivals/bundle-program.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { datasetOf, type SampleOptions, sample } from '../../support/data.ts';
import { firstDifference } from '../../support/engine-arrays.ts';

const every: readonly { solver: Solver; loss: Loss }[] = [
  { solver: solvers.sgd(), loss: losses.hinge() },
  { solver: solvers.sgd({ step: 'sqrt', average: false }), loss: losses.square() },
  { solver: solvers.psgd(), loss: losses.logistic() },
  { solver: solvers.bmrm(), loss: losses.hinge() },
  { solver: solvers.bmrm(), loss: losses.huber({ delta: 0.7 }) },
  { solver: solvers.lbfgs(), loss: losses.squaredHinge() },
  { solver: solvers.lbfgs(), loss: losses.logistic() },
  { solver: solvers.proximalPoint(), loss: losses.hinge() },
  { solver: solvers.proximalPoint(), loss: losses.absolute({ epsilon: 0.1 }) },
  { solver: solvers.admm(), loss: losses.absolute({ epsilon: 0.1 }) },
  { solver: solvers.dcd(), loss: losses.smoothedHinge({ smoothing: 0.5 }) },
  { solver: solvers.dsoAsync(), loss: losses.logistic() },
];

interface Shape extends Omit<SampleOptions, 'task'> {
  readonly title: string;
  /** The entry at (i, j), given the one that was drawn and the row it is in. */
  readonly entry?: (x: number, i: number, j: number, row: readonly number[]) => number;
}

const shapes: readonly Shape[] = [
  { title: 'two rows', rows: 2, columns: 3, density: 1 },
  { title: 'one column', rows: 10, columns: 1, density: 1 },
  { title: 'many more columns than rows', rows: 5, columns: 100 },
  { title: 'many more rows than columns', rows: 200, columns: 2 },
  { title: 'every third row empty', entry: (x, i) => (i % 3 === 0 ? 0 : x) },
  { title: 'every second column empty', entry: (x, _i, j) => (j % 2 === 0 ? 0 : x) },
  { title: 'no entry at all', entry: () => 0 },
  { title: 'columns that repeat', entry: (_x, _i, j, row) => row[j % 2] },
  { title: 'constant columns', entry: (x, _i, j) => (j < 4 ? 1 : x) },
  { title: 'entries of 1e6', entry: (x) => 1e6 * x },
  { title: 'entries of 1e-6', entry: (x) => 1e-6 * x },
  { title: 'columns of different units', entry: (x, _i, j) => x * 10 ** ((j % 5) - 2) },
];

function layOut({ title: _title, entry = (x) => x, ...size }: Shape, task: Task): Dataset {
  const drawn = sample({ rows: 24, columns: 6, ...size, task });
  const rows = drawn.rows.map((row, i) => row.map((x, j) => Math.fround(entry(x, i, j, row))));
  const labels = [...drawn.labels];
  if (new Set(labels).size === 1) labels[0] = -labels[0];
  return datasetOf(rows, labels, drawn.rows[0].length);
}

describe.each(every)('$solver.name, $loss.name', ({ solver, loss }) => {
  test.each(shapes)('$title: [D, P] holds the optimum', async (shape) => {
    const dataset = layOut(shape, loss.task);
    const grid = isSerial(solver) ? 1 : Math.min(3, dataset.rows, dataset.columns);
    for (const lambda of [1e-6, 0.02, 1e6]) {
      const common: TrainOptions = { loss, lambda, threads: 1 };
      const best = await train(dataset, { ...common, grid: 1, tolerance: 1e-9, epochs: 2000 });
      const { report } = await train(dataset, { ...common, solver, grid, epochs: 40 });
      const slack = 1e-9 * best.report.primal + 1e-15;
      expect(report.primal).toBeGreaterThanOrEqual(best.report.dual - slack);
      expect(report.dual).toBeLessThanOrEqual(best.report.primal + slack);
      expect(report.relativeGap).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(report.primal) && Number.isFinite(report.passes)).toBe(true);
    }
  });

  test('an end at once is an end after one epoch', async () => {
    const dataset = layOut(shapes[4], loss.task);
    const common = { loss, lambda: 0.02, solver, tolerance: 1e-300 };
    const aborted = await train(dataset, { ...common, signal: AbortSignal.abort() });
    expect(aborted.report).toMatchObject({ stopped: 'interrupted', epochs: 1 });
    const late = await train(dataset, { ...common, time: 1e-9 });
    expect(late.report).toMatchObject({ stopped: 'time-limit', epochs: 1 });
  });
});

const parallel = every.filter(({ solver }) => !isSerial(solver) && solver.name !== 'dso-async');

test.each(parallel)(
  '$solver.name, $loss.name: a worker a column, empty rows and columns, the same bits on any threads',
  async ({ solver, loss }) => {
    const entry: Shape['entry'] = (x, i, j) => (i % 3 === 0 || j === 2 ? 0 : x);
    const dataset = layOut({ title: '', entry }, loss.task);
    const options = { loss, lambda: 0.02, solver, grid: 6, epochs: 12, tolerance: 1e-300 };
    const alone = await train(dataset, { ...options, threads: 1 });
    for (const threads of [2, 4]) {
      const { model } = await train(dataset, { ...options, threads });
      expect(firstDifference(model.weights, alone.model.weights)).toBeUndefined();
      expect(model.certificate).toEqual(alone.model.certificate);
    }
  },
);

describe('lbfgs finds its first step', () => {
  const large: Shape = { title: '', rows: 30, columns: 8, entry: (x) => 1e6 * x };
  const units: Shape = { ...large, entry: (x, _i, j) => (j % 2 === 0 ? x : 1e4 * x) };
  const separable: Shape = { title: '', rows: 5, columns: 200 };

  test.each([
    { title: 'entries of 1e6', shape: large, loss: losses.logistic(), lambda: 1e6 },
    { title: 'and a flat loss', shape: large, loss: losses.huber({ delta: 0.7 }), lambda: 0.02 },
    { title: 'and L1', shape: large, loss: losses.logistic(), lambda: 1, penalty: penalties.l1() },
    { title: 'mixed units', shape: units, loss: losses.squaredHinge(), lambda: 0.02 },
    { title: 'margins met', shape: separable, loss: losses.squaredHinge(), lambda: 0.02 },
  ])('$title', async ({ shape, loss, title: _title, ...options }) => {
    const dataset = layOut(shape, loss.task);
    const solver = solvers.lbfgs();
    const { report } = await train(dataset, { ...options, loss, solver, threads: 1, epochs: 150 });
    expect(report.stopped).toBe('converged');
  });
});

describe('bmrm where planes are nearly level', () => {
  test.each([losses.hinge(), losses.logistic(), losses.square()])('$name', async (loss) => {
    const dataset = layOut({ title: '', entry: (x) => 1e-20 * x }, loss.task);
    const options = { loss, lambda: 0.02, solver: solvers.bmrm(), threads: 1, epochs: 10 };
    const { report } = await train(dataset, options);
    expect(report.stopped).toBe('converged');
  });

  test('the program keeps Σβ = 1 with offsets far above the products', () => {
    for (const product of [1e-40, 1e-12]) {
      const program = new BundleProgram(2);
      program.add([product], 1);
      program.solve(0);
      expect(program.shares[0]).toBe(1);
      program.add([-product, product], 1);
      program.solve(0);
      expect(program.shares[0] + program.shares[1]).toBe(1);
      // Where products are below the last digit of the offsets, any share is as good.
      if (product > 1e-16) expect(program.shares[0]).toBeCloseTo(0.5, 3);
    }
  });
});

describe('a record of block visits', () => {
  const record = Int32Array.of(0, 3, 1, 2);

  test.each([
    { title: 'of a larger grid', cells: [0, 4, 1, 2], cell: 4, position: 1 },
    { title: 'with a cell twice', cells: [0, 3, 1, 1], cell: 1, position: 3 },
    { title: 'with a number below 0', cells: [-1, 3, 1, 2], cell: -1, position: 0 },
  ])('$title is refused', ({ cells, cell, position }) => {
    const broken = Int32Array.of(...record, ...cells);
    const words = `cell ${cell} at position ${4 + position}; each rotation visits every cell`;
    expect(() => new Replay(broken, 2)).toThrow(words);
  });

  test('that is no Int32Array is refused before anything runs', async () => {
    const order = [0, 3, 1, 2] as unknown as Int32Array;
    const solver = solvers.dsoAsync({ order });
    await expect(train(sample().dataset, { solver, grid: 2 })).rejects.toThrow(
      'dso-async is not compatible with this order: it must be an Int32Array',
    );
  });
});
