import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Dataset } from '../../data/dataset.ts';
import { hashData } from '../../data/fingerprint.ts';
import { UsageError } from '../../errors.ts';
import { writeModel } from '../../model/format.ts';
import type { TrainOptions, TrainReport, TrainResult } from '../../train/options.ts';
import { warmThreads } from '../../train/threads.ts';
import { train } from '../../train/train.ts';
import { withoutUndefined } from '../defined.ts';
import type { TrainFlags } from '../definitions/train.ts';
import { EpochLog } from '../epoch-log.ts';
import { exitCodeOfStop, exitCodes } from '../exit-codes.ts';
import { Interrupts } from '../interrupts.ts';
import {
  checkOutput,
  checkStandardInput,
  checkStandardOutput,
  standardStream,
} from '../outputs.ts';
import { chooseLoss, choosePenalty, chooseSolver, readPenaltyFactors } from '../problem.ts';
import type { Progress } from '../progress.ts';
import { createProgress } from '../progress.ts';
import { readData } from '../reading.ts';
import { summarize } from '../summary.ts';
import type { Terminal } from '../terminal.ts';
import { decisiveFlags, modelHash, writeVisits } from '../visits.ts';

export async function trainCommand(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
): Promise<number> {
  const { report, path, code } = await trainAndSave(data, flags, terminal);
  if (flags.json) await terminal.print(`${JSON.stringify(report)}\n`);
  if (!flags.quiet) {
    const bytes = path === standardStream ? 0 : statSync(path).size;
    terminal.say(summarize(report, flags.tolerance, { path, bytes }, terminal.colours));
    const visits = visitsPath(flags, path);
    if (visits !== undefined) {
      terminal.say(`block visits in ${visits}; dso replay ${visits} ${data} makes them again`);
    }
  }
  return code;
}

interface Training {
  readonly report: TrainReport;
  /** Where the model was written. */
  readonly path: string;
  readonly code: number;
}

/** All of `dso train` but what it says at the end. */
export async function trainAndSave(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
): Promise<Training> {
  const started = performance.now();
  const path = flags.output ?? defaultModelPath(data);
  checkPaths(data, path, flags);
  warmThreads(flags.threads);
  const problem = {
    loss: await chooseLoss(flags),
    penalty: choosePenalty(flags),
    solver: chooseSolver(flags),
  };
  const progress = createProgress(terminal, flags.quiet ?? false);
  const interrupts = watchInterrupts(terminal, progress);
  try {
    const input = await readInput(data, flags, progress);
    const read = (performance.now() - started) / 1000;
    const log = flags.log === undefined ? undefined : openLog(flags.log, flags, terminal, progress);
    progress.start(problem.loss.task, {
      tolerance: flags.tolerance,
      epochs: flags.epochs,
      seconds: flags.time,
    });
    interrupts.defer();
    const options: TrainOptions = {
      ...problem,
      ...input.options,
      ...trainSettings(flags),
      ...checkpointSettings(flags),
      onEpoch(event) {
        progress.epoch(event);
        log?.write({ event: 'epoch', ...event });
      },
      onNotice: (message) => progress.notice(message),
      signal: interrupts.signal,
      consume: true,
    };
    // Training sets rows aside and empties the data set.
    const visits = visitsPath(flags, path);
    const hash = visits === undefined ? '' : hashData(input.dataset);
    const result = await train(input.dataset, options);
    await writeModel(path, result.model);
    if (visits !== undefined) await recordVisits(visits, hash, result, flags);
    const report = completeReport(result, read, started);
    log?.write({ event: 'result', ...report });
    log?.close();
    if (log?.failed) {
      terminal.error(`${flags.log}: the log is incomplete; the model is in ${path}`);
      return { report, path, code: exitCodes.failure };
    }
    return { report, path, code: exitCodeOfStop(report.stopped, interrupts.received) };
  } finally {
    progress.end();
    interrupts.release();
  }
}

/** `data/train.svm` → `train.svm.model` in the current folder. */
function defaultModelPath(data: string): string {
  return data === standardStream ? 'dso.model' : `${basename(data)}.model`;
}

function checkPaths(data: string, path: string, flags: TrainFlags): void {
  const factors = flags.penaltyFactors;
  const inputs = [data, flags.test, factors].filter((input) => input !== undefined);
  checkStandardInput(inputs);
  checkStandardOutput({
    '--output -': path === standardStream,
    '--log -': flags.log === standardStream,
    '--json': flags.json ?? false,
  });
  checkOutput('--output', path, inputs);
  if (flags.log !== undefined) checkOutput('--log', flags.log, inputs, [path]);
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
  data: string,
  { model, report, visits = new Int32Array(0), bounds = [] }: TrainResult,
  flags: TrainFlags,
): Promise<void> {
  const { grid } = report;
  await writeVisits(path, {
    data,
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

function watchInterrupts(terminal: Terminal, progress: Progress): Interrupts {
  return new Interrupts(terminal.io, {
    onDeferred: () =>
      progress.notice('stopping, to write the model reached so far; Ctrl-C again quits at once'),
    onQuit: () => progress.end(),
  });
}

function openLog(
  path: string,
  { resume }: TrainFlags,
  terminal: Terminal,
  progress: Progress,
): EpochLog {
  const failed = (message: string) => progress.notice(`${path}: ${message}`);
  return new EpochLog(path, terminal, failed, resume !== undefined);
}

async function readInput(
  data: string,
  flags: TrainFlags,
  progress: Progress,
): Promise<{ dataset: Dataset; options: TrainOptions }> {
  const dataset = await readData(data, flags, progress);
  const options: TrainOptions = {};
  if (flags.test !== undefined) options.test = await readData(flags.test, flags, progress);
  if (flags.penaltyFactors !== undefined) {
    options.penaltyFactors = await readPenaltyFactors(flags.penaltyFactors, dataset.columns);
  }
  return { dataset, options };
}

function trainSettings(flags: TrainFlags): TrainOptions {
  const { lambda, threads, grid, seed, epochs, tolerance, time } = flags;
  const { holdout, intercept, auprc } = flags;
  return withoutUndefined({
    auprc,
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
