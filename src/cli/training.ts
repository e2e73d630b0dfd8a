import { chartProgress } from '../apps/cli/chart-progress.ts';
import { decisiveFlags, modelHash, writeVisits } from '../apps/cli/commands/replay.ts';
import { Interrupts } from '../apps/cli/interrupts.ts';
import { Watching } from '../apps/cli/observers.ts';
import { createProgress, type Progress } from '../apps/cli/progress.ts';
import type { FeatureNames } from '../apps/cli/run-lines.ts';
import type { Dataset } from '../data/dataset.ts';
import { describeQuality, type Quality } from '../data/quality/quality.ts';
import { fairCores } from '../engine/processes/process-group.ts';
import { writeModel } from '../model/file.ts';
import type { Penalty } from '../penalties/penalty.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { qualityText } from '../reporting/text/quality.ts';
import type { Solver } from '../solvers/solver.ts';
import type { TrainOptions, TrainReport, TrainResult } from '../train/options/options.ts';
import { warmThreads } from '../train/threads.ts';
import { trainTogether } from '../train/train.ts';
import type { TrainFlags } from './definitions/train.ts';
import { EpochLog } from './epoch-log.ts';
import { exitCodeOfStop, exitCodes } from './exit-codes.ts';
import type { Job } from './job.ts';
import { chooseLoss, choosePenalty, chooseSolver } from './problem.ts';
import type { Terminal } from './terminal.ts';
import { readTrainingInput } from './training-input.ts';
import { checkPaths, defaultModelPath, visitsPath } from './training-paths.ts';
import { checkpointSettings, trainSettings } from './training-settings.ts';

/** What came of `dso train`. */
export interface Training {
  readonly report: TrainReport & { readonly quality?: Quality };
  /** Where the model was written. */
  readonly path: string;
  readonly code: number;
  readonly watching?: Watching | undefined;
}

/** All that one process of `dso train` works with, from its first check to its last word. */
interface Run {
  readonly data: string;
  readonly path: string;
  readonly flags: TrainFlags;
  readonly problem: {
    readonly loss: Loss;
    readonly penalty: Penalty;
    readonly solver: Solver;
  };
  readonly terminal: Terminal;
  readonly job: Job | undefined;
  /** Whether it is alone or rank 0, which speaks and writes for all. */
  readonly leads: boolean;
  readonly recorded: boolean;
  readonly progress: Progress;
  readonly interrupts: Interrupts;
  readonly watching: Watching | undefined;
  /** When it began, in milliseconds of the clock. */
  readonly started: number;
}

/** All of `dso train` but what it says at the end, in one process. */
export async function trainAndSave(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
): Promise<Training> {
  return (await trainHere(data, flags, terminal)) as Training;
}

/**
 * The same as one of several processes; the result is rank 0's alone. A run that is made by these
 * `words` is recorded, and shown if that is wanted.
 */
export async function trainHere(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
  words?: readonly string[],
  job?: Job,
): Promise<Training | undefined> {
  const run = await begin(data, flags, terminal, words, job);
  try {
    return await readAndTrain(run);
  } catch (error) {
    await run.watching?.fail(error as Error);
    throw error;
  } finally {
    run.progress.end();
    // One of several processes has yet to take leave of the others, whatever it is told meanwhile.
    if (!job) run.interrupts.release();
  }
}

async function begin(
  data: string,
  given: TrainFlags,
  terminal: Terminal,
  words: readonly string[] | undefined,
  job: Job | undefined,
): Promise<Run> {
  const started = performance.now();
  const leads = job?.leads ?? true;
  const path = given.output ?? defaultModelPath(data);
  checkPaths(data, path, given, leads);
  const flags = { ...(job && { threads: fairCores(job.peers) }), ...given };
  warmThreads(flags.threads);
  const problem = {
    loss: await chooseLoss(flags),
    penalty: choosePenalty(flags),
    solver: chooseSolver(flags),
  };
  const shown = progressOf(terminal, flags, job);
  const interrupts = watchInterrupts(terminal, shown, leads);
  const run = { data, path, flags, problem, terminal, interrupts };
  const notice = (message: string) => shown.notice(message);
  const watching = leads && words ? await Watching.begin({ ...run, words, notice }) : undefined;
  const progress = watching?.beside(shown) ?? shown;
  return { ...run, job, leads, recorded: words !== undefined, progress, watching, started };
}

async function readAndTrain(run: Run): Promise<Training | undefined> {
  const { data, path, flags, problem, job, leads, progress, interrupts, started } = run;
  const { dataset, options } = await readTrainingInput(data, flags, progress, job, problem.loss);
  const read = (performance.now() - started) / 1000;
  const quality = flags.report && leads ? tellQuality(run, dataset) : undefined;
  const log = leads ? openLog(run) : undefined;
  const { tolerance, epochs, time: seconds } = flags;
  progress.start(problem.loss.task, { tolerance, epochs, seconds });
  interrupts.defer();
  const result = await trainTogether(
    dataset,
    {
      ...problem,
      ...options,
      ...trainSettings(flags),
      ...checkpointSettings(flags),
      ...listeners(run, dataset, read, log),
      signal: interrupts.signal,
      consume: true,
    },
    job?.peers,
  );
  if (!result) return undefined;
  await writeModel(path, result.model);
  if (job) job.salvage = () => `the model is complete, in ${path}`;
  const visits = visitsPath(flags, path);
  if (visits !== undefined) await recordVisits(visits, result, flags);
  const report = { ...completeReport(result, read, started), ...(quality && { quality }) };
  return { report, path, code: conclude(run, report, log), watching: run.watching };
}

function tellQuality({ flags, progress, terminal }: Run, dataset: Dataset): Quality {
  const quality = describeQuality(dataset);
  if (!flags.quiet) {
    progress.end();
    const { colours } = terminal;
    terminal.say(qualityText(quality, { colours, firstFeature: flags.zeroBased ? 0 : 1 }));
  }
  return quality;
}

/** Who is told of what happens: the terminal, the log, the record and the page. */
function listeners(
  { flags, job, progress, watching, recorded }: Run,
  dataset: Dataset,
  read: number,
  log: EpochLog | undefined,
): TrainOptions {
  const nameOf = namesOf(dataset, flags);
  let kept: number | undefined;
  if (job) job.salvage = () => describeKept(flags, kept);
  return {
    onBegin: (event) => watching?.begin(event, read),
    onEpoch(event) {
      progress.epoch(event);
      log?.write({ event: 'epoch', ...event });
      watching?.epoch(event);
    },
    // Told by all processes to the first one.
    ...(recorded && { onSample: (event) => watching?.sample(event, nameOf) }),
    onCheckpoint(epoch) {
      kept = epoch;
    },
    onNotice: (message) => progress.notice(message),
  };
}

/** The last lines of the log and of the record; the exit code. */
function conclude(
  { flags, path, terminal, interrupts, job, watching }: Run,
  report: Training['report'],
  log: EpochLog | undefined,
): number {
  log?.write({ event: 'result', ...report });
  log?.close();
  if (log?.failed) {
    terminal.error(`${flags.log}: the log is incomplete; the model is in ${path}`);
  }
  // Another rank may have been asked to end, and by a launcher rather than by a person.
  const signal = interrupts.received ?? (job && 'SIGTERM');
  const code = log?.failed ? exitCodes.failure : exitCodeOfStop(report.stopped, signal);
  const { quality: _, ...figures } = report;
  watching?.end(figures, code);
  return code;
}

/** Rank 0 shows what goes on; the others say what concerns them alone. */
function progressOf(terminal: Terminal, flags: TrainFlags, job: Job | undefined): Progress {
  const quiet = flags.quiet ?? false;
  if (job && !job.leads) return job.warnings(quiet);
  const progress = createProgress(terminal, quiet);
  return flags.chart && !quiet ? chartProgress(terminal, progress) : progress;
}

/** What the columns are called in the data. */
function namesOf({ featureNames }: Dataset, { zeroBased }: TrainFlags): FeatureNames {
  const first = zeroBased ? 0 : 1;
  return (column) => featureNames?.[column] ?? String(column + first);
}

function watchInterrupts(terminal: Terminal, progress: Progress, leads: boolean): Interrupts {
  const stopping = 'stopping, to write the model reached so far; Ctrl-C again quits at once';
  return new Interrupts(terminal.io, {
    onDeferred() {
      if (leads) progress.notice(stopping);
    },
    onQuit: () => progress.end(),
  });
}

/** What there is to go on from when training cannot come to its end. */
function describeKept({ checkpoint, resume }: TrainFlags, epoch: number | undefined): string {
  if (checkpoint !== undefined && epoch !== undefined) {
    return `epoch ${epoch} is kept in ${checkpoint}: the same command with --resume ${checkpoint} goes on from there`;
  }
  if (resume !== undefined) return 'nothing new was kept: the same command goes on as this one did';
  return checkpoint === undefined
    ? 'nothing was kept: --checkpoint would have'
    : `nothing had been kept in ${checkpoint} yet`;
}

function openLog({ flags, terminal, progress }: Run): EpochLog | undefined {
  const { log: path, resume } = flags;
  if (path === undefined) return undefined;
  const failed = (message: string) => progress.notice(`${path}: ${message}`);
  return new EpochLog(path, terminal, failed, resume !== undefined);
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
    flags: decisiveFlags(flags),
    epochs: bounds.map(({ primal, dual }, epoch) => ({
      primal,
      dual,
      visits: visits.subarray(epoch * grid * grid, (epoch + 1) * grid * grid),
    })),
    stopped: report.stopped,
    model: modelHash(model),
  });
}

function completeReport({ report }: TrainResult, read: number, started: number): TrainReport {
  const total = (performance.now() - started) / 1000;
  return { ...report, seconds: { ...report.seconds, read, total } };
}
