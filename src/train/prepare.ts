import { type Dataset, rowWeights } from '../data/dataset.ts';
import { isTableSchema } from '../data/fields/row-rules.ts';
import { areNamed, type Classes, checkNumbers, targetsOf } from '../data/labels.ts';
import { divideColumns, scaleDataset, withUnitRows } from '../data/scale.ts';
import { leastMemory, memoryOfLanes } from '../engine/memory.ts';
import {
  gatherValues,
  type ProcessGroup,
  singleProcess,
} from '../engine/processes/process-group.ts';
import { threadCount } from '../engine/thread-pool.ts';
import { UsageError } from '../errors.ts';
import { vectorCount } from '../model/model.ts';
import { checkLabels, losses } from '../problem/losses/index.ts';
import { penalties } from '../problem/penalties/index.ts';
import { finiteBounds } from '../problem/penalties/separable.ts';
import { alternativeTo, choose, gridFor } from '../solvers/choose.ts';
import { solvers } from '../solvers/index.ts';
import {
  entryOf,
  loadSolver,
  type Solver,
  type SolverPlan,
  solverEntries,
} from '../solvers/registry.ts';
import type { SolverEntry } from '../solvers/solver.ts';
import { defaultEpochs } from './assemble.ts';
import { checkCalibration } from './calibrate.ts';
import { openCheckpoints, type RunCheckpoints } from './checkpoints.ts';
import { withClassWeights } from './class-weights.ts';
import { checkSameTraining } from './identity.ts';
import { threadsOfRuns } from './layout.ts';
import { checkArguments, checkMemory, checkOptions } from './options/check.ts';
import type { TrainOptions } from './options/options.ts';
import { isBrief, type Place } from './place.ts';
import {
  checkTotalWeight,
  classesOfShard,
  type DataShard,
  dataShard,
  hashOfShard,
  splitShard,
} from './shard.ts';

/** The options with their defaults; that of λ depends on the data. */
export function resolveOptions({
  loss = losses.hinge(),
  penalty = penalties.l2(),
  solver = solvers.auto(),
  seed = 1,
  epochs = defaultEpochs,
  tolerance = 1e-3,
  time = Infinity,
  intercept = false,
}: Omit<TrainOptions, 'onEpoch' | 'onNotice'>) {
  return { loss, penalty, solver, seed, epochs, tolerance, time, intercept };
}

export type Defaults = ReturnType<typeof resolveOptions>;

export type ResolvedOptions = Readonly<Defaults> & { readonly lambda: number };

/** The data of a run: rows to train on, rows to test on, and what the labels mean. */
interface TrainingData {
  readonly shard: DataShard;
  readonly test: DataShard | undefined;
  /** In classification. */
  readonly classes: Classes | undefined;
  /** The weights of the rows without those of their classes, where classes have some. */
  readonly plainWeights?: Float64Array;
  /** What the columns were divided by for training. */
  readonly factors?: Float64Array;
  /** The rows to test on as they were read, where `test` has them scaled. */
  readonly plainTest?: DataShard;
}

/** The data of a run and all that has been decided about it. */
export interface Training extends TrainingData, Place {
  /** The data as it was given. */
  readonly dataset: Dataset;
  readonly options: TrainOptions;
  readonly settings: ResolvedOptions;
  readonly plan: SolverPlan;
  /** A solver that may succeed where the plan does not. */
  readonly alternative: Solver['name'] | undefined;
  /** p of the p × p grid. */
  readonly grid: number;
  readonly group: ProcessGroup;
  readonly checkpoints: RunCheckpoints;
  /** Vectors of the model. */
  readonly vectors: number;
  /** Subproblems that may be solved at the same time. */
  readonly lanes: number;
  /** Whether subproblems may start from a given point. */
  readonly warmStarts: boolean;
}

/** A training before its data is laid out. */
export interface PreparedTraining extends Training {
  /** Of all rows, those held out included. */
  readonly hash: Promise<string>;
}

/** What will be done with the data. */
export interface Intent {
  readonly group?: ProcessGroup;
  /** Subproblems that need not wait for one another, for N vectors; default: N. */
  readonly tasksOf?: (vectors: number, plan: SolverPlan, grid: number) => number;
  /** Whether some of them start from a point that the options do not give. */
  readonly warmStarts?: boolean;
  /** Whether the calling thread may be taken for what is done in a moment; default: it is never blocked. */
  readonly callingThread?: boolean;
}

/** Whether numbers could be scaled by their standard deviation, with these bounds of the weights. */
export function mayScale(
  { stored }: Pick<Dataset, 'stored'>,
  { penalty }: Pick<TrainOptions, 'penalty'>,
  ranks: number,
): boolean {
  const ends = penalty ? Object.values(finiteBounds(penalty)) : [];
  return ranks === 1 && !stored && ends.every((end) => end === 0);
}

/**
 * Columns of a table may have any unit and any mean: unless the options say otherwise, its numbers
 * are scaled, where that is possible, and the model has an intercept, if the solver can have one.
 */
function withTableDefaults(
  dataset: Dataset,
  options: TrainOptions,
  { size, leads }: ProcessGroup,
): TrainOptions {
  if (!isTableSchema(dataset)) return options;
  const { intercept, scale: way, solver, onNotice } = options;
  const isScaled = way === undefined && mayScale(dataset, options, size);
  const entries: Readonly<Record<string, SolverEntry<never> | undefined>> = solverEntries;
  const lacks = solver !== undefined && entries[solver.name]?.hasNoIntercept === true;
  const added = lacks
    ? `there is no intercept, which ${solver.name} cannot have`
    : 'there is an intercept (--no-intercept: none)';
  const found = [
    ...(isScaled
      ? ['numbers are scaled by their standard deviation (--scale none: as they are)']
      : []),
    ...(intercept === undefined ? [added] : []),
  ];
  if (leads && found.length > 0) onNotice?.(`the data is a table: ${found.join('; ')}`);
  return { ...options, intercept: intercept ?? !lacks, ...(isScaled && { scale: 'std' }) };
}

/** Checks the options and decides what they leave open. */
export async function prepareTraining(
  dataset: Dataset,
  asked: TrainOptions,
  {
    group = singleProcess,
    tasksOf = (vectors) => vectors,
    warmStarts = false,
    callingThread: mayStay = false,
  }: Intent = {},
): Promise<PreparedTraining> {
  checkArguments(dataset, asked);
  const given = withTableDefaults(dataset, asked, group);
  const defaults = resolveOptions(given);
  await checkSameTraining(group, given, defaults);
  const all = await dataShard(dataset, group);
  const { rows, columns, nonzeros } = all;
  checkOptions({ ...dataset, rows, columns, nonzeros }, given);
  const data = await selectTrainingData(all, given, defaults);
  const { shard } = data;
  checkTotalWeight(shard);
  checkCalibration(shard, given, defaults, data.classes);
  const lambda = given.lambda ?? 1 / shard.totalWeight;
  const settings: ResolvedOptions = { ...defaults, lambda };
  const factors = given.penaltyFactors !== undefined;
  const fromDisk = given.memory !== undefined;
  const stored = shard.dataset.stored !== undefined;
  const problem = { ...settings, factors, shape: shard, grid: given.grid, fromDisk, stored };
  const plan = choose(settings.solver, problem);
  const alternative = alternativeTo(plan, problem);
  if (given.keepDual && entryOf(plan).hasNoDualPoint) {
    throw new UsageError(
      `there is no dual point to keep: ${plan.name} proves its bound without one (use another solver)`,
    );
  }
  await loadSolver(plan);
  const grid = gridFor(plan, given.grid, shard);
  const vectors = vectorCount(data.classes ?? {});
  checkAsynchronous(plan, { group, options: given, vectors });
  const tasks = tasksOf(vectors, plan, grid);
  const callingThread = mayStay && grid === 1 && isBrief(plan, problem, shard, tasks);
  const options = callingThread ? { ...given, threads: 1 } : given;
  const lanes = lanesFor(shard, plan, options, tasks);
  const chosen = { plan, alternative, grid, lanes, callingThread };
  const decided = { ...data, dataset, options, settings, ...chosen, group, vectors };
  await announce(decided);
  const hash = hashOfShard(all, options.threads);
  // Ranks take part in its sum one after the other; within a process threads lay the data out meanwhile.
  if (group.size > 1) await hash;
  hash.catch(() => {});
  const checkpoints = await openCheckpoints({ ...decided, all, hash });
  warmStarts ||= options.start !== undefined;
  return { ...decided, hash, checkpoints, warmStarts };
}

/** Sets test rows aside, finds the classes, and weights and scales as the options say. */
async function selectTrainingData(
  all: DataShard,
  options: TrainOptions,
  { loss, seed }: Defaults,
): Promise<TrainingData> {
  const { group } = all;
  const { train, test } =
    options.holdout === undefined
      ? { train: all, test: options.test && (await dataShard(options.test, group)) }
      : await splitShard(all, options.holdout, seed);
  const classes =
    loss.task === 'classification'
      ? await classesOfShard(all, {
          multiLabel: options.multiLabel,
          positive: options.positive ?? options.start?.positive,
        })
      : undefined;
  if (!classes && options.positive !== undefined) {
    throw new UsageError(`a positive class is for classification; the ${loss.name} loss is not`);
  }
  // All rows of a rare class may be held out, but not those of all classes but one.
  if (classes && options.holdout !== undefined) {
    await classesOfShard(train, { multiLabel: classes.multiLabel });
  }
  // Invalid labels are found now, while the numbers of their rows are known.
  for (const side of [all, test]) {
    if (side && !classes) checkNumbers(side.dataset, loss.name);
    if (side) checkLabels(loss, side.dataset, side.firstRow);
  }
  if (test && classes) targetsOf(test.dataset, classes, test.firstRow);
  // Before scaling, which takes memory for every column.
  checkMemory(fairShare(train));
  const { classWeights } = options;
  if (!classWeights) return scale({ shard: train, test, classes }, options);
  const weighted = await withClassWeights(train.dataset, classes, classWeights, group);
  const shard = { ...(await dataShard(weighted, group)), columns: train.columns };
  const plain = rowWeights(train.dataset) ?? new Float64Array(train.dataset.rows).fill(1);
  return scale({ shard, test, classes, plainWeights: plain }, options);
}

/** Divides columns or rows for training; rows to test on while training are divided alike. */
function scale(data: TrainingData, { scale: way }: TrainOptions): TrainingData {
  const { shard, test } = data;
  if (way === undefined || way === 'none') return data;
  if (shard.group.size > 1 || shard.dataset.stored) {
    throw new UsageError(
      'scale needs all rows in the memory of one process: scale them beforehand',
    );
  }
  // A shard may have fewer columns than all the data.
  const whole = { ...shard.dataset, columns: shard.columns };
  const { dataset, factors } = scaleDataset(whole, way);
  const alike = (other: Dataset) => (factors ? divideColumns(other, factors) : withUnitRows(other));
  return {
    ...data,
    shard: { ...shard, dataset },
    test: test && { ...test, dataset: alike(test.dataset) },
    ...(test && { plainTest: test }),
    ...(factors && { factors }),
  };
}

/** Subproblems that can be solved at the same time: each needs memory of its own. */
function lanesFor(
  { rows, columns, group, dataset }: DataShard,
  plan: SolverPlan,
  { threads }: TrainOptions,
  tasks: number,
): number {
  const { asynchronous } = entryOf(plan);
  if (tasks === 1 || group.size > 1 || dataset.stored || asynchronous) return 1;
  const bytes = leastMemory({ rows, columns, nonzeros: 0 });
  const fitting = Math.max(1, Math.floor(memoryOfLanes() / bytes));
  return Math.min(threadCount(threads), tasks, fitting);
}

/** What one process will hold of the data, if it is divided evenly. */
function fairShare({ dataset, rows, columns, nonzeros, group }: DataShard) {
  const fair = (count: number) => Math.ceil(count / group.size);
  // Non-zeros on disk need no memory.
  const inMemory = dataset.stored ? 0 : fair(nonzeros);
  return { name: dataset.name, rows: fair(rows), columns: fair(columns), nonzeros: inMemory };
}

/** dso-async depends on timing: its record is that of one run in one process, from its beginning. */
function checkAsynchronous(
  plan: SolverPlan,
  { group, options, vectors }: Pick<Training, 'group' | 'options' | 'vectors'>,
): void {
  if (!entryOf(plan).asynchronous) return;
  if (group.size > 1) {
    throw new UsageError('dso-async runs in one process: use --solver dso on several ranks');
  }
  const found =
    (vectors > 1 && `${vectors} classes`) ||
    (options.calibrate && 'calibrate') ||
    (options.thresholdFor && 'thresholdFor') ||
    (options.start && 'a start');
  if (!found) return;
  throw new UsageError(
    `dso-async with ${found} could not be replayed: use dso, which gives the same bits every time`,
  );
}

/** Rank 0 says which solver was chosen and what it runs on. */
async function announce(
  training: Pick<Training, 'plan' | 'options' | 'grid' | 'group' | 'classes' | 'vectors' | 'lanes'>,
): Promise<void> {
  const { plan, options, grid, group, classes, vectors, lanes } = training;
  const here = threadsOfRuns(training, lanes) * lanes;
  const threads = Math.max(...(await gatherValues(group, here)));
  if (!group.leads) return;
  if (vectors > 1) {
    const kind = classes?.multiLabel ? 'labels, each' : 'classes, each';
    options.onNotice?.(`${vectors} ${kind} against the rest`);
  }
  const [negative, positive] = classes?.classes ?? [];
  const isChosen = options.positive !== undefined || options.start?.positive !== undefined;
  if (classes && vectors === 1 && !classes.multiLabel && !isChosen && !areNamed(classes.classes)) {
    options.onNotice?.(`positive class ${positive}, which is no more frequent than ${negative}`);
  }
  const titleOf = ({ name }: Pick<SolverPlan, 'name'>) => entryOf({ name }).title ?? name;
  const { next } = plan;
  const later = next?.after
    ? `; ${titleOf(next.plan)} if that is slow after ${next.after} passes`
    : '';
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  const ranks = group.size > 1 ? `${count(group.size, 'rank')} of ` : '';
  const workers = `grid ${grid} × ${grid} on ${ranks}${count(threads, 'thread')}`;
  options.onNotice?.(`solver ${titleOf(plan)}: ${plan.reason}${later}; ${workers}`);
}
