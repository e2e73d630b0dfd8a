import { statSync } from 'node:fs';
import type { Dataset } from '../../../data/dataset.ts';
import { describeQuality, type Quality } from '../../../data/quality/quality.ts';
import { fairCores } from '../../../engine/processes/process-group.ts';
import { warmThreads } from '../../../engine/thread-pool.ts';
import { writeModel } from '../../../model/file.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import type { Penalty } from '../../../problem/penalties/index.ts';
import { adviseOnRanks } from '../../../reporting/text/effort.ts';
import { qualityText } from '../../../reporting/text/quality.ts';
import { summarize } from '../../../reporting/text/summary.ts';
import { fewRotations } from '../../../solvers/index.ts';
import type { Solver } from '../../../solvers/registry.ts';
import { checkNeeds, checkSolverOptions, pick } from '../../../train/options/option.ts';
import type { TrainOptions, TrainReport, TrainResult } from '../../../train/options/options.ts';
import { trainInGroup } from '../../../train/train.ts';
import { Interrupts } from '../interrupts.ts';
import { type Job, openProcessGroup, singleJob } from '../job.ts';
import { RunObservers } from '../observers.ts';
import { type TrainFlags, trainOptions } from '../options.ts';
import { chooseLoss, choosePenalty, chooseSolver } from '../problem.ts';
import { createProgress, type Progress } from '../progress.ts';
import { chooseSource, defaultModelPath, standardStream } from '../reading.ts';
import type { FeatureNames } from '../run-lines.ts';
import { exitCodeOfStop, exitCodes, type Terminal } from '../terminal.ts';
import { checkPaths, readTrainingData, trainSettings, visitsPath } from '../training-input.ts';
import { modelHash, visitedFlags, writeVisits } from './replay.ts';

export async function trainCommand(
  given: string | undefined,
  flags: TrainFlags,
  terminal: Terminal,
  words: readonly string[],
): Promise<number> {
  checkNeeds(trainOptions, flags);
  if (flags.progressive) {
    const { learnStreamCommand } = await import('./stream.ts');
    return learnStreamCommand(given, flags, terminal, words);
  }
  const source = chooseSource(given, flags.sql);
  // The name of a query, where a file has its own.
  const data = 'sql' in source ? 'query' : source.data;
  const job = await openProcessGroup(flags, terminal);
  return job.run(() => trainAndReport(data, flags, terminal, words, job));
}

async function trainAndReport(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
  words: readonly string[],
  job: Job,
): Promise<number> {
  const outcome = await trainHere(data, flags, terminal, job, words);
  if (!outcome) return exitCodes.done;
  const { report, path, code } = outcome;
  if (flags.json) await terminal.print(`${JSON.stringify(report)}\n`);
  if (!flags.quiet) {
    const bytes = path === standardStream ? 0 : statSync(path).size;
    terminal.say(summarize(report, flags.tolerance, { path, bytes }, terminal.colours));
    const advice = adviseOnRanks(report, fewRotations);
    if (advice) terminal.say(`note: ${advice}`);
    const visits = visitsPath(flags, path);
    if (visits !== undefined) {
      terminal.say(`block visits in ${visits}; dso replay ${visits} ${data} repeats them`);
    }
  }
  await outcome.observers?.stay(terminal);
  return code;
}

/** The result of `dso train`. */
export interface TrainOutcome {
  readonly report: TrainReport & { readonly quality?: Quality };
  /** Where the model was written. */
  readonly path: string;
  readonly code: number;
  readonly observers?: RunObservers | undefined;
}

/** What one process of `dso train` works with, from its first check to its last message. */
interface Run {
  readonly data: string;
  readonly path: string;
  readonly flags: TrainFlags;
  readonly problem: { readonly loss: Loss; readonly penalty: Penalty; readonly solver: Solver };
  readonly terminal: Terminal;
  readonly job: Job;
  /** Whether it is the only process or rank 0, which reports and writes for all. */
  readonly leads: boolean;
  readonly recorded: boolean;
  readonly progress: Progress;
  readonly interrupts: Interrupts;
  readonly observers: RunObservers | undefined;
  /** When it began, in milliseconds of the clock. */
  readonly started: number;
}

/** All of `dso train` but its report at the end, in one process. */
export async function trainAndSave(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
): Promise<TrainOutcome> {
  return (await trainHere(data, flags, terminal, singleJob(terminal))) as TrainOutcome;
}

/**
 * The same as one of several processes; only rank 0 has a result. A run that is made by these
 * `words` is recorded, and shown if `--ui` is given.
 */
async function trainHere(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
  job: Job,
  words?: readonly string[],
): Promise<TrainOutcome | undefined> {
  const run = await begin(data, flags, terminal, job, words);
  try {
    return await readAndTrain(run);
  } catch (error) {
    await run.observers?.fail(error as Error);
    throw error;
  } finally {
    run.progress.end();
    // One of several processes has yet to finalize with the others, whatever signal comes meanwhile.
    if (job.group.size === 1) run.interrupts.release();
  }
}

async function begin(
  data: string,
  given: TrainFlags,
  terminal: Terminal,
  job: Job,
  words: readonly string[] | undefined,
): Promise<Run> {
  const started = performance.now();
  const { group } = job;
  const { leads } = group;
  const path = given.output ?? defaultModelPath(data);
  checkPaths(data, path, given, leads);
  const flags = { ...(group.size > 1 && { threads: fairCores(group) }), ...given };
  warmThreads(flags.threads);
  const problem = {
    loss: await chooseLoss(flags),
    penalty: choosePenalty(flags),
    solver: chooseSolver(flags),
  };
  checkSolverOptions(pick(trainOptions, 'visits'), flags, flags.solver ?? 'auto');
  const shown = await progressOf(terminal, flags, job);
  const interrupts = catchInterrupts(terminal, shown, leads);
  const run = { data, path, flags, problem, terminal, interrupts };
  const notice = (message: string) => shown.notice(message);
  const observers =
    leads && words ? await RunObservers.begin({ ...run, words, notice }) : undefined;
  const progress = observers?.beside(shown) ?? shown;
  return { ...run, job, leads, recorded: words !== undefined, progress, observers, started };
}

async function readAndTrain(run: Run): Promise<TrainOutcome | undefined> {
  const { data, path, flags, problem, job, leads, progress, interrupts, started } = run;
  const { group } = job;
  const { dataset, options } = await readTrainingData(data, flags, progress, group, problem.loss);
  const read = (performance.now() - started) / 1000;
  const quality = flags.report && leads ? showQuality(run, dataset) : undefined;
  const { tolerance, epochs, time: seconds } = flags;
  progress.start(problem.loss.task, { tolerance, epochs, seconds });
  interrupts.defer();
  const result = await trainInGroup(
    dataset,
    {
      ...problem,
      ...options,
      ...trainSettings(flags),
      ...listeners(run, dataset, read),
      signal: interrupts.signal,
      consume: true,
    },
    group,
  );
  if (!result) return undefined;
  await writeModel(path, result.model);
  job.recoveryHint = () => `the model is complete, in ${path}`;
  const visits = visitsPath(flags, path);
  if (visits !== undefined) await recordVisits(visits, result, flags);
  const total = (performance.now() - started) / 1000;
  const times = { ...result.report.seconds, read, total };
  const report = { ...result.report, seconds: times, ...(quality && { quality }) };
  return { report, path, code: conclude(run, report), observers: run.observers };
}

function showQuality({ flags, progress, terminal }: Run, dataset: Dataset): Quality {
  const quality = describeQuality(dataset);
  if (!flags.quiet) {
    progress.end();
    const { colours } = terminal;
    terminal.say(qualityText(quality, { colours, firstFeature: flags.zeroBased ? 0 : 1 }));
  }
  return quality;
}

/** Reports events to the terminal, the record, the log and the page. */
function listeners(
  { flags, job, progress, observers, recorded }: Run,
  dataset: Dataset,
  read: number,
): TrainOptions {
  const nameOf = namesOf(dataset, flags);
  let saved: number | undefined;
  job.recoveryHint = () => describeSaved(flags, saved);
  return {
    onBegin: (event) => observers?.begin(event, read),
    onEpoch(event) {
      progress.epoch(event);
      observers?.epoch(event);
    },
    // All processes send theirs to the first one, so all of them must ask for samples.
    ...(recorded && { onSample: (event) => observers?.sample(event, nameOf) }),
    onCheckpoint(epoch) {
      saved = epoch;
    },
    onNotice: (message) => progress.notice(message),
  };
}

/** Writes the last line of the record and the log; returns the exit code. */
function conclude(
  { flags, path, terminal, interrupts, job, observers }: Run,
  report: TrainOutcome['report'],
): number {
  // Another rank may have got the signal, and from a launcher rather than from a person.
  const signal = interrupts.received ?? (job.group.size > 1 ? 'SIGTERM' : undefined);
  const code = exitCodeOfStop(report.stopped, signal);
  observers?.end(report, observers.logFailed ? exitCodes.failure : code);
  if (!observers?.logFailed) return code;
  terminal.error(`${flags.log}: the log is incomplete; the model is in ${path}`);
  return exitCodes.failure;
}

/** Rank 0 shows progress; the others show only warnings about themselves. */
async function progressOf(terminal: Terminal, flags: TrainFlags, job: Job): Promise<Progress> {
  const quiet = flags.quiet ?? false;
  if (!job.group.leads) return job.warnings(quiet);
  const progress = createProgress(terminal, quiet);
  if (!flags.chart || quiet) return progress;
  const { chartProgress } = await import('../chart-progress.ts');
  return chartProgress(terminal, progress);
}

/** The names of the columns in the data. */
function namesOf({ featureNames }: Dataset, { zeroBased }: TrainFlags): FeatureNames {
  const first = zeroBased ? 0 : 1;
  return (column) => featureNames?.[column] ?? String(column + first);
}

function catchInterrupts(terminal: Terminal, progress: Progress, leads: boolean): Interrupts {
  const stopping = 'stopping, to write the model reached so far; Ctrl-C again quits at once';
  return new Interrupts(terminal.io, {
    onDeferred() {
      if (leads) progress.notice(stopping);
    },
    onQuit: () => progress.end(),
  });
}

/** How to continue if training cannot finish. */
function describeSaved({ checkpoint, resume }: TrainFlags, epoch: number | undefined): string {
  if (checkpoint !== undefined && epoch !== undefined) {
    return `epoch ${epoch} is saved in ${checkpoint}: the same command with --resume ${checkpoint} continues from there`;
  }
  if (resume !== undefined)
    return 'nothing new was saved: the same command resumes where this one did';
  return checkpoint === undefined
    ? 'nothing was saved: use --checkpoint to be able to resume'
    : `nothing had been saved in ${checkpoint} yet`;
}

async function recordVisits(
  path: string,
  { model, report, visits = new Int32Array(0), bounds = [] }: TrainResult,
  flags: TrainFlags,
): Promise<void> {
  const { grid } = report;
  await writeVisits(path, {
    data: model.provenance?.data ?? '',
    grid,
    flags: visitedFlags(flags),
    epochs: bounds.map(({ primal, dual }, epoch) => ({
      primal,
      dual,
      visits: visits.subarray(epoch * grid * grid, (epoch + 1) * grid * grid),
    })),
    stopped: report.stopped,
    model: modelHash(model),
  });
}
