/** A run that was stopped and resumed is the run that was never stopped, to the last bit. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/data/dataset.ts';
import { encodeModel } from '../../src/model/file.ts';
import { loadLoss, losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { EpochEvent } from '../../src/train/events.ts';
import type { TrainOptions, TrainResult } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { datasetOf, sample, zipfDataset } from '../support/data.ts';
import { temporaryFolder } from '../support/temporary.ts';

const text = zipfDataset({ rows: 300, columns: 200, perRow: 12 });
const wide = zipfDataset({ rows: 60, columns: 200, perRow: 12 });
const numbers = sample({ rows: 150, columns: 25, density: 0.3, task: 'regression' }).dataset;
/** Labels far from 0, to which an intercept has to go a long way. */
const far = datasetOf(
  sample({ rows: 150, columns: 25, density: 0.3, task: 'regression' }).rows,
  sample({ rows: 150, columns: 25, density: 0.3, task: 'regression' }).labels.map((y) => y + 50),
);
const factors = (columns: number) => Float64Array.from({ length: columns }, (_, j) => 1 + (j % 3));

interface Case {
  readonly title: string;
  readonly dataset: Dataset;
  readonly options: TrainOptions;
}

const on = (dataset: Dataset, title: string, options: TrainOptions): Case => ({
  title,
  dataset,
  options,
});
const rows = solvers.ring({ mode: 'rows' });
const columns = solvers.ring({ mode: 'columns' });
const net = penalties.elasticNet();
const l1 = penalties.l1();
const box = { low: -0.05, high: 0.1 };

const ring: Case[] = [
  on(text, 'ring rows, hinge', { solver: rows }),
  on(text, 'ring rows, hinge, grid 1', { solver: rows, grid: 1 }),
  on(text, 'ring rows, hinge, intercept', { solver: rows, intercept: true }),
  on(text, 'ring rows, hinge, L1, intercept', { solver: rows, penalty: l1, intercept: true }),
  on(text, 'ring rows, hinge, elastic net, factors', {
    solver: rows,
    penalty: net,
    penaltyFactors: factors(200),
  }),
  on(text, 'ring rows, logistic, intercept', {
    loss: losses.logistic(),
    solver: rows,
    intercept: true,
  }),
  on(text, 'ring rows, hinge, one rotation', {
    solver: solvers.ring({ mode: 'rows', rotations: 1 }),
  }),
  on(text, 'ring rows, hinge, L1, intercept, three rotations', {
    solver: solvers.ring({ mode: 'rows', rotations: 3 }),
    penalty: l1,
    intercept: true,
  }),
  on(far, 'ring rows, absolute, far intercept, two rotations', {
    loss: losses.absolute(),
    solver: solvers.ring({ mode: 'rows', rotations: 2 }),
    intercept: true,
  }),
  on(numbers, 'ring rows, absolute, L1', { loss: losses.absolute(), solver: rows, penalty: l1 }),
  on(far, 'ring rows, absolute, far intercept', {
    loss: losses.absolute(),
    solver: rows,
    intercept: true,
  }),
  on(text, 'ring columns, logistic, intercept', {
    loss: losses.logistic(),
    solver: columns,
    intercept: true,
  }),
  on(text, 'ring columns, squared hinge, L1, grid 1', {
    loss: losses.squaredHinge(),
    solver: columns,
    penalty: l1,
    grid: 1,
  }),
  on(numbers, 'ring columns, square, elastic net, factors', {
    loss: losses.square(),
    solver: columns,
    penalty: net,
    penaltyFactors: factors(25),
  }),
  on(text, 'ring rows, hinge, L1, intercept, non-negative', {
    solver: rows,
    penalty: penalties.nonNegative(l1),
    intercept: true,
  }),
  on(text, 'ring columns, logistic, bounded', {
    loss: losses.logistic(),
    solver: columns,
    penalty: penalties.bounded(net, { low: -0.5, high: 4 }),
  }),
];

const dso: Case[] = [
  on(text, 'dso, averaged, bounded', {
    solver: solvers.dso({ average: true }),
    penalty: penalties.bounded(penalties.l2(), box),
  }),
  on(text, 'dso, hinge', { solver: solvers.dso() }),
  on(text, 'dso of the paper, logistic', { loss: losses.logistic(), solver: solvers.paper() }),
  on(text, 'dso, averaged, intercept', {
    solver: solvers.dso({ average: true }),
    intercept: true,
  }),
  on(numbers, 'dso, η₀/√t without variance reduction and boxes, square, L1', {
    loss: losses.square(),
    penalty: l1,
    solver: solvers.dso({ step: 'sqrt', svrg: false, boxes: false, stepSize: 0.05 }),
  }),
  on(text, 'dso, averaged without variance reduction, started by local descent', {
    solver: solvers.dso({ average: true, svrg: false, initialize: 3 }),
  }),
];

const competitors: Case[] = [
  on(text, 'psgd, hinge, intercept, bounded', {
    solver: solvers.psgd(),
    penalty: penalties.bounded(net, box),
    intercept: true,
  }),
  on(text, 'admm, hinge, bounded', {
    solver: solvers.admm(),
    penalty: penalties.bounded(net, box),
  }),
  on(text, 'sgd, hinge', { solver: solvers.sgd(), grid: 1 }),
  on(text, 'psgd, hinge, elastic net, intercept', {
    solver: solvers.psgd(),
    penalty: net,
    intercept: true,
  }),
  on(numbers, 'psgd, η₀/√t, last iterate, square, L1', {
    loss: losses.square(),
    penalty: l1,
    solver: solvers.psgd({ step: 'sqrt', average: false }),
  }),
  on(text, 'bmrm, hinge', { solver: solvers.bmrm() }),
  on(text, 'bmrm, hinge, elastic net', { penalty: net, solver: solvers.bmrm() }),
  on(text, 'lbfgs, logistic, intercept', {
    loss: losses.logistic(),
    solver: solvers.lbfgs({ history: 4 }),
    intercept: true,
  }),
  on(numbers, 'OWL-QN, huber, L1', {
    loss: losses.huber(),
    penalty: l1,
    solver: solvers.lbfgs({ history: 5 }),
  }),
  on(text, 'admm, hinge', { solver: solvers.admm() }),
  on(numbers, 'admm, square, L1, intercept, ρ given', {
    loss: losses.square(),
    penalty: l1,
    solver: solvers.admm({ passes: 2, rho: 0.01 }),
    intercept: true,
  }),
  on(text, 'dcd, hinge', { solver: solvers.dcd(), grid: 1 }),
  on(text, 'dcd, logistic, elastic net, without shrinking', {
    loss: losses.logistic(),
    penalty: net,
    solver: solvers.dcd({ shrink: false }),
    grid: 1,
  }),
];

/** An epoch is an outer iteration, of which few are needed. */
const workingSet: Case[] = [
  on(text, 'working set, logistic, L1', {
    loss: losses.logistic(),
    solver: solvers.workingSet(),
    penalty: l1,
    lambda: 1e-4,
  }),
  on(text, 'working set, squared hinge, L1, intercept, from larger λ on', {
    loss: losses.squaredHinge(),
    solver: solvers.workingSet(),
    penalty: l1,
    intercept: true,
    lambda: 1e-4,
  }),
  on(text, 'working set, logistic, elastic net, factors, grid 1', {
    loss: losses.logistic(),
    solver: solvers.workingSet(),
    penalty: net,
    penaltyFactors: factors(200),
    grid: 1,
    lambda: 1e-4,
  }),
];

/** Without what time it took. */
type Event = Omit<EpochEvent, 'seconds' | 'effort'>;

interface Told extends TrainResult {
  readonly events: Event[];
  readonly notices: string[];
}

async function run(dataset: Dataset, options: TrainOptions): Promise<Told> {
  const events: Event[] = [];
  const notices: string[] = [];
  const result = await train(dataset, {
    lambda: 0.003,
    grid: 4,
    tolerance: 1e-15,
    threads: 1,
    ...options,
    onEpoch: ({ seconds: _seconds, effort: _effort, ...event }) => events.push(event),
    onNotice: (message) => notices.push(message),
  });
  return { ...result, events, notices };
}

const bytesOf = ({ model }: TrainResult) => Buffer.from(encodeModel(model));

describe.each([...ring, ...dso, ...competitors])('$title', ({ dataset, options }) => {
  test('7 epochs, then on to 20 on other numbers of threads, are 20 epochs', async () => {
    const whole = await run(dataset, { ...options, epochs: 20 });
    expect(whole.report.epochs).toBeGreaterThan(12);
    for (const [first, second] of [
      [1, 4],
      [4, 1],
      [2, 3],
    ]) {
      const folder = temporaryFolder();
      const every = { epochs: 3 };
      const checkpoint = { folder, every };
      const seven = await run(dataset, { ...options, threads: first, epochs: 7, checkpoint });
      expect(seven.report.epochs).toBe(7);
      const rest = await run(dataset, { ...options, threads: second, epochs: 20, resume: folder });
      expect(rest.report.resumed?.epoch).toBe(7);
      expect(rest.events).toEqual(whole.events.slice(7));
      expect(bytesOf(rest).equals(bytesOf(whole)), `${first}, then ${second} threads`).toBe(true);
    }
  });

  test('stopped after every other epoch and resumed each time', async () => {
    const whole = await run(dataset, { ...options, epochs: 9 });
    const folder = temporaryFolder();
    const events: unknown[] = [];
    let last = whole;
    for (let epochs = 1; epochs <= 9; epochs += 2) {
      const checkpoint = { folder, every: { epochs: 1 } };
      const threads = 1 + (epochs % 4);
      last = await run(dataset, { ...options, threads, epochs, checkpoint, resume: folder });
      events.push(...last.events.slice(0, -1));
    }
    // The last event of a run that is stopped is that of its certificate.
    expect(events).toEqual(whole.events.filter(({ epoch }) => epoch % 2 === 0));
    expect(last.events.at(-1)).toEqual(whole.events.at(-1));
    expect(bytesOf(last).equals(bytesOf(whole))).toBe(true);
  });
});

/** What happens rarely: planes dropped, ρ settled, proximal weights changed, margins refreshed. */
const lasting = [...ring, ...dso, ...competitors].filter(({ title }) =>
  /intercept|bmrm, hinge$|admm, hinge|columns|absolute/.test(title),
);

test.each(lasting)('$title: 20 epochs, then on to 80', async ({ dataset, options }) => {
  const common: TrainOptions = { ...options, tolerance: 1e-300, lambda: 1e-4 };
  const whole = await run(dataset, { ...common, epochs: 80 });
  expect(whole.report.epochs).toBeGreaterThan(30);
  const folder = temporaryFolder();
  await run(dataset, { ...common, threads: 2, epochs: 20, checkpoint: { folder } });
  const rest = await run(dataset, { ...common, epochs: 80, resume: folder });
  expect(rest.events).toEqual(whole.events.slice(20));
  expect(bytesOf(rest).equals(bytesOf(whole))).toBe(true);
});

/** Few steps lead to the limits of double precision. */
const secondOrder: Case[] = [
  on(text, 'newton, logistic, intercept', {
    loss: losses.logistic(),
    solver: solvers.newton(),
    intercept: true,
    lambda: 1e-4,
  }),
  on(text, 'newton, squared hinge, factors', {
    loss: losses.squaredHinge(),
    solver: solvers.newton(),
    penaltyFactors: factors(200),
    lambda: 1e-5,
  }),
  on(text, 'interior point, hinge, L1, intercept', {
    solver: solvers.interiorPoint(),
    penalty: l1,
    intercept: true,
  }),
  on(text, 'interior point, rows × rows, logistic, L1, bounded', {
    loss: losses.logistic(),
    solver: solvers.interiorPoint(),
    penalty: penalties.bounded(l1, { low: -0.5, high: 4 }),
    grid: 1,
    lambda: 1e-4,
  }),
  on(wide, 'interior point, rows × rows, squared hinge, intercept', {
    loss: losses.squaredHinge(),
    solver: solvers.interiorPoint(),
    intercept: true,
    grid: 1,
    lambda: 1e-4,
  }),
  on(text, 'interior point, growing set, hinge, L1, intercept', {
    solver: solvers.interiorPoint({ joining: 20 }),
    penalty: l1,
    intercept: true,
  }),
  on(numbers, 'interior point, growing set, huber, elastic net, factors', {
    loss: losses.huber(),
    solver: solvers.interiorPoint({ joining: 2 }),
    penalty: net,
    penaltyFactors: factors(25),
  }),
  on(numbers, 'interior point, absolute with a zone, elastic net, factors', {
    loss: losses.absolute({ epsilon: 0.1 }),
    solver: solvers.interiorPoint(),
    penalty: net,
    penaltyFactors: factors(25),
  }),
];

test.each([...secondOrder, ...workingSet])(
  '$title: resumed after every epoch',
  async ({ dataset, options }) => {
    const common: TrainOptions = { ...options, tolerance: 1e-7 };
    const whole = await run(dataset, common);
    expect(whole.report.stopped).toBe('converged');
    expect(whole.report.epochs).toBeGreaterThan(3);
    for (let epochs = 1; epochs < whole.report.epochs; epochs++) {
      const folder = temporaryFolder();
      await run(dataset, { ...common, epochs, threads: 2, checkpoint: { folder } });
      const rest = await run(dataset, { ...common, resume: folder });
      expect(rest.events).toEqual(whole.events.slice(epochs));
      expect(bytesOf(rest).equals(bytesOf(whole))).toBe(true);
    }
  },
);

/** What it remembers: pairs, centres, widths and both best points. */
const proximal: Case[] = [
  on(text, 'proximal point, hinge', { solver: solvers.proximalPoint(), lambda: 1e-4 }),
  on(text, 'proximal point, hinge, intercept, three pairs', {
    solver: solvers.proximalPoint({ history: 3 }),
    intercept: true,
    lambda: 1e-4,
  }),
  on(text, 'proximal point, hinge, L1, intercept', {
    solver: solvers.proximalPoint(),
    penalty: l1,
    intercept: true,
    lambda: 0.01,
    tolerance: 1e-3,
  }),
  on(far, 'proximal point, absolute, far intercept, elastic net, factors', {
    loss: losses.absolute(),
    solver: solvers.proximalPoint(),
    penalty: net,
    intercept: true,
    penaltyFactors: factors(25),
  }),
];

test.each(proximal)('$title: resumed now and then', async ({ dataset, options }) => {
  const common: TrainOptions = { tolerance: 1e-7, ...options, epochs: 70 };
  const whole = await run(dataset, common);
  expect(whole.report.epochs).toBeGreaterThan(30);
  // The diagonal is refreshed before every eighth step, sums of many steps after every 64th.
  for (const epochs of [1, 3, 8, 21, 63, 64].filter((epoch) => epoch < whole.report.epochs)) {
    const folder = temporaryFolder();
    await run(dataset, { ...common, epochs, threads: 2, checkpoint: { folder } });
    const rest = await run(dataset, { ...common, resume: folder });
    expect(rest.events).toEqual(whole.events.slice(epochs));
    expect(bytesOf(rest).equals(bytesOf(whole))).toBe(true);
  }
});

describe('a run that meets its tolerance', () => {
  const common: TrainOptions = { tolerance: 1e-4, lambda: 0.01, holdout: 0.2, auprc: true };

  test('from every epoch of it on, also from its end', async () => {
    const whole = await run(text, common);
    expect(whole.report.stopped).toBe('converged');
    for (let epochs = 1; epochs <= whole.report.epochs; epochs++) {
      const folder = temporaryFolder();
      await run(text, { ...common, epochs, checkpoint: { folder } });
      const threads = 1 + (epochs % 3);
      const rest = await run(text, { ...common, threads, resume: folder });
      // At its end it reports the last epoch again: it carries the certificate.
      const reported = epochs === whole.report.epochs ? epochs - 1 : epochs;
      expect(rest.events).toEqual(whole.events.slice(reported));
      expect(bytesOf(rest).equals(bytesOf(whole)), `resumed after epoch ${epochs}`).toBe(true);
      rmSync(folder, { recursive: true });
    }
  });

  test('every iterate tested', async () => {
    const latest: TrainOptions = { ...common, testOn: 'latest' };
    const whole = await run(text, { ...latest, threads: 2 });
    const folder = temporaryFolder();
    await run(text, { ...latest, epochs: 5, checkpoint: { folder } });
    const rest = await run(text, { ...latest, resume: folder });
    expect(rest.events).toEqual(whole.events.slice(5));
  });

  test('tested on other rows than before: nothing that was measured on those is reported', async () => {
    const { holdout: _, ...problem } = common;
    const shape = { rows: 80, columns: 200, perRow: 12 };
    const [one, other] = [2, 3].map((seed) => zipfDataset({ ...shape, seed }));
    const whole = await run(text, { ...problem, test: other });
    const folder = temporaryFolder();
    await run(text, { ...problem, test: one, epochs: 5, checkpoint: { folder } });
    const rest = await run(text, { ...problem, test: other, resume: folder });
    expect(rest.events).toEqual(whole.events.slice(5));
    expect(bytesOf(rest).equals(bytesOf(whole))).toBe(true);
  });

  test('a finished run says so and gives its model again', async () => {
    const folder = temporaryFolder();
    const whole = await run(text, { ...common, checkpoint: { folder } });
    const again = await run(text, { ...common, resume: folder });
    expect(again.notices.join('\n')).toContain('nothing was left to train');
    expect(bytesOf(again).equals(bytesOf(whole))).toBe(true);
  });

  test('continues to a smaller tolerance, and says that the bits are its own', async () => {
    const folder = temporaryFolder();
    const coarse = await run(text, { ...common, checkpoint: { folder } });
    const fine = await run(text, { ...common, tolerance: 1e-8, resume: folder });
    expect(fine.notices.join('\n')).toContain('tolerance was 0.0001, is 1e-8');
    expect(fine.report.stopped).toBe('converged');
    expect(fine.report.relativeGap).toBeLessThanOrEqual(1e-8);
    expect(fine.report.epochs).toBeGreaterThan(coarse.report.epochs);
    const loose = await run(text, { ...common, tolerance: 1e-2, resume: folder });
    expect(loose.report.epochs).toBe(coarse.report.epochs);
  });

  test('an interrupted one', async () => {
    // Far from any optimum for as long as the signal may take to come.
    const endless: TrainOptions = { ...common, solver: solvers.dso(), lambda: 1e-9 };
    const folder = temporaryFolder();
    const controller = new AbortController();
    const stopped = await train(text, {
      ...endless,
      grid: 4,
      epochs: 1e9,
      checkpoint: { folder },
      signal: controller.signal,
      onEpoch: ({ epoch }) => epoch === 4 && controller.abort(),
    });
    expect(stopped.report.stopped).toBe('interrupted');
    const epochs = stopped.report.epochs + 10;
    const whole = await run(text, { ...endless, threads: 2, epochs });
    const rest = await run(text, { ...endless, epochs, resume: folder });
    expect(rest.events).toHaveLength(10);
    expect(rest.events).toEqual(whole.events.slice(stopped.report.epochs));
    expect(bytesOf(rest).equals(bytesOf(whole))).toBe(true);
  });
});

test('a loss of your own: its module is part of the run', async () => {
  const file = join(temporaryFolder(), 'mine.mjs');
  const original = new URL('../../src/problem/losses/hinge.ts', import.meta.url).href;
  const source = `export * from '${original}'; export const name = 'mine';
    export const task = 'classification'; export const smooth = false;`;
  writeFileSync(file, source);
  const loss = await loadLoss(file);
  const whole = await run(text, { loss, epochs: 12 });
  const folder = temporaryFolder();
  await run(text, { loss, epochs: 6, checkpoint: { folder } });
  const rest = await run(text, { loss, epochs: 12, resume: folder });
  expect(bytesOf(rest).equals(bytesOf(whole))).toBe(true);
  writeFileSync(file, `${source} // changed`);
  await expect(run(text, { loss, resume: folder })).rejects.toThrow('loss module was');
});

test('seconds count on', async () => {
  const folder = temporaryFolder();
  const first = await run(text, { epochs: 5, checkpoint: { folder } });
  const seconds: number[] = [];
  const rest = await train(text, {
    lambda: 0.003,
    grid: 4,
    tolerance: 1e-12,
    epochs: 8,
    resume: folder,
    onEpoch: (event) => seconds.push(event.seconds),
  });
  const before = rest.report.resumed?.seconds as number;
  expect(first.report.seconds.train).toBeGreaterThan(before);
  expect(before).toBeGreaterThan(0);
  expect(seconds.every((value, k) => value > (seconds[k - 1] ?? before))).toBe(true);
});

test('an asynchronous run: visits of before and after replay together', async () => {
  const folder = temporaryFolder();
  const common: TrainOptions = { threads: 3, solver: solvers.dsoAsync() };
  const first = await run(text, { ...common, epochs: 4, checkpoint: { folder } });
  const second = await run(text, {
    ...common,
    epochs: 7,
    checkpoint: { folder },
    resume: folder,
  });
  const third = await run(text, { ...common, epochs: 9, resume: folder });
  expect(third.visits).toHaveLength(9 * 16);
  expect(third.bounds).toHaveLength(9);
  expect([...(third.visits as Int32Array)].slice(0, 4 * 16)).toEqual([
    ...(first.visits as Int32Array),
  ]);
  // The last one of a run is that of its certificate, less what rounding may have done.
  expect(third.bounds?.slice(0, 6)).toEqual(second.bounds?.slice(0, 6));
  const order = third.visits as Int32Array;
  const again = await run(text, { epochs: 9, solver: solvers.dsoAsync({ order }) });
  expect(bytesOf(again).equals(bytesOf(third))).toBe(true);
  const refused = run(text, { solver: solvers.dsoAsync({ order }), resume: folder });
  await expect(refused).rejects.toThrow('a replay of recorded visits cannot be saved or resumed');
});
