import { cpus, totalmem } from 'node:os';
import { basename } from 'node:path';
import packageDescription from '../../../package.json' with { type: 'json' };
import type { Dataset } from '../../data/dataset.ts';
import { hashData, hashNumbers } from '../../data/fingerprint.ts';
import { classesOf, targetsOf } from '../../data/labels.ts';
import { selectRows, splitDataset } from '../../data/split.ts';
import { threadCount } from '../../engine/thread-pool.ts';
import { DataError, UsageError } from '../../errors.ts';
import { formatNumber } from '../../math/format-number.ts';
import { losses as lossFactories } from '../../problem/losses/index.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { describePenalty, type Penalty } from '../../problem/penalties/index.ts';
import { defaultGrid, isSerial } from '../../solvers/index.ts';
import type { Solver } from '../../solvers/registry.ts';
import type { EpochEvent } from '../events.ts';
import { omit, pick } from '../options/option.ts';
import type { TrainOptions } from '../options/options.ts';
import { resolveOptions } from '../prepare.ts';
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
  return { ...pick(dataset, 'name', 'rows', 'columns', 'nonzeros'), hash: hashData(dataset) };
}

/** Non-zeros up to which a warm-up runs on the data itself. */
const smallData = 500_000;
const warmUpEpochs = 3;
const warmUpSeconds = 2;

/** The rows that warm-ups run on: all, or every n-th one. Labels may alternate, so n is odd. */
export function warmUpSample(dataset: Dataset): Dataset {
  if (dataset.nonzeros <= smallData) return dataset;
  const distance = Math.ceil(dataset.nonzeros / smallData) | 1;
  const rest = Uint8Array.from({ length: dataset.rows }, (_, row) => row % distance && 1);
  return selectRows(dataset, rest, 0, dataset.name);
}

/** Some epochs whose result is ignored, so that the engine compiles the solver's code in all threads. */
async function warmUp(sample: Dataset, options: TrainOptions): Promise<void> {
  const shared = omit(options, 'test', 'auprc', 'testOn');
  const grid = Math.min(options.grid ?? 1, sample.rows);
  try {
    await train(sample, { ...shared, grid, epochs: warmUpEpochs, time: warmUpSeconds });
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

/** Options of training that are the same for all runs. */
const sharedOptions = [
  'penalty',
  'auprc',
  'testOn',
  'intercept',
  'penaltyFactors',
  'threads',
  'seed',
  'tolerance',
  'epochs',
  'time',
  'signal',
] as const;

type SharedOptions = Readonly<
  Pick<TrainOptions, (typeof sharedOptions)[number] | 'test' | 'holdout' | 'grid'>
>;

/** `time` is per run; `signal` ends the current run, and what there is until then is returned. */
export interface CompareOptions extends SharedOptions {
  readonly entrants: readonly Competitor[];
  /** Default: hinge. */
  readonly losses?: readonly Loss[];
  /** Default: 1/m. */
  readonly lambdas?: readonly number[];
  /** Whether every solver may run a little, untimed, before its first run; default true. */
  readonly warmUp?: boolean;
  readonly title?: string;
  /** How to repeat the comparison, for the report. */
  readonly command?: string;
  /** Results to continue from: what finished there is not run again. */
  readonly previous?: Comparison;
  /** This run finished in the previous results. */
  readonly onSkip?: (run: Run) => void;
  readonly onStart?: (job: Job) => void;
  readonly onEpoch?: (event: EpochEvent, job: Job) => void;
  readonly onNotice?: (message: string, job: Job) => void;
  /** A run has ended, for any reason; the comparison has it. Awaited before the next one starts. */
  readonly onEnd?: (run: Run, comparison: Comparison) => unknown;
}

/**
 * Runs every competitor on every problem, one after another and under the same conditions. A run that
 * is refused or fails is a result too; the next one follows.
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

type Input = ReturnType<typeof prepareInput>;

/** Splits off the test rows once, and refuses data that no solver could take. */
function prepareInput(whole: Dataset, options: CompareOptions) {
  const { holdout, test: given, seed = 1, losses, auprc } = options;
  if (auprc && !given && holdout === undefined) {
    throw new UsageError('auprc needs test or holdout');
  }
  if (holdout !== undefined && given) throw new UsageError('give holdout or test, not both');
  const { train: dataset, test } =
    holdout === undefined ? { train: whole, test: given } : splitDataset(whole, holdout, seed);
  if (losses?.every((loss) => loss.task === 'regression')) return { dataset, test };
  const classes = classesOf(dataset);
  if (classes.length > 2) {
    throw new DataError(
      `${dataset.name}: ${classes.length} classes; solvers are compared on two (or on a regression loss)`,
    );
  }
  if (test) targetsOf(test, { classes, multiLabel: false });
  return { dataset, test };
}

/** The comparison before its first new run: empty, or the previous one when it fits. */
function begin({ dataset, test }: Input, options: CompareOptions): Comparison {
  const { previous, penaltyFactors: factors } = options;
  const { penalty, intercept, tolerance, epochs, seed } = resolveOptions(options);
  const own = options.command === undefined ? [] : [options.command];
  const now: Comparison = {
    format: 1,
    title: options.title ?? previous?.title ?? `Solvers compared on ${basename(dataset.name)}`,
    version: packageDescription.version,
    commands: [...new Set([...(previous?.commands ?? []), ...own])],
    machine: thisMachine(),
    data: summarizeData(dataset),
    test: test === undefined ? null : summarizeData(test),
    conditions: {
      penalty: nameOf(penalty),
      intercept,
      penaltyFactors: factors === undefined ? null : hashNumbers(factors),
      tolerance,
      epochs,
      time: options.time ?? null,
      threads: threadCount(options.threads),
      grid: gridOf(dataset, options),
      seed,
      auprc: options.auprc ?? false,
      testOn: options.testOn ?? 'best',
      warmUp: options.warmUp ?? true,
    },
    runs: previous?.runs ?? [],
  };
  const found = previous ? differences(previous, now) : [];
  if (found.length === 0) return now;
  throw new UsageError(
    `the earlier results were made under other conditions: ${found.join('; ')}. ` +
      'Start over with --fresh, or choose another folder to preserve them',
  );
}

/** Solvers that average over workers need at least these. */
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
  const grid = gridOf(dataset, options);
  const runs = losses.flatMap((loss) =>
    lambdas.flatMap((lambda) => entrants.map((entrant) => ({ entrant, loss, lambda }))),
  );
  return runs.map((run, index) => {
    const lossName = describeLoss(run.loss);
    return { ...run, lossName, grid, place: index + 1, count: runs.length };
  });
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

function trainOptions({ test }: Input, options: CompareOptions, job: Job): TrainOptions {
  const { solver } = job.entrant;
  const grid = isSerial(solver) ? 1 : job.grid;
  const shared = pick(options, ...sharedOptions);
  // Of a table as well: solvers are compared on the data as it is.
  const plain = { intercept: options.intercept ?? false, scale: 'none' } as const;
  return {
    ...shared,
    ...plain,
    solver,
    loss: job.loss,
    lambda: job.lambda,
    grid,
    ...(test && { test }),
  };
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
