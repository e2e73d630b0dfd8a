import { cpus, totalmem } from 'node:os';
import { basename } from 'node:path';
import packageDescription from '../../../package.json' with { type: 'json' };
import {
  type Dataset,
  type DatasetPart,
  sharedFloat32,
  sharedFloat64,
  sharedInt32,
} from '../../data/dataset.ts';
import { hashData, hashNumbers } from '../../data/fingerprint.ts';
import { classesOf, targetsOf } from '../../data/labels.ts';
import { splitDataset } from '../../data/split.ts';
import { threadCount } from '../../engine/thread-pool.ts';
import { DataError, UsageError } from '../../errors.ts';
import { formatNumber } from '../../math/format-number.ts';
import { losses as lossFactories } from '../../problem/losses/index.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { describePenalty, type Penalty, penalties } from '../../problem/penalties/index.ts';
import { defaultGrid, isSerial } from '../../solvers/index.ts';
import type { Solver } from '../../solvers/registry.ts';
import type { EpochEvent } from '../events.ts';
import type { TrainOptions } from '../options/options.ts';
import { train } from '../train.ts';
import {
  type Comparison,
  type DataSummary,
  differences,
  type Machine,
  type Run,
  sameRun,
  withRun,
} from './comparison.ts';

/** What the data is, with a hash of everything training sees of it. */
export function summarizeData(dataset: Dataset): DataSummary {
  const { name, rows, columns, nonzeros } = dataset;
  return { name, rows, columns, nonzeros, hash: hashData(dataset) };
}

/** Non-zeros up to which a warm-up runs on the data itself. */
const smallData = 500_000;
const warmUpEpochs = 3;
const mostSeconds = 2;

/**
 * The rows that warm-ups run on: all of them, or every n-th one with all columns. Labels may
 * alternate, so n is odd.
 */
export function warmUpSample(dataset: Dataset): Dataset {
  if (dataset.nonzeros <= smallData) return dataset;
  const distance = Math.ceil(dataset.nonzeros / smallData) | 1;
  const parts: DatasetPart[] = [];
  let start = 0;
  for (const part of dataset.parts) {
    parts.push(takeRows(part, (distance - (start % distance)) % distance, distance));
    start += part.labels.length;
  }
  const rows = parts.reduce((sum, part) => sum + part.labels.length, 0);
  const nonzeros = parts.reduce((sum, part) => sum + part.values.length, 0);
  return { ...dataset, parts: parts.filter((part) => part.labels.length > 0), rows, nonzeros };
}

/** Rows first, first + distance, … of a part. */
function takeRows(part: DatasetPart, first: number, distance: number): DatasetPart {
  const { rowOffsets } = part;
  const labels: number[] = [];
  const offsets = [0];
  const indices: number[] = [];
  const values: number[] = [];
  for (let row = first; row < part.labels.length; row += distance) {
    labels.push(part.labels[row]);
    for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k++) {
      indices.push(part.indices[k]);
      values.push(part.values[k]);
    }
    offsets.push(indices.length);
  }
  return {
    labels: sharedFloat64(labels),
    rowOffsets: sharedInt32(offsets),
    indices: sharedInt32(indices),
    values: sharedFloat32(values),
  };
}

/**
 * Some epochs whose result nobody looks at: afterwards the engine has compiled the solver's code in
 * every thread.
 */
export async function warmUp(sample: Dataset, options: TrainOptions): Promise<void> {
  const { test: _test, auprc: _auprc, testOn: _testOn, grid, ...rest } = options;
  const short = { epochs: warmUpEpochs, time: mostSeconds };
  const fitting = grid === undefined ? {} : { grid: Math.min(grid, sample.rows) };
  try {
    await train(sample, { ...rest, ...fitting, ...short });
  } catch {
    // The run itself will report what is wrong, unless only the sample was (all rows of one class).
  }
}

/** A solver with its settings, under the name it has in the report. */
export interface Competitor {
  readonly name: string;
  readonly solver: Solver;
}

/** One run to be made. */
export interface Job {
  readonly entrant: Competitor;
  readonly loss: Loss;
  /** The loss's name in the report, with its parameter. */
  readonly lossName: string;
  readonly lambda: number;
  /** For parallel solvers; serial ones take 1. */
  readonly grid: number;
  /** Its position among all runs, from 1, and their number. */
  readonly place: number;
  readonly count: number;
}

export interface CompareOptions {
  readonly entrants: readonly Competitor[];
  /** Default: hinge. */
  readonly losses?: readonly Loss[];
  /** Default: 1/m. */
  readonly lambdas?: readonly number[];
  /** Default: L2. */
  readonly penalty?: Penalty;
  readonly test?: Dataset;
  readonly holdout?: number;
  /** Whether to measure the area under the precision-recall curve on the test rows; default false. */
  readonly auprc?: boolean;
  /** What is measured on the test rows: the best point so far (default) or every iterate. */
  readonly testOn?: 'best' | 'latest';
  readonly intercept?: boolean;
  readonly penaltyFactors?: Float64Array;
  readonly threads?: number;
  readonly grid?: number;
  readonly seed?: number;
  readonly tolerance?: number;
  readonly epochs?: number;
  /** Seconds of training per run. */
  readonly time?: number;
  /** Whether every solver may run a little, untimed, before its first run; default true. */
  readonly warmUp?: boolean;
  readonly title?: string;
  /** How to repeat the comparison, for the report. */
  readonly command?: string;
  /** Results to go on from: what finished there is not run again. */
  readonly previous?: Comparison;
  /** Ends the current run; what there is until then is returned. */
  readonly signal?: AbortSignal;
  /** This run finished in the previous results. */
  readonly onSkip?: (run: Run) => void;
  readonly onStart?: (job: Job) => void;
  readonly onEpoch?: (event: EpochEvent, job: Job) => void;
  readonly onNotice?: (message: string, job: Job) => void;
  /** A run has ended, however; the comparison holds it. Awaited before the next one starts. */
  readonly onEnd?: (run: Run, comparison: Comparison) => unknown;
}

/**
 * Runs every competitor on every problem, one after another and under the same conditions. A refusal
 * or a failure of one is a result of the comparison; it goes on with the next.
 */
export async function compare(dataset: Dataset, options: CompareOptions): Promise<Comparison> {
  if (options.entrants.length === 0) throw new UsageError('no solver to compare; give one or more');
  const input = prepareInput(dataset, options);
  let comparison = begin(input, options);
  const jobs = listJobs(input.dataset, options);
  const warmed = new Set<string>();
  const sample = options.warmUp === false ? undefined : warmUpSample(input.dataset);
  for (const job of jobs) {
    const done = comparison.runs.find((run) => isDone(run, job));
    if (done) {
      options.onSkip?.(done);
      continue;
    }
    options.onStart?.(job);
    const settings = trainOptions(input, options, job);
    const kind = `${job.entrant.name} ${job.lossName}`;
    if (sample && !warmed.has(kind)) await warmUp(sample, settings);
    warmed.add(kind);
    if (options.signal?.aborted) break;
    const run = await perform(input.dataset, settings, options, job);
    comparison = withRun(comparison, run);
    await options.onEnd?.(run, comparison);
    if (options.signal?.aborted) break;
  }
  return comparison;
}

interface Input {
  readonly dataset: Dataset;
  readonly test: Dataset | undefined;
}

/** Splits off the test rows once, and refuses data that no solver could take. */
function prepareInput(whole: Dataset, options: CompareOptions): Input {
  const { holdout, test, seed, losses, auprc } = options;
  if (auprc && !test && holdout === undefined) {
    throw new UsageError('auprc needs test or holdout');
  }
  if (holdout !== undefined && test) throw new UsageError('give holdout or test, not both');
  const split =
    holdout === undefined ? { train: whole, test } : splitDataset(whole, holdout, seed ?? 1);
  const classification = (losses ?? []).some((loss) => loss.task === 'classification');
  if (losses === undefined || classification) {
    const classes = classesOf(split.train);
    if (classes.length > 2) {
      throw new DataError(
        `${split.train.name}: ${classes.length} classes; solvers are compared on two (or on a regression loss)`,
      );
    }
    if (split.test) targetsOf(split.test, { classes, multiLabel: false });
  }
  return { dataset: split.train, test: split.test };
}

/** The comparison before its first new run: empty, or the previous one when it fits. */
function begin(input: Input, options: CompareOptions): Comparison {
  const { previous, command } = options;
  const fresh = emptyComparison(input, options);
  if (!previous) return fresh;
  const found = differences(previous, fresh);
  if (found.length > 0) {
    throw new UsageError(
      `the earlier results were made under other conditions: ${found.join('; ')}. ` +
        'Start over with --fresh, or choose another folder to preserve them',
    );
  }
  const commands = new Set([...previous.commands, ...(command === undefined ? [] : [command])]);
  const title = options.title ?? previous.title;
  return { ...fresh, title, commands: [...commands], runs: previous.runs };
}

function emptyComparison({ dataset, test }: Input, options: CompareOptions): Comparison {
  const factors = options.penaltyFactors;
  const { penalty = penalties.l2(), command } = options;
  return {
    format: 1,
    title: options.title ?? `Solvers compared on ${basename(dataset.name)}`,
    version: packageDescription.version,
    commands: command === undefined ? [] : [command],
    machine: thisMachine(),
    data: summarizeData(dataset),
    test: test === undefined ? null : summarizeData(test),
    conditions: {
      penalty: nameOf(penalty),
      intercept: options.intercept ?? false,
      penaltyFactors: factors === undefined ? null : hashNumbers(factors),
      tolerance: options.tolerance ?? 1e-3,
      epochs: options.epochs ?? 10_000,
      time: options.time ?? null,
      threads: threadCount(options.threads),
      grid: gridOf(dataset, options),
      seed: options.seed ?? 1,
      auprc: options.auprc ?? false,
      testOn: options.testOn ?? 'best',
      warmUp: options.warmUp ?? true,
    },
    runs: [],
  };
}

/** Solvers that average over workers make no sense of fewer. */
const leastGrid = 4;

/** The same for all parallel solvers, whichever take part: others may be added to a report later. */
function gridOf(dataset: Dataset, { grid }: CompareOptions): number {
  const most = Math.max(1, Math.min(dataset.rows, dataset.columns));
  return grid ?? Math.min(most, Math.max(leastGrid, defaultGrid(dataset)));
}

function nameOf(penalty: Penalty): string {
  const { l1, l2, name } = penalty;
  const full = l1 > 0 && l2 > 0 ? `${name} (L1 share ${formatNumber(l1)})` : name;
  return describePenalty({ ...penalty, name: full });
}

function thisMachine(): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() || 'unknown processor',
    cores: processors.length,
    memory: totalmem(),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
  };
}

function listJobs(dataset: Dataset, options: CompareOptions): Job[] {
  const { losses = [lossFactories.hinge()], lambdas = [1 / dataset.rows], entrants } = options;
  const count = losses.length * lambdas.length * entrants.length;
  const grid = gridOf(dataset, options);
  let place = 0;
  return losses.flatMap((loss) =>
    lambdas.flatMap((lambda) =>
      entrants.map((entrant) => {
        place += 1;
        return { entrant, loss, lossName: describeLoss(loss), lambda, grid, place, count };
      }),
    ),
  );
}

function describeLoss({ name, parameterName, parameter }: Loss): string {
  return parameterName === undefined ? name : `${name} (${parameterName} ${parameter})`;
}

function isDone(run: Run, { entrant, lossName, lambda }: Job): boolean {
  return (
    run.state === 'finished' &&
    sameRun(run, { loss: lossName, lambda, solver: entrant.name }) &&
    JSON.stringify(run.settings) === JSON.stringify(entrant.solver)
  );
}

/** What remains of the options when those of the comparison itself are taken out. */
function trainOptions({ test }: Input, options: CompareOptions, job: Job): TrainOptions {
  const { entrants: _a, losses: _b, lambdas: _c, holdout: _d, warmUp: _e, ...some } = options;
  const { title: _f, command: _g, previous: _h, onSkip: _i, onStart: _j, ...others } = some;
  const { onEpoch: _k, onNotice: _l, onEnd: _m, ...shared } = others;
  const { solver } = job.entrant;
  const grid = isSerial(solver) ? 1 : job.grid;
  return { ...shared, solver, loss: job.loss, lambda: job.lambda, grid, ...(test && { test }) };
}

async function perform(
  dataset: Dataset,
  settings: TrainOptions,
  options: CompareOptions,
  job: Job,
): Promise<Run> {
  const events: EpochEvent[] = [];
  const notices: string[] = [];
  const base = {
    loss: job.lossName,
    lambda: job.lambda,
    solver: job.entrant.name,
    task: job.loss.task,
    settings: job.entrant.solver,
    notices,
    started: new Date().toISOString(),
    events,
  };
  let listenerFailed = false;
  const notify = (call: () => void) => {
    try {
      call();
    } catch (error) {
      listenerFailed = true;
      throw error;
    }
  };
  try {
    const { report } = await train(dataset, {
      ...settings,
      onEpoch(event) {
        events.push(event);
        notify(() => options.onEpoch?.(event, job));
      },
      onNotice(message) {
        notices.push(message);
        notify(() => options.onNotice?.(message, job));
      },
    });
    const state = report.stopped === 'interrupted' ? 'interrupted' : 'finished';
    return { ...base, state, report };
  } catch (error) {
    // A listener is no part of the solver: its failure ends the comparison.
    if (listenerFailed) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { ...base, state: error instanceof UsageError ? 'refused' : 'failed', reason };
  }
}
