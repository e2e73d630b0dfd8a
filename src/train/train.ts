import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { targetsOf } from '../data/labels.ts';
import { UsageError } from '../errors.ts';
import { losses } from '../losses/index.ts';
import { sum } from '../math/sum.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type Model, vectorCount } from '../model/model.ts';
import { collectGarbage } from '../parallel/collect-garbage.ts';
import { entriesOfCells, imbalance } from '../parallel/grid.ts';
import { workersOfRanks } from '../parallel/traffic.ts';
import { penalties } from '../penalties/index.ts';
import { choose, gridFor } from '../solvers/choose.ts';
import type { Outcome } from '../solvers/drive.ts';
import type { Plan } from '../solvers/engines.ts';
import { solvers } from '../solvers/index.ts';
import { checkMemory, checkOptions } from './check-options.ts';
import { beginnings, type Companions } from './checkpoints.ts';
import { type Company, gatherValues } from './company.ts';
import { type Fit, fit, inLanes, type Site } from './fit.ts';
import { type Input, layOut, type Settings } from './lay-out.ts';
import { leastMemory, machineMemory } from './memory.ts';
import { makeModel, testModel } from './model-of.ts';
import type { TrainOptions, TrainReport, TrainResult } from './options.ts';
import { classesOfShare, type Share, share, splitShare } from './shares.ts';
import { threadCount, threadPool } from './threads.ts';

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
  const vectors = vectorCount(input.classes ?? {});
  const lanes = lanesFor(input, options, plan, vectors);
  const threads = lanes > 1 || isReplay(plan) ? 1 : threadsHere(options, grid, company);
  const leads = !company || company.rank === 0;
  const plans = await describe(plan, grid, threads * lanes, company);
  if (leads && vectors > 1) options.onNotice?.(describeVectors(input, vectors));
  if (leads) options.onNotice?.(plans);
  const companions = company && companionsOf(company, grid);
  const settled = { ...settings, plan, grid };
  const begin = await beginnings(all, input.test, options, settled, vectors, companions);
  const ground = await layOut(input, options, settings, plan, grid, threads, lanes);
  const { scratch } = ground;
  if (scratch) atEnd.push(() => scratch.close());
  if (options.consume) await release(threads, dataset, input.train.dataset);
  const laidOut = performance.now();
  const site = { ground, options, settings, plan, threads, company, beginnings: begin, vectors };
  const fits = await fitVectors(site, columns);
  const ended = performance.now();
  const entries = (await gatherValues(company, entriesOfCells(ground.grid))).flat();
  const model = leads ? makeModel(fits, input, settings, plan, grid) : undefined;
  const test = input.test && (await testModel(model, input.test, input.train.columns));
  if (!model) return undefined;
  const seconds = {
    read: 0,
    partition: (laidOut - started) / 1000,
    train: (ended - laidOut) / 1000,
    total: (performance.now() - started) / 1000,
  };
  const [{ visits, bounds, resumed }] = fits;
  const report: TrainReport = {
    ...reportOf(model, fits, test),
    threads: threads * lanes,
    ...(company && { ranks: company.size }),
    ...(resumed && { resumed }),
    seconds,
    imbalance: imbalance(ground.grid.partition, entries),
  };
  return { model, report, ...(visits && { visits, bounds }) };
}

/**
 * Fits the vectors of the model, several at the same time where threads have no other work. Time
 * is shared out evenly among those that are left.
 */
async function fitVectors(site: Site, columns: number): Promise<Fit[]> {
  const { options, settings, vectors, ground } = site;
  const started = performance.now();
  const fits: Fit[] = [];
  let left = vectors;
  const numbers = Array.from({ length: vectors }, (_, vector) => vector);
  await inLanes(site, numbers, async (vector, lane) => {
    const spent = (performance.now() - started) / 1000;
    const share = ((settings.time - spent) * Math.min(left, ground.rooms.length)) / left;
    left -= 1;
    const { lambda } = settings;
    fits[vector] =
      vector > 0 && (options.signal?.aborted || share <= 0)
        ? untrained(site, vector, columns)
        : await fit(site, { vector, lambda }, lane, share);
  });
  return fits;
}

/** A vector that there was no time for: w = 0, about which nothing has been proved. */
function untrained({ ground, settings, options }: Site, vector: number, columns: number): Fit {
  const { loss, intercept } = settings;
  const targets = ground.targets.of(vector);
  const losses = targets.map((target) => loss.value(0, target, loss.parameter));
  return {
    weights: new Float64Array(columns + (intercept ? 1 : 0)),
    outcome: {
      epochs: 0,
      passes: 0,
      primal: sum(losses) / targets.length,
      dual: -Infinity,
      relativeGap: Infinity,
      stopped: options.signal?.aborted ? 'interrupted' : 'time-limit',
      seconds: 0,
      effort: noEffort,
    },
    bounds: [],
  };
}

const noEffort = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };

/** Runs that can go on at the same time: several need several vectors, and memory for each. */
function lanesFor({ train }: Input, options: TrainOptions, plan: Plan, vectors: number): number {
  if (vectors === 1 || train.company || train.dataset.stored || plan.engine === 'dso-async') {
    return 1;
  }
  const { rows, columns } = train;
  const room = leastMemory({ rows, columns, nonzeros: 0 });
  const fitting = Math.max(1, Math.floor(machineMemory() / 8 / room));
  return Math.min(threadCount(options.threads), vectors, fitting);
}

function describeVectors({ classes }: Input, vectors: number): string {
  const kind = classes?.multiLabel ? 'labels, each' : 'classes, each';
  return `${vectors} ${kind} against the rest`;
}

function reportOf(model: Model, fits: readonly Fit[], test: Metrics | undefined) {
  const { solver, lambda, rows, columns, nonzeros, classes, grid, seed, certificate } = model;
  const { primal, dual, gap, relativeGap, epochs, stopped } = certificate;
  const [{ rotations }] = fits.map(({ outcome }) => outcome);
  return {
    solver,
    loss: model.loss.name,
    penalty: model.penalty.name,
    lambda,
    rows,
    columns,
    nonzeros,
    ...(classes && { classes }),
    grid,
    seed,
    epochs,
    passes: fits.reduce((total, { outcome }) => total + outcome.passes, 0),
    primal,
    dual,
    gap,
    relativeGap,
    stopped,
    effort: fits.map(({ outcome }) => outcome.effort).reduce(addEffort),
    ...(rotations && { rotations }),
    ...(model.certificates && { vectors: model.certificates.length }),
    ...(test && { test }),
  };
}

function addEffort(left: Outcome['effort'], right: Outcome['effort']): Outcome['effort'] {
  return {
    computing: left.computing + right.computing,
    waiting: left.waiting + right.waiting,
    communicating: left.communicating + right.communicating,
    bytes: left.bytes + right.bytes,
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
  const classes =
    task === 'classification'
      ? await classesOfShare(sides.train, options.multiLabel ?? false)
      : undefined;
  // Foreign labels are found out now, where the number of their row is known.
  if (test && classes) targetsOf(test.dataset, classes, test.firstRow);
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
