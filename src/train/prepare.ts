import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { leastMemory, memoryOfLanes } from '../engine/memory.ts';
import { type Company, gatherValues } from '../engine/processes/process-group.ts';
import { UsageError } from '../errors.ts';
import { losses } from '../losses/index.ts';
import { vectorCount } from '../model/model.ts';
import { collectGarbage } from '../parallel/collect-garbage.ts';
import { workersOfRanks } from '../parallel/traffic.ts';
import { penalties } from '../penalties/index.ts';
import { choose, gridFor } from '../solvers/choose.ts';
import type { Plan } from '../solvers/engines.ts';
import { solvers } from '../solvers/index.ts';
import { checkCalibration } from './calibrate.ts';
import { checkArguments, checkMemory, checkOptions } from './check-options.ts';
import { beginnings, type Companions } from './checkpoints.ts';
import type { Site } from './fit.ts';
import { prepareInput } from './input.ts';
import { type Input, layOut, type Settings } from './lay-out.ts';
import type { TrainOptions } from './options/options.ts';
import { usualEpochs } from './provenance.ts';
import { checkMass, hashOfShare, type Share, share } from './shard.ts';
import { threadCount, threadPool } from './threads.ts';

/** Data laid out for training, and all that has been decided about it. */
export interface Prepared {
  readonly site: Site;
  readonly input: Input;
  /** The hash of all rows, those held out included, as they were read. */
  readonly hash: string;
  readonly grid: number;
  /** Whether this process is the one that speaks, and has the model. */
  readonly leads: boolean;
}

/** What will be done with the data. */
interface Plans {
  /** Runs that do not have to wait for one another, for a number of vectors; default: as many. */
  readonly tasksOf?: (vectors: number) => number;
  /** Whether some of them start from a point that the options do not give. */
  readonly starts?: boolean;
}

/**
 * Checks the options, decides what they leave open and lays out the data. `atEnd` gets what has to
 * be done when all is over, however it ends.
 */
export async function prepare(
  dataset: Dataset,
  options: TrainOptions,
  company: Company | undefined,
  atEnd: (() => void)[],
  { tasksOf = (vectors) => vectors, starts = false }: Plans = {},
): Promise<Prepared> {
  checkArguments(dataset, options);
  const all = await share(dataset, company);
  const { rows, columns, nonzeros } = all;
  checkOptions({ ...dataset, rows, columns, nonzeros }, options);
  const defaults = withDefaults(options);
  const input = await prepareInput(all, options, defaults);
  checkMemory(fairShare(input.train));
  checkMass(input.train);
  checkCalibration(input, options, defaults);
  const settings: Settings = { ...defaults, lambda: options.lambda ?? 1 / input.train.mass };
  const plan = choose(settings.solver, {
    ...settings,
    factors: options.penaltyFactors !== undefined,
    shape: input.train,
  });
  const grid = gridFor(plan, options.grid, input.train);
  checkCompany(plan, company);
  const vectors = vectorCount(input.classes ?? {});
  checkAsynchronous(plan, options, vectors);
  const lanes = lanesFor(input, options, plan, tasksOf(vectors));
  const threadsOf = (runs: number) =>
    runs > 1 || isReplay(plan) ? 1 : threadsHere(options, grid, company);
  const planned = threadsOf(lanes);
  const leads = !company || company.rank === 0;
  const plans = await describe(plan, grid, planned * lanes, company);
  if (leads && vectors > 1) options.onNotice?.(describeVectors(input, vectors));
  if (leads) options.onNotice?.(plans);
  const companions = company && companionsOf(company, grid);
  const settled = { ...settings, plan, grid };
  const hash = await hashOfShare(all, options.threads);
  const begin = await beginnings(all, hash, input.test, options, settled, vectors, companions);
  const ground = await layOut(
    input,
    options,
    settings,
    plan,
    grid,
    planned,
    lanes,
    starts || options.start !== undefined,
  );
  // There may have been memory for fewer.
  const threads = threadsOf(ground.rooms.length);
  const { scratch } = ground;
  if (scratch) atEnd.push(() => scratch.close());
  // Rows are scored once more to calibrate.
  if (options.consume && !options.calibrate) await release(threads, dataset, input.train.dataset);
  const site: Site = {
    ground,
    options,
    settings,
    plan,
    threads,
    company,
    beginnings: begin,
    vectors,
    factors: input.factors,
    window: {},
  };
  return { site, input, hash, grid, leads };
}

/** Runs that can go on at the same time: several need memory for each. */
function lanesFor({ train }: Input, options: TrainOptions, plan: Plan, tasks: number): number {
  if (tasks === 1 || train.company || train.dataset.stored || plan.engine === 'dso-async') {
    return 1;
  }
  const { rows, columns } = train;
  const room = leastMemory({ rows, columns, nonzeros: 0 });
  const fitting = Math.max(1, Math.floor(memoryOfLanes() / room));
  return Math.min(threadCount(options.threads), tasks, fitting);
}

function describeVectors({ classes }: Input, vectors: number): string {
  const kind = classes?.multiLabel ? 'labels, each' : 'classes, each';
  return `${vectors} ${kind} against the rest`;
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

/** The record of an asynchronous run is that of one run, from its beginning. */
function checkAsynchronous({ engine }: Plan, options: TrainOptions, vectors: number): void {
  if (engine !== 'dso-async') return;
  const found =
    (vectors > 1 && `${vectors} classes`) ||
    (options.calibrate && 'calibrate') ||
    (options.start && 'a start');
  if (!found) return;
  throw new UsageError(
    `dso-async with ${found} could not be replayed: use dso, which gives the same bits every time`,
  );
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
    epochs: options.epochs ?? usualEpochs,
    tolerance: options.tolerance ?? 1e-3,
    time: options.time ?? Infinity,
    intercept: options.intercept ?? false,
  };
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
