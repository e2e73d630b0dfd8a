import { statSync } from 'node:fs';
import type { Dataset } from '../../data/dataset.ts';
import { describeQuality, type Quality } from '../../data/quality/quality.ts';
import { UsageError } from '../../errors.ts';
import { writeModel } from '../../model/format.ts';
import { fairCores } from '../../train/company.ts';
import type { TrainOptions, TrainReport, TrainResult } from '../../train/options.ts';
import { nameOfSource } from '../../train/read-dataset.ts';
import { warmThreads } from '../../train/threads.ts';
import { trainTogether } from '../../train/train.ts';
import { chartProgress } from '../chart-progress.ts';
import { withoutUndefined } from '../defined.ts';
import type { TrainFlags } from '../definitions/train.ts';
import { adviseOnRanks } from '../effort.ts';
import { EpochLog } from '../epoch-log.ts';
import { exitCodeOfStop, exitCodes } from '../exit-codes.ts';
import { Interrupts } from '../interrupts.ts';
import { Job } from '../job.ts';
import {
  checkOutput,
  checkStandardInput,
  checkStandardOutput,
  standardStream,
} from '../outputs.ts';
import { chooseLoss, choosePenalty, chooseSolver } from '../problem.ts';
import type { Progress } from '../progress.ts';
import { createProgress } from '../progress.ts';
import { qualityText } from '../quality-text.ts';
import { chooseSource } from '../query-reading.ts';
import type { FeatureNames } from '../run-lines.ts';
import { summarize } from '../summary.ts';
import type { Terminal } from '../terminal.ts';
import { readTrainingInput } from '../training-input.ts';
import { decisiveFlags, modelHash, writeVisits } from '../visits.ts';
import { Watching } from '../watching.ts';

export async function trainCommand(
  given: string | undefined,
  flags: TrainFlags,
  terminal: Terminal,
  words: readonly string[],
): Promise<number> {
  checkWatching(flags);
  if (flags.progressive) {
    const { learnStreamCommand } = await import('./learn-stream.ts');
    return learnStreamCommand(given, flags, terminal, words);
  }
  for (const option of ['snapshotEvery', 'reportEvery'] as const) {
    if (flags[option] === undefined) continue;
    const name = option === 'snapshotEvery' ? '--snapshot-every' : '--report-every';
    throw new UsageError(`${name} goes with --progressive, which learns from a stream`);
  }
  const source = chooseSource(given, flags.sql);
  // What a query is called where a file has its name.
  const data = 'sql' in source ? 'query' : source.data;
  const job = await Job.join(flags, terminal);
  if (!job) return trainAndTell(data, flags, terminal, words);
  return job.run(() => trainAndTell(data, flags, terminal, words, job));
}

function checkWatching({ ui, uiPort, open }: TrainFlags): void {
  if (ui) return;
  if (uiPort !== undefined) throw new UsageError('--ui-port goes with --ui, which shows the page');
  if (open === false) throw new UsageError('--no-open goes with --ui, which shows the page');
}

async function trainAndTell(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
  words: readonly string[],
  job?: Job,
): Promise<number> {
  const training = await trainHere(data, flags, terminal, job, words);
  if (!training) return exitCodes.done;
  const { report, path, code } = training;
  if (flags.json) await terminal.print(`${JSON.stringify(report)}\n`);
  if (!flags.quiet) {
    const bytes = path === standardStream ? 0 : statSync(path).size;
    terminal.say(summarize(report, flags.tolerance, { path, bytes }, terminal.colours));
    const advice = adviseOnRanks(report);
    if (advice) terminal.say(`note: ${advice}`);
    const visits = visitsPath(flags, path);
    if (visits !== undefined) {
      terminal.say(`block visits in ${visits}; dso replay ${visits} ${data} makes them again`);
    }
  }
  await training.watching?.stay(terminal);
  return code;
}

interface Training {
  readonly report: TrainReport & { readonly quality?: Quality };
  /** Where the model was written. */
  readonly path: string;
  readonly code: number;
  readonly watching?: Watching | undefined;
}

/** All of `dso train` but what it says at the end, in one process. */
export async function trainAndSave(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
): Promise<Training> {
  return (await trainHere(data, flags, terminal, undefined)) as Training;
}

/**
 * The same as one of several processes; the result is rank 0's alone. A run that is made by these
 * `words` is recorded, and shown if that is wanted.
 */
async function trainHere(
  data: string,
  given: TrainFlags,
  terminal: Terminal,
  job: Job | undefined,
  words?: readonly string[],
): Promise<Training | undefined> {
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
  const watching =
    leads && words
      ? await Watching.begin({
          data,
          path,
          flags,
          words,
          problem,
          terminal,
          interrupts,
          notice: (message) => shown.notice(message),
        })
      : undefined;
  const progress = watching?.beside(shown) ?? shown;
  try {
    const input = await readTrainingInput(data, flags, progress, job, problem.loss);
    const read = (performance.now() - started) / 1000;
    const quality = flags.report && leads ? describeQuality(input.dataset) : undefined;
    if (quality && !flags.quiet) {
      const { colours } = terminal;
      progress.end();
      terminal.say(qualityText(quality, { colours, firstFeature: flags.zeroBased ? 0 : 1 }));
    }
    const log = leads ? openLog(flags, terminal, progress) : undefined;
    progress.start(problem.loss.task, {
      tolerance: flags.tolerance,
      epochs: flags.epochs,
      seconds: flags.time,
    });
    interrupts.defer();
    const nameOf = namesOf(input.dataset, flags);
    let kept: number | undefined;
    if (job) job.salvage = () => describeKept(flags, kept);
    const options: TrainOptions = {
      ...problem,
      ...input.options,
      ...trainSettings(flags),
      ...checkpointSettings(flags),
      onBegin: (event) => watching?.begin(event, read),
      onEpoch(event) {
        progress.epoch(event);
        log?.write({ event: 'epoch', ...event });
        watching?.epoch(event);
      },
      // Told by all processes to the first one.
      ...(words && { onSample: (event) => watching?.sample(event, nameOf) }),
      onCheckpoint(epoch) {
        kept = epoch;
      },
      onNotice: (message) => progress.notice(message),
      signal: interrupts.signal,
      consume: true,
    };
    // Training sets rows aside and empties the data set.
    const visits = visitsPath(flags, path);
    const result = await trainTogether(input.dataset, options, job?.peers);
    if (!result) return undefined;
    await writeModel(path, result.model);
    if (job) job.salvage = () => `the model is complete, in ${path}`;
    if (visits !== undefined) await recordVisits(visits, result, flags);
    const report = { ...completeReport(result, read, started), ...(quality && { quality }) };
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
    return { report, path, code, watching };
  } catch (error) {
    await watching?.fail(error as Error);
    throw error;
  } finally {
    progress.end();
    // One of several processes has yet to take leave of the others, whatever it is told meanwhile.
    if (!job) interrupts.release();
  }
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

/** `data/train.svm` → `train.svm.model` in the current folder. */
function defaultModelPath(data: string): string {
  return `${nameOfSource(data)}.model`;
}

function checkPaths(data: string, path: string, flags: TrainFlags, leads: boolean): void {
  const factors = flags.penaltyFactors;
  const files = [flags.sql === undefined ? data : undefined, flags.test, factors, flags.init];
  const inputs = files.filter((input) => input !== undefined);
  checkStandardInput(inputs);
  checkStandardOutput({
    '--output -': path === standardStream,
    '--log -': flags.log === standardStream,
    '--json': flags.json ?? false,
  });
  if (leads) {
    checkOutput('--output', path, inputs);
    if (flags.log !== undefined) checkOutput('--log', flags.log, inputs, [path]);
  }
  if (flags.visits !== undefined && flags.solver !== 'dso-async') {
    throw new UsageError(`--visits ${flags.visits}: only --solver dso-async records block visits`);
  }
  if (flags.checkpointEvery !== undefined && flags.checkpoint === undefined) {
    throw new UsageError('--checkpoint-every goes with --checkpoint, which names the folder');
  }
  const visits = visitsPath(flags, path);
  if (visits !== undefined) checkOutput('--visits', visits, inputs, [path]);
}

/** Where an asynchronous run is recorded; undefined for other solvers, and beside standard output. */
function visitsPath(flags: TrainFlags, model: string): string | undefined {
  if (flags.solver !== 'dso-async') return undefined;
  return flags.visits ?? (model === standardStream ? undefined : `${model}.visits`);
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

function openLog(
  { log: path, resume }: TrainFlags,
  terminal: Terminal,
  progress: Progress,
): EpochLog | undefined {
  if (path === undefined) return undefined;
  const failed = (message: string) => progress.notice(`${path}: ${message}`);
  return new EpochLog(path, terminal, failed, resume !== undefined);
}

function trainSettings(flags: TrainFlags): TrainOptions {
  const { lambda, threads, grid, seed, epochs, tolerance, time } = flags;
  const { multiLabel, classWeight: classWeights, scale, calibrate, calibrateFolds } = flags;
  const { holdout, intercept, auprc, memory, scratch, earlyStop } = flags;
  if (calibrateFolds !== undefined && calibrate === undefined) {
    throw new UsageError('--calibrate-folds goes with --calibrate, which names the method');
  }
  return withoutUndefined({
    multiLabel,
    classWeights,
    scale,
    calibrate: calibrate && { method: calibrate, ...withoutUndefined({ folds: calibrateFolds }) },
    earlyStop,
    auprc,
    memory,
    scratch,
    lambda,
    threads,
    grid,
    seed,
    epochs,
    tolerance,
    time,
    holdout,
    intercept,
  });
}

function checkpointSettings(flags: TrainFlags): TrainOptions {
  const { checkpoint: folder, checkpointEvery: every, resume } = flags;
  return {
    ...(folder !== undefined && { checkpoint: { folder, ...withoutUndefined({ every }) } }),
    ...withoutUndefined({ resume }),
  };
}

function completeReport({ report }: TrainResult, read: number, started: number): TrainReport {
  const total = (performance.now() - started) / 1000;
  return { ...report, seconds: { ...report.seconds, read, total } };
}
