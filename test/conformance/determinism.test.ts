/** The model depends on data, options, seed and grid, and on nothing else. */
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/data/dataset.ts';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { inParts, sample, zipfDataset } from '../support/data.ts';

const text = zipfDataset({ rows: 300, columns: 200, perRow: 12 });
const numbers = sample({ rows: 150, columns: 25, density: 0.3, task: 'regression' }).dataset;

const runs: { title: string; dataset: Dataset; options: TrainOptions }[] = [
  { title: 'ring rows, hinge', dataset: text, options: { loss: losses.hinge() } },
  {
    title: 'ring rows, hinge, elastic net, intercept',
    dataset: text,
    options: { loss: losses.hinge(), penalty: penalties.elasticNet(), intercept: true },
  },
  {
    title: 'ring rows, logistic',
    dataset: text,
    options: { loss: losses.logistic(), solver: solvers.ring({ mode: 'rows' }) },
  },
  {
    title: 'ring rows, hinge, forty rotations',
    dataset: text,
    options: { loss: losses.hinge(), solver: solvers.ring({ rotations: 40 }) },
  },
  {
    title: 'ring rows, squared hinge, class weights',
    dataset: text,
    options: {
      loss: losses.squaredHinge(),
      solver: solvers.ring({ mode: 'rows' }),
      classWeights: 'balanced',
    },
  },
  {
    title: 'ring rows, hinge, one rotation',
    dataset: text,
    options: { loss: losses.hinge(), solver: solvers.ring({ rotations: 1 }) },
  },
  {
    title: 'ring rows, hinge, elastic net, intercept, three rotations',
    dataset: text,
    options: {
      loss: losses.hinge(),
      penalty: penalties.elasticNet(),
      intercept: true,
      solver: solvers.ring({ rotations: 3 }),
    },
  },
  {
    title: 'ring columns, logistic, intercept',
    dataset: text,
    options: {
      loss: losses.logistic(),
      solver: solvers.ring({ mode: 'columns' }),
      intercept: true,
    },
  },
  {
    title: 'ring columns, square, L1',
    dataset: numbers,
    options: {
      loss: losses.square(),
      penalty: penalties.l1(),
      solver: solvers.ring({ mode: 'columns' }),
    },
  },
  {
    title: 'ring rows, absolute, L1',
    dataset: numbers,
    options: { loss: losses.absolute(), penalty: penalties.l1() },
  },
  {
    title: 'ring rows, hinge, elastic net, intercept, bounded',
    dataset: text,
    options: {
      loss: losses.hinge(),
      penalty: penalties.bounded(penalties.elasticNet(), { low: -0.05, high: 0.1 }),
      intercept: true,
    },
  },
  {
    title: 'ring columns, square, L1, non-negative',
    dataset: numbers,
    options: {
      loss: losses.square(),
      penalty: penalties.nonNegative(penalties.l1()),
      solver: solvers.ring({ mode: 'columns' }),
    },
  },
  {
    title: 'dso, averaged, logistic, non-negative',
    dataset: text,
    options: {
      loss: losses.logistic(),
      penalty: penalties.nonNegative(penalties.l2()),
      solver: solvers.dso({ average: true }),
    },
  },
  {
    title: 'dso, hinge',
    dataset: text,
    options: { loss: losses.hinge(), solver: solvers.dso() },
  },
  {
    title: 'dso of the paper, logistic',
    dataset: text,
    options: { loss: losses.logistic(), solver: solvers.paper() },
  },
  {
    title: 'dso, averaged, square, L1',
    dataset: numbers,
    options: {
      loss: losses.square(),
      penalty: penalties.l1(),
      solver: solvers.dso({ average: true }),
    },
  },
];

const competitors: typeof runs = [
  {
    title: 'working set, squared hinge, L1',
    dataset: text,
    options: {
      loss: losses.squaredHinge(),
      penalty: penalties.l1(),
      solver: solvers.workingSet(),
      lambda: 1e-3,
    },
  },
  {
    title: 'working set, logistic, elastic net, intercept',
    dataset: text,
    options: {
      loss: losses.logistic(),
      penalty: penalties.elasticNet(),
      intercept: true,
      solver: solvers.workingSet(),
      lambda: 1e-3,
    },
  },
  {
    title: 'psgd, hinge, intercept, bounded',
    dataset: text,
    options: {
      loss: losses.hinge(),
      penalty: penalties.bounded(penalties.l2(), { low: -0.05, high: 0.1 }),
      solver: solvers.psgd(),
      intercept: true,
    },
  },
  {
    title: 'psgd, hinge, intercept',
    dataset: text,
    options: { loss: losses.hinge(), solver: solvers.psgd(), intercept: true },
  },
  {
    title: 'psgd, η₀/√t, square, L1',
    dataset: numbers,
    options: {
      loss: losses.square(),
      penalty: penalties.l1(),
      solver: solvers.psgd({ step: 'sqrt', average: false }),
    },
  },
  {
    title: 'bmrm, hinge, elastic net',
    dataset: text,
    options: { loss: losses.hinge(), penalty: penalties.elasticNet(), solver: solvers.bmrm() },
  },
  {
    title: 'proximal point, hinge, intercept',
    dataset: text,
    options: { loss: losses.hinge(), solver: solvers.proximalPoint(), intercept: true },
  },
  {
    title: 'proximal point, absolute, elastic net',
    dataset: numbers,
    options: {
      loss: losses.absolute(),
      penalty: penalties.elasticNet(),
      solver: solvers.proximalPoint({ history: 3 }),
    },
  },
  {
    title: 'lbfgs, logistic, intercept',
    dataset: text,
    options: { loss: losses.logistic(), solver: solvers.lbfgs(), intercept: true },
  },
  {
    title: 'lbfgs, huber, L1',
    dataset: numbers,
    options: { loss: losses.huber(), penalty: penalties.l1(), solver: solvers.lbfgs() },
  },
  {
    title: 'newton, logistic, intercept',
    dataset: text,
    options: { loss: losses.logistic(), solver: solvers.newton(), intercept: true },
  },
  {
    title: 'interior point, hinge, L1',
    dataset: text,
    options: { loss: losses.hinge(), penalty: penalties.l1(), solver: solvers.interiorPoint() },
  },
  {
    title: 'interior point, growing set, absolute, L1, intercept',
    dataset: numbers,
    options: {
      loss: losses.absolute(),
      penalty: penalties.l1(),
      solver: solvers.interiorPoint({ joining: 4 }),
      intercept: true,
      epochs: 25,
    },
  },
  {
    title: 'admm, hinge',
    dataset: text,
    options: { loss: losses.hinge(), solver: solvers.admm() },
  },
  {
    title: 'admm, square, L1, intercept',
    dataset: numbers,
    options: {
      loss: losses.square(),
      penalty: penalties.l1(),
      solver: solvers.admm({ passes: 2 }),
      intercept: true,
    },
  },
];

async function bytesOf(dataset: Dataset, options: TrainOptions): Promise<Buffer> {
  const settled = { lambda: 0.003, grid: 4, epochs: 12, tolerance: 1e-12, ...options };
  const { model } = await train(dataset, settled);
  const encoded = encodeModel(model);
  return Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
}

describe.each([...runs, ...competitors])('$title', ({ dataset, options }) => {
  test('1, 2, 3 and 4 threads write the same bytes, and so does a second run', async () => {
    const one = await bytesOf(dataset, { ...options, threads: 1 });
    for (const threads of [2, 3, 4, 4]) {
      const bytes = await bytesOf(dataset, { ...options, threads });
      expect(bytes.equals(one), `${threads} threads`).toBe(true);
    }
  });

  test('the seed and the grid matter, the parts of the data do not', async () => {
    const one = await bytesOf(dataset, { ...options, threads: 1 });
    const split = await bytesOf(inParts(dataset, 37), { ...options, threads: 2 });
    expect(split.equals(one)).toBe(true);
    const seeded = await bytesOf(dataset, { ...options, threads: 1, seed: 2 });
    expect(seeded.equals(one)).toBe(false);
    const wider = await bytesOf(dataset, { ...options, threads: 1, grid: 3 });
    expect(wider.equals(one)).toBe(false);
  });
});

test('events carry the same numbers on any number of threads', async () => {
  const eventsOf = async (threads: number) => {
    const events: unknown[] = [];
    await train(text, {
      grid: 4,
      threads,
      lambda: 0.001,
      holdout: 0.3,
      tolerance: 1e-6,
      onEpoch: ({ seconds: _seconds, effort: _effort, ...event }) => events.push(event),
    });
    return events;
  };
  const one = await eventsOf(1);
  expect(one.length).toBeGreaterThan(3);
  for (const threads of [2, 3, 4]) expect(await eventsOf(threads)).toEqual(one);
});

test('two trainings at the same time do not disturb each other', async () => {
  const alone = await bytesOf(text, { threads: 2 });
  const smooth = { loss: losses.logistic(), threads: 3 };
  const smoothAlone = await bytesOf(text, smooth);
  const together = await Promise.all([
    bytesOf(text, { threads: 2 }),
    bytesOf(text, smooth),
    bytesOf(text, { threads: 4 }),
    bytesOf(text, smooth),
  ]);
  const expected = [alone, smoothAlone, alone, smoothAlone];
  together.forEach((bytes, k) => {
    expect(bytes.equals(expected[k]), `run ${k}`).toBe(true);
  });
});
