/** A run that starts from a point: as good a point at least, the same bits on any threads. */
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/data/dataset.ts';
import { stream } from '../../src/math/random.ts';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions, TrainResult } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { datasetOf, sample, zipfDataset } from '../support/data.ts';
import { temporaryFolder } from '../support/temporary.ts';

const text = zipfDataset({ rows: 300, columns: 200, perRow: 12 });
const numbers = sample({ rows: 150, columns: 25, density: 0.3, task: 'regression' });
const far = datasetOf(
  numbers.rows,
  numbers.labels.map((y) => y + 50),
);

interface Case {
  readonly title: string;
  readonly dataset: Dataset;
  readonly options: TrainOptions;
  /** Epochs it may take to be certified where it starts at the optimum. */
  readonly most?: number;
}

const rows = solvers.ring({ mode: 'rows' });
const columns = solvers.ring({ mode: 'columns' });
const [l1, net] = [penalties.l1(), penalties.elasticNet()];
const logistic = losses.logistic();
const on = (dataset: Dataset, title: string, options: TrainOptions, most = 1): Case => ({
  title,
  dataset,
  options,
  most,
});

/** Row mode looks at the gap after five epochs at the latest. */
const soon = 5;

const cases: Case[] = [
  on(text, 'ring rows, hinge', { solver: rows }, soon),
  on(text, 'ring rows, hinge, grid 1', { solver: rows, grid: 1 }, soon),
  on(text, 'ring rows, hinge, intercept', { solver: rows, intercept: true }, soon),
  on(text, 'ring rows, hinge, L1', { solver: rows, penalty: l1 }, soon),
  on(
    text,
    'ring rows, hinge, one rotation',
    { solver: solvers.ring({ mode: 'rows', rotations: 1 }) },
    soon,
  ),
  on(
    far,
    'ring rows, absolute, far intercept, elastic net',
    { loss: losses.absolute(), solver: rows, intercept: true, penalty: net },
    soon,
  ),
  on(text, 'ring rows, logistic', { loss: logistic, solver: rows }, soon),
  on(text, 'ring columns, logistic, L1', { loss: logistic, solver: columns, penalty: l1 }),
  on(far, 'ring columns, square, intercept', {
    loss: losses.square(),
    solver: columns,
    intercept: true,
  }),
  on(text, 'dso, hinge', { solver: solvers.dso() }),
  on(text, 'dso of the paper, logistic', { loss: logistic, solver: solvers.paper() }),
  on(text, 'dso, averaged, η₀/√t, hinge', {
    solver: solvers.dso({ average: true, step: 'sqrt', svrg: false }),
  }),
  on(text, 'sgd, hinge', { solver: solvers.sgd(), grid: 1 }),
  on(text, 'psgd, hinge, elastic net, intercept', {
    solver: solvers.psgd(),
    penalty: net,
    intercept: true,
  }),
  on(text, 'psgd, η₀/√t, last iterate, logistic', {
    loss: logistic,
    solver: solvers.psgd({ step: 'sqrt', average: false }),
  }),
  on(text, 'bmrm, hinge', { solver: solvers.bmrm() }),
  on(text, 'bmrm, hinge, elastic net', { solver: solvers.bmrm(), penalty: net }),
  on(text, 'lbfgs, logistic, intercept', {
    loss: logistic,
    solver: solvers.lbfgs(),
    intercept: true,
  }),
  on(text, 'newton, logistic', { loss: logistic, solver: solvers.newton() }),
  on(text, 'OWL-QN, logistic, L1', { loss: logistic, solver: solvers.lbfgs(), penalty: l1 }),
  on(text, 'proximal point, hinge', { solver: solvers.proximalPoint() }),
  on(text, 'proximal point, logistic, L1', {
    loss: logistic,
    solver: solvers.proximalPoint(),
    penalty: l1,
  }),
  on(far, 'proximal point, absolute, far intercept, elastic net', {
    loss: losses.absolute(),
    solver: solvers.proximalPoint(),
    penalty: net,
    intercept: true,
  }),
  on(text, 'admm, hinge', { solver: solvers.admm() }),
  on(far, 'admm, square, L1, intercept', {
    loss: losses.square(),
    solver: solvers.admm(),
    penalty: l1,
    intercept: true,
  }),
  on(text, 'dcd, hinge', { solver: solvers.dcd(), grid: 1 }),
  on(text, 'dcd, logistic, elastic net', {
    loss: logistic,
    solver: solvers.dcd(),
    penalty: net,
    grid: 1,
  }),
];

const common: TrainOptions = { lambda: 0.003, grid: 4, tolerance: 1e-6, threads: 1 };
const bytesOf = ({ model }: TrainResult) => Buffer.from(encodeModel(model));

/** The optimum, by whatever is quickest at it. */
const optima = new Map<string, Promise<TrainResult>>();
function optimumOf(dataset: Dataset, { loss, penalty, intercept }: TrainOptions) {
  const key = [dataset === text, loss?.name, penalty?.name, intercept].join();
  const found =
    optima.get(key) ??
    train(dataset, {
      ...common,
      tolerance: 2e-7,
      alpha: true,
      ...(loss && { loss }),
      ...(penalty && { penalty }),
      ...(intercept && { intercept }),
    });
  optima.set(key, found);
  return found;
}

function startOf({ model, alpha }: TrainResult): NonNullable<TrainOptions['start']> {
  return { weights: model.weights, intercepts: model.intercepts, ...(alpha && { alpha }) };
}

/** Any weights at all. */
function somewhere({ columns: width }: Dataset) {
  const random = stream(3, 80);
  return { weights: Float64Array.from({ length: width }, () => 0.3 * random.normal()) };
}

describe.each(cases)('$title', ({ dataset, options, most = 1 }) => {
  test('from the optimum and its dual point it is certified at once', async () => {
    const optimum = await optimumOf(dataset, options);
    expect(optimum.report.relativeGap).toBeLessThanOrEqual(2e-7);
    const { report } = await train(dataset, { ...common, ...options, start: startOf(optimum) });
    expect(report.stopped).toBe('converged');
    expect(report.epochs).toBeLessThanOrEqual(most);
    expect(report.primal).toBeLessThanOrEqual(optimum.report.primal * (1 + 1e-12));
  });

  test('P is never above that of the start', async () => {
    const start = somewhere(dataset);
    const one = { ...common, ...options, epochs: 1 };
    const { report } = await train(dataset, { ...one, start });
    expect(report.primal).toBeLessThanOrEqual(objectiveAt(dataset, one, start.weights));
  });

  test('1, 2 and 3 threads make the same bits', async () => {
    const optimum = await optimumOf(dataset, options);
    for (const start of [startOf(optimum), somewhere(dataset)]) {
      const run = (threads: number) =>
        train(dataset, { ...common, ...options, lambda: 0.001, start, epochs: 4, threads });
      const [one, ...others] = [await run(1), await run(2), await run(3)];
      for (const other of others) expect(bytesOf(other).equals(bytesOf(one))).toBe(true);
    }
  });

  test('3 epochs, then on to 7, are 7 epochs', async () => {
    const start = startOf(await optimumOf(dataset, options));
    const run = (more: TrainOptions) =>
      train(dataset, { ...common, ...options, lambda: 0.001, tolerance: 1e-14, start, ...more });
    const whole = await run({ epochs: 7 });
    const folder = temporaryFolder();
    await run({ epochs: 3, checkpoint: { folder } });
    const rest = await run({ epochs: 7, resume: folder });
    expect(rest.report.resumed?.epoch).toBe(3);
    expect(bytesOf(rest).equals(bytesOf(whole))).toBe(true);
  });
});

/** P(w) by its definition, without an intercept's weight. */
function objectiveAt(dataset: Dataset, options: TrainOptions, weights: Float64Array): number {
  const { loss = losses.hinge(), penalty = penalties.l2(), lambda = 1 } = options;
  let sum = 0;
  for (const { rowOffsets, indices, values, labels } of dataset.parts) {
    for (let i = 0; i < labels.length; i++) {
      let u = 0;
      for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++) u += weights[indices[k]] * values[k];
      sum += loss.value(u, labels[i], loss.parameter);
    }
  }
  const size = weights.reduce(
    (total, w) => total + penalty.l1 * Math.abs(w) + (penalty.l2 / 2) * w * w,
    0,
  );
  return (lambda * size + sum / dataset.rows) * (1 + 1e-12);
}

const smooth = cases.filter(
  ({ title, options }) => options.loss?.smooth && /ring|lbfgs|OWL|dcd/.test(title),
);

test.each(smooth)('$title: from the weights of the optimum alone', async ({ dataset, options }) => {
  const { alpha: _, ...start } = startOf(await optimumOf(dataset, options));
  const cold = await train(dataset, { ...common, ...options });
  const warm = await train(dataset, { ...common, ...options, start });
  expect(warm.report.stopped).toBe('converged');
  expect(warm.report.epochs).toBeLessThanOrEqual(Math.max(3, cold.report.epochs / 3));
  expect(warm.report.primal).toBeLessThanOrEqual(cold.report.primal * (1 + 1e-6));
});

describe('a path from a large λ to a small one', () => {
  const lambdas = Array.from({ length: 6 }, (_, k) => 0.02 * 0.5 ** k);

  async function passesOf(options: TrainOptions, from: 'nothing' | 'weights' | 'alpha') {
    let previous: TrainResult | undefined;
    let passes = 0;
    const alpha = from === 'alpha';
    for (const lambda of lambdas) {
      const warm = previous && from !== 'nothing' && { start: startOf(previous) };
      const goal = { lambda, tolerance: 1e-4, threads: 1 };
      const result = await train(text, { ...options, ...goal, ...warm, alpha });
      previous = result;
      expect(result.report.stopped).toBe('converged');
      passes += result.report.passes;
    }
    return passes;
  }

  test.each([
    ['hinge by rows', { solver: rows }],
    ['logistic by columns, L1', { loss: logistic, solver: columns, penalty: l1 }],
  ] as const)('%s: fewer passes than from nothing', async (_title, options) => {
    const cold = await passesOf(options, 'nothing');
    expect(await passesOf(options, 'weights')).toBeLessThan(cold);
    expect(await passesOf(options, 'alpha')).toBeLessThan(0.8 * cold);
  });
});

test('α outside of its domain is cut to it, and every bound holds', async () => {
  const optimum = await optimumOf(text, {});
  const random = stream(5, 81);
  const alpha = Float64Array.from({ length: text.rows }, () => 3 * random.normal());
  for (const solver of [rows, solvers.dcd(), solvers.bmrm(), solvers.admm(), solvers.dso()]) {
    const { grid: _, ...rest } = common;
    const start = { ...somewhere(text), alpha };
    const { report } = await train(text, { ...rest, solver, start, epochs: 3 });
    expect(report.dual).toBeLessThanOrEqual(optimum.report.primal);
    expect(Number.isFinite(report.dual)).toBe(true);
  }
});

test('the checkpoint of a run that started elsewhere is refused', async () => {
  const folder = temporaryFolder();
  const start = somewhere(text);
  await train(text, { ...common, epochs: 2, start, checkpoint: { folder } });
  const other = { weights: start.weights.map((w) => 2 * w) };
  const resumed = { ...common, epochs: 4, resume: folder };
  await expect(train(text, { ...resumed, start: other })).rejects.toThrow('start was');
  await expect(train(text, resumed)).rejects.toThrow('is not given');
});

test('rows that are set aside have no α', async () => {
  const held: TrainOptions = { ...common, holdout: 0.2, alpha: true };
  const first = await train(text, held);
  expect(first.alpha?.length).toBe(240);
  const again = await train(text, { ...held, start: startOf(first) });
  expect(again.report.epochs).toBeLessThanOrEqual(soon);
  expect(again.report.stopped).toBe('converged');
});

test('bmrm has no dual point to return', async () => {
  const result = await train(text, { ...common, solver: solvers.bmrm(), alpha: true, epochs: 2 });
  expect(result.alpha).toBeUndefined();
});
