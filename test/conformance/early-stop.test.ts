/** Training that ends when the error on test rows does not fall any more. */
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/data/dataset.ts';
import { encodeModel } from '../../src/model/file.ts';
import { errorOf as measuredError } from '../../src/model/metrics/evaluate.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { EpochEvent } from '../../src/train/events.ts';
import type { TrainOptions, TrainResult } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { sample, zipfDataset } from '../support/data.ts';
import { temporaryFolder } from '../support/temporary.ts';

const text = zipfDataset({ rows: 400, columns: 200, perRow: 12 });
const numbers = sample({ rows: 200, columns: 40, task: 'regression', noise: 6 }).dataset;

type Event = Omit<EpochEvent, 'seconds' | 'effort'>;

interface Told extends TrainResult {
  readonly events: Event[];
}

/** So small a λ and tolerance that nothing else ends the run. */
async function run(dataset: Dataset, options: TrainOptions): Promise<Told> {
  const events: Event[] = [];
  const result = await train(dataset, {
    lambda: 1e-5,
    tolerance: 1e-14,
    holdout: 0.3,
    earlyStop: 3,
    grid: 4,
    epochs: 400,
    threads: 1,
    ...options,
    onEpoch: ({ seconds: _seconds, effort: _effort, ...event }) => events.push(event),
  });
  return { ...result, events };
}

const bytesOf = ({ model }: TrainResult) => Buffer.from(encodeModel(model));

const rows = solvers.ring({ mode: 'rows' });
const columns = solvers.ring({ mode: 'columns' });
const logistic = losses.logistic();

const cases: { title: string; dataset: Dataset; options: TrainOptions }[] = [
  { title: 'ring rows, hinge', dataset: text, options: { solver: rows } },
  {
    title: 'ring rows, hinge, L1, intercept',
    dataset: text,
    options: { solver: rows, penalty: penalties.l1(), intercept: true },
  },
  { title: 'ring columns', dataset: text, options: { loss: logistic, solver: columns } },
  {
    title: 'ring columns, square',
    dataset: numbers,
    options: { loss: losses.square(), solver: columns },
  },
  { title: 'dso', dataset: text, options: { solver: solvers.dso() } },
  { title: 'sgd', dataset: text, options: { solver: solvers.sgd(), grid: 1 } },
  { title: 'psgd', dataset: text, options: { solver: solvers.psgd() } },
  { title: 'bmrm', dataset: text, options: { solver: solvers.bmrm() } },
  { title: 'lbfgs', dataset: text, options: { loss: logistic, solver: solvers.lbfgs() } },
  { title: 'admm', dataset: text, options: { solver: solvers.admm() } },
  { title: 'dcd', dataset: text, options: { solver: solvers.dcd(), grid: 1 } },
  {
    title: 'every iterate tested',
    dataset: text,
    options: { solver: solvers.dcd(), grid: 1, testOn: 'latest' },
  },
];

const errorOf = ({ report }: TrainResult) => report.test && measuredError(report.test);

describe.each(cases)('$title', ({ dataset, options }) => {
  test('stops, and the model is the one with the least error on the way', async () => {
    const { report, events, model, ...rest } = await run(dataset, options);
    expect(report.stopped).toBe('early-stop');
    expect(model.certificate.stopped).toBe('early-stop');
    const least = Math.min(...events.map(({ testError }) => testError ?? Infinity));
    expect(errorOf({ report, model, ...rest })).toBeCloseTo(least, 10);
    expect(events.at(-1)?.testError).toBe(least);
    expect(report.dual).toBeLessThanOrEqual(report.primal);
    // At least as many epochs as measurements that it waits for, after the best one.
    const best = events.findIndex(({ testError }) => testError === least);
    expect(events.length - 1 - best).toBeGreaterThanOrEqual(3);
  });

  test('the certificate is that of the model', async () => {
    const { model, report } = await run(dataset, options);
    // The first of two epochs from there on: the certificate at the end may set weights to 0.
    const start = model;
    const { earlyStop: _, ...plain } = { earlyStop: 0, ...options };
    const points: number[] = [];
    await train(dataset, {
      lambda: 1e-5,
      holdout: 0.3,
      grid: 4,
      ...plain,
      // Without a step worth the name, P of the start is what is reported.
      solver: solvers.sgd({ step: 'sqrt', stepSize: 1e-300 }),
      ...(options.grid === undefined && { grid: 1 }),
      start,
      epochs: 2,
      onEpoch: ({ primal }) => points.push(primal),
    });
    expect(points[0]).toBeCloseTo(report.primal, 10);
  });

  test('the same bits on 1 to 3 threads, and resumed from any epoch', async () => {
    const whole = await run(dataset, { ...options, threads: 2 });
    for (const threads of [1, 3]) {
      expect(bytesOf(await run(dataset, { ...options, threads })).equals(bytesOf(whole))).toBe(
        true,
      );
    }
    const { epochs: last } = whole.report;
    for (const epochs of [1, Math.floor(last / 2), last - 1, last]) {
      const folder = temporaryFolder();
      await run(dataset, { ...options, epochs, checkpoint: { folder } });
      const rest = await run(dataset, { ...options, threads: 1, resume: folder });
      expect(rest.events).toEqual(whole.events.slice(epochs === last ? last - 1 : epochs));
      expect(bytesOf(rest).equals(bytesOf(whole)), `resumed after epoch ${epochs}`).toBe(true);
    }
  });
});

test('more patience never gives a larger error', async () => {
  let before = Infinity;
  for (const earlyStop of [1, 2, 5, 20]) {
    const error = errorOf(await run(text, { solver: rows, earlyStop })) ?? Number.NaN;
    expect(error).toBeLessThanOrEqual(before);
    before = error;
  }
});

test('a run that converges first gives what it converged to', async () => {
  const common: TrainOptions = { solver: rows, lambda: 0.01, tolerance: 1e-3 };
  const patient = await run(text, { ...common, earlyStop: 100 });
  expect(patient.report.stopped).toBe('converged');
  const { earlyStop: _, ...plain } = { earlyStop: 0, ...common };
  const byDefault = await train(text, { ...plain, holdout: 0.3, grid: 4 });
  // Only what the model says of its options may differ.
  const { provenance: _patient, ...found } = patient.model;
  const { provenance: _default, ...expected } = byDefault.model;
  expect(found).toEqual(expected);
});

test('a limit on epochs gives the best point so far', async () => {
  const stopped = await run(text, { solver: rows });
  const { epochs } = stopped.report;
  const cut = await run(text, { solver: rows, epochs: epochs - 1, earlyStop: 100 });
  expect(cut.report.stopped).toBe('epoch-limit');
  expect(errorOf(cut)).toBeLessThanOrEqual(errorOf(stopped) ?? 0);
});

test('another patience is another run; other test rows are measured anew', async () => {
  const folder = temporaryFolder();
  const shape = { rows: 80, columns: 200, perRow: 12 };
  const [one, other] = [2, 3].map((seed) => zipfDataset({ ...shape, seed }));
  const common: TrainOptions = { lambda: 1e-5, grid: 4, tolerance: 1e-14, earlyStop: 3 };
  await train(text, { ...common, test: one, epochs: 4, checkpoint: { folder } });
  const resumed = { ...common, test: other, resume: folder };
  await expect(train(text, { ...resumed, earlyStop: 4 })).rejects.toThrow('early-stop was 3, is 4');
  const errors: number[] = [];
  const { report } = await train(text, {
    ...resumed,
    onEpoch: ({ testError = Number.NaN }) => errors.push(testError),
  });
  expect(report.stopped).toBe('early-stop');
  expect(errorOf({ report } as TrainResult)).toBeCloseTo(Math.min(...errors), 10);
});
