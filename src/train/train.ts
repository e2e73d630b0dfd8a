import { MessageChannel } from 'node:worker_threads';
import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { targets } from '../data/labels.ts';
import { UsageError } from '../errors.ts';
import { kernelModule } from '../kernels/wasm.ts';
import { losses } from '../losses/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Model } from '../model/model.ts';
import type { Gap } from '../objective/objective.ts';
import { collectGarbage } from '../parallel/collect-garbage.ts';
import { entriesOfCells, imbalance } from '../parallel/grid.ts';
import { shareTeam } from '../parallel/team.ts';
import { openTraffic, workersOfRanks } from '../parallel/traffic.ts';
import { describePenalty, penalties } from '../penalties/index.ts';
import { choose, gridFor } from '../solvers/choose.ts';
import type { Outcome, Progress } from '../solvers/drive.ts';
import type { Plan } from '../solvers/engines.ts';
import { solvers } from '../solvers/index.ts';
import type { Kept, Notice, RunPayload } from '../solvers/run.ts';
import { checkMemory, checkOptions } from './check-options.ts';
import { type Companions, type Continuation, continuation, visitedBefore } from './checkpoints.ts';
import { type Company, fairCores, gatherValues } from './company.ts';
import { type Input, layOut, type Run, type Settings } from './lay-out.ts';
import { Listener } from './listener.ts';
import { collectWeights, makeModel, testModel } from './model-of.ts';
import type { TrainOptions, TrainReport, TrainResult } from './options.ts';
import { classesOfShare, type Share, share, splitShare } from './shares.ts';
import { threadCount, threadPool, together } from './threads.ts';

/** Trains a model and certifies how far from the optimum it is at most. */
export async function train(dataset: Dataset, options: TrainOptions = {}): Promise<TrainResult> {
  return (await trainTogether(dataset, options, undefined)) as TrainResult;
}

/**
 * Trains one model in all processes of a job, each with the rows that it has read; the result is
 * rank 0's.
 */
export async function trainTogether(
  dataset: Dataset,
  options: TrainOptions,
  company: Company | undefined,
): Promise<TrainResult | undefined> {
  const atEnd: (() => void)[] = [];
  try {
    return await trainWhole(dataset, options, company, atEnd);
  } finally {
    for (const act of atEnd) act();
  }
}

/** `atEnd` gets what has to be done when the run is over, however it ends. */
async function trainWhole(
  dataset: Dataset,
  options: TrainOptions,
  company: Company | undefined,
  atEnd: (() => void)[],
): Promise<TrainResult | undefined> {
  const started = performance.now();
  const all = await share(dataset, company);
  const { rows, columns, nonzeros } = all;
  checkOptions({ ...dataset, rows, columns, nonzeros }, options);
  const defaults = withDefaults(options);
  const input = await prepareInput(all, options, defaults);
  checkMemory(fairShare(input.train));
  const settings: Settings = { ...defaults, lambda: options.lambda ?? 1 / input.train.rows };
  const plan = choose(settings.solver, {
    ...settings,
    factors: options.penaltyFactors !== undefined,
    shape: input.train,
  });
  const grid = gridFor(plan, options.grid, input.train);
  checkCompany(plan, company);
  const threads = isReplay(plan) ? 1 : threadsHere(options, grid, company);
  const plans = await describe(plan, grid, threads, company);
  if (!company || company.rank === 0) options.onNotice?.(plans);
  const companions = company && companionsOf(company, grid);
  const settled = { ...settings, plan, grid };
  const beginning = await continuation(all, input.test, options, settled, companions);
  const { course } = beginning;
  atEnd.push(beginning.release);
  const run = await layOut(input, options, settings, plan, grid, threads);
  const { scratch } = run;
  if (scratch) atEnd.push(() => scratch.close());
  if (options.consume) await release(threads, dataset, input.train.dataset);
  const laidOut = performance.now();
  const solved = await solve(run, options, settings, plan, threads, course, company);
  const ended = performance.now();
  const weights = await collectWeights(run, company);
  const entries = (await gatherValues(company, entriesOfCells(run.problem.grid))).flat();
  const model = weights && makeModel(weights, input, settings, plan, grid, solved.outcome);
  const test = input.test && (await testModel(model, input.test, input.train.columns));
  if (!model) return undefined;
  const before = course.resume?.found.header;
  if (before && before.epoch === solved.outcome.epochs) {
    options.onNotice?.('the run had come to its end before: nothing was left to train');
  }
  const { outcome, visits, bounds } = solved;
  const seconds = {
    read: 0,
    partition: (laidOut - started) / 1000,
    train: (ended - laidOut) / 1000,
    total: (performance.now() - started) / 1000,
  };
  const report: TrainReport = {
    ...reportOf(model, outcome, test),
    threads,
    ...(company && { ranks: company.size }),
    ...(before && { resumed: { epoch: before.epoch, seconds: before.seconds } }),
    seconds,
    imbalance: imbalance(run.problem.grid.partition, entries),
  };
  return { model, report, ...(visits && { visits, bounds }) };
}

function reportOf(model: Model, outcome: Outcome, test: Metrics | undefined) {
  const { solver, lambda, rows, columns, nonzeros, classes, grid, seed, certificate } = model;
  const { primal, dual, gap, relativeGap } = certificate;
  const { epochs, passes, stopped, effort, rotations } = outcome;
  return {
    solver,
    loss: model.loss.name,
    penalty: describePenalty(model.penalty),
    lambda,
    rows,
    columns,
    nonzeros,
    ...(classes && { classes }),
    grid,
    seed,
    epochs,
    passes,
    primal,
    dual,
    gap,
    relativeGap,
    stopped,
    effort,
    ...(rotations && { rotations }),
    ...(test && { test }),
  };
}

/** What one process will hold of the data, if it is dealt evenly. */
function fairShare({ dataset, rows, columns, nonzeros, company }: Share) {
  const fair = (count: number) => Math.ceil(count / (company?.size ?? 1));
  return {
    name: dataset.name,
    rows: fair(rows),
    columns: fair(columns),
    // Entries on disk need no memory.
    nonzeros: dataset.stored ? 0 : fair(nonzeros),
  };
}

/** What the order of things decides, several processes would each decide for themselves. */
function checkCompany({ engine }: Plan, company: Company | undefined): void {
  if (!company || engine !== 'dso-async') return;
  throw new UsageError('dso-async runs in one process: use --solver dso on several ranks');
}

function companionsOf(company: Company, grid: number): Companions {
  const { rank, size } = company;
  const firsts = workersOfRanks(grid, size);
  return {
    rank,
    ranks: size,
    workersOf: (which) => [firsts[which], firsts[which + 1]],
    gather: (text) => gatherValues(company, text),
  };
}

/** Threads beyond the workers of this process would have nothing to do. */
function threadsHere({ threads }: TrainOptions, grid: number, company?: Company): number {
  const firsts = workersOfRanks(grid, company?.size ?? 1);
  const rank = company?.rank ?? 0;
  return Math.max(1, Math.min(threadCount(threads), firsts[rank + 1] - firsts[rank]));
}

/** A recorded order is a serial one. */
function isReplay({ engine, settings }: Plan): boolean {
  return engine === 'dso-async' && settings.order !== undefined;
}

function withDefaults(options: TrainOptions): Omit<Settings, 'lambda'> {
  return {
    loss: options.loss ?? losses.hinge(),
    penalty: options.penalty ?? penalties.l2(),
    solver: options.solver ?? solvers.auto(),
    seed: options.seed ?? 1,
    epochs: options.epochs ?? 10_000,
    tolerance: options.tolerance ?? 1e-3,
    time: options.time ?? Infinity,
    intercept: options.intercept ?? false,
  };
}

async function prepareInput(
  all: Share,
  options: TrainOptions,
  { loss, seed }: Omit<Settings, 'lambda'>,
): Promise<Input> {
  const { task } = loss;
  const { company } = all;
  const sides =
    options.holdout === undefined
      ? { train: all, test: options.test && (await share(options.test, company)) }
      : await splitShare(all, options.holdout, seed);
  const { test } = sides;
  const classes = task === 'classification' ? await classesOfShare(sides.train) : undefined;
  // Foreign labels are found out now, where the number of their row is known.
  if (test && classes) targets(test.dataset, task, classes, test.firstRow);
  return { ...sides, classes };
}

async function describe(
  plan: Plan,
  grid: number,
  threads: number,
  company: Company | undefined,
): Promise<string> {
  const [name, mode] = plan.engine.split(/^(ring)-/).filter(Boolean);
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  const all = await gatherValues(company, threads);
  const most = Math.max(...all);
  const ranks = company ? `${count(company.size, 'rank')} of ` : '';
  const workers = `grid ${grid} × ${grid} on ${ranks}${count(most, 'thread')}`;
  return `solver ${mode ? `${name} (${mode})` : name}: ${plan.reason}; ${workers}`;
}

/** From so many non-zeros on, memory is worth the few milliseconds it takes to get it back. */
const worthCollecting = 2e6;

/** Lets go of the data set's own arrays, here and in every thread: the grid holds the data now. */
async function release(threads: number, dataset: Dataset, trained: Dataset): Promise<void> {
  for (const { parts } of [dataset, trained]) (parts as DatasetPart[]).length = 0;
  if (dataset.nonzeros < worthCollecting) return;
  const pool = threadPool(threads);
  collectGarbage();
  await pool.runAll('collect-garbage', pool.threads, () => undefined);
}

interface Solved {
  readonly outcome: Outcome;
  readonly visits: Int32Array | undefined;
  readonly bounds: Gap[];
}

async function solve(
  run: Run,
  options: TrainOptions,
  settings: Settings,
  plan: Plan,
  threads: number,
  course: Continuation,
  company: Company | undefined,
): Promise<Solved> {
  const { loss, seed, tolerance, epochs, time } = settings;
  const { grid } = run.problem;
  const shared = shareTeam({
    threads,
    workers: grid.size,
    cores: fairCores(company),
    trace: options.trace,
    ...(company && {
      open: (tokens) => openTraffic(company.rank, company.size, grid.size, tokens),
    }),
  });
  const { memory } = run.arena;
  const payload: Omit<RunPayload, 'index'> = {
    shared,
    problem: run.problem,
    memory: run.memory,
    plan,
    loss: {
      name: loss.name,
      parameter: loss.parameter,
      ...(loss.module && { module: loss.module }),
    },
    seed,
    limits: { tolerance, epochs, time },
    ...(memory && { wasm: { module: kernelModule(loss.name), memory } }),
    ...(run.test && { test: run.test }),
    ...course,
  };
  const interrupt = () => Atomics.store(shared.interrupt, 0, 1);
  const listener = new Listener(options.onEpoch, interrupt);
  const { visits, bounds } = visitedBefore(course);
  if (options.signal?.aborted) interrupt();
  options.signal?.addEventListener('abort', interrupt);
  const { port1, port2 } = new MessageChannel();
  const carrying = company && shared.traffic && company.carry(shared.traffic, port2);
  try {
    const work = together<Outcome>(
      threadPool(threads),
      'solve',
      threads,
      (index): RunPayload => ({
        ...payload,
        index,
        ...(company && index === 0 && { carrier: port1 }),
      }),
      (event) => {
        const message = event as Progress | Notice | Kept;
        if ('notice' in message) {
          options.onNotice?.(message.notice);
          return;
        }
        if ('kept' in message) {
          options.onCheckpoint?.(message.kept);
          return;
        }
        const { visits: order, ...progress } = message;
        if (order) {
          visits.push(order);
          bounds.push({ primal: progress.primal, dual: progress.dual });
        }
        listener.hear(progress);
      },
      (index) => (company && index === 0 ? [port1] : []),
    );
    const outcomes = await (carrying ? Promise.race([work, failureOf(carrying)]) : work);
    company?.endCarrying();
    await carrying;
    listener.rethrow();
    return { outcome: outcomes[0], visits: joined(visits), bounds };
  } finally {
    options.signal?.removeEventListener('abort', interrupt);
    port1.close();
  }
}

/** Threads would wait forever for what is no longer carried. */
async function failureOf(carrying: Promise<void>): Promise<never> {
  await carrying;
  return new Promise(() => {});
}

function joined(orders: readonly Int32Array[]): Int32Array | undefined {
  if (orders.length === 0) return undefined;
  const all = new Int32Array(orders.length * orders[0].length);
  for (const [epoch, order] of orders.entries()) all.set(order, epoch * order.length);
  return all;
}
