import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { filesOfSource, titleOfSource } from '../../../data/read/sources.ts';
import { DataError, UsageError } from '../../../errors.ts';
import { writeModel } from '../../../model/file.ts';
import { type Model, positiveClass } from '../../../model/model.ts';
import {
  formatBytes,
  formatCount,
  formatNumber,
  formatPercent,
  plural,
  visibleText,
} from '../../../reporting/format.ts';
import { checkProgressive, libraryValues, pick } from '../../../train/options/option.ts';
import {
  learnStream,
  type ProgressiveOptions,
  type ProgressiveReport,
} from '../../../train/stream/learning.ts';
import type { Action } from '../command.ts';
import { checkFiles, defaultModelPath, savedModel, standardStream } from '../files.ts';
import { Interrupts } from '../interrupts.ts';
import { RunObservers } from '../observers.ts';
import { type TrainFlags, trainOptions } from '../options.ts';
import { chooseLoss, choosePenalty } from '../problem.ts';
import { silentProgress } from '../progress.ts';
import { readOptions } from '../reading.ts';
import { exitCodes } from '../terminal.ts';
import { describeShape } from './convert.ts';

/** Refuses options that would have no effect. */
function checkStreamFlags(flags: TrainFlags): void {
  checkProgressive(trainOptions, flags);
  if (flags.solver !== undefined && flags.solver !== 'sgd') {
    throw new UsageError(`--solver ${flags.solver}: --progressive is stochastic gradient descent`);
  }
  if (flags.step !== undefined && flags.step !== 'adagrad') {
    throw new UsageError(`--step ${flags.step}: --progressive has only AdaGrad steps`);
  }
}

/** Lines like those of Vowpal Wabbit: how well rows were predicted before they were learned. */
function alignColumns(cells: readonly string[]): string {
  return cells.map((text, index) => text.padStart(index === 0 ? 14 : 13)).join('');
}

function progressiveLine(report: ProgressiveReport, isClassifier: boolean): string {
  const number = (value: number) => value.toPrecision(6);
  const error = isClassifier ? formatPercent : number;
  const losses = [number(report.loss), number(report.recentLoss)];
  const errors = [error(report.error), error(report.recentError)];
  return alignColumns([formatCount(report.rows), ...losses, ...errors]);
}

/** How many rows there will be is not known, so λ cannot depend on it. */
const defaultLambda = 1e-6;
const defaultSnapshot = { rows: 100_000, seconds: 60 };

/** `dso train DATA --progressive`: one pass over rows that may never end. */
export const streamCommand: Action<TrainFlags> = async ({ flags, terminal, words }, data) => {
  checkStreamFlags(flags);
  if (data === undefined) {
    throw new UsageError('--progressive needs a file, or - for standard input');
  }
  const path = flags.output ?? defaultModelPath(data);
  const source = sourceOf(data);
  checkFiles([data], { '--output': path, '--log': flags.log }, flags.json);
  if (path === standardStream) {
    throw new UsageError('--output -: each snapshot replaces the previous one, which needs a file');
  }
  const say = (line: string) => {
    if (!flags.quiet) terminal.say(line);
  };
  const interrupts = new Interrupts(terminal.io, silentProgress);
  const problem = { loss: await chooseLoss(flags), penalty: choosePenalty(flags) };
  const notice = (message: string) => say(`note: ${message}`);
  const run = { data, path, flags, words, problem, terminal, interrupts, notice };
  const observers = await RunObservers.begin(run);
  let saved = 0;
  const save = async (model: Model) => {
    await writeModel(path, model);
    saved = model.rows;
  };
  try {
    const options = optionsOf(flags, problem, say, observers);
    interrupts.defer();
    const input = source();
    const watched = { ...options, signal: interrupts.signal, onSnapshot: save };
    const learned = learnStream(input, titleOfSource(data), watched);
    const { model, report: progress } = await learned.finally(() => input.destroy());
    await save(model);
    if (flags.json) await terminal.printJson({ ...progress, ...shapeOf(model) });
    say(summary(model, progress, path));
    const stopped = interrupts.received ? 'interrupted' : 'stream';
    const report = { ...pick(model, 'rows', 'columns', 'nonzeros', 'lambda'), stopped } as const;
    const code = observers.end(report, interrupts.exitCode ?? exitCodes.done);
    await observers.stay();
    return code;
  } catch (error) {
    await observers.fail(error as Error);
    if (saved > 0) say(`the model of the first ${plural(saved, 'row')} is in ${visibleText(path)}`);
    throw error;
  } finally {
    interrupts.release();
  }
};

/** Opens the data when it is called: a file, a pipe or standard input. */
function sourceOf(data: string): () => Readable {
  if (data === standardStream) return () => process.stdin;
  const files = filesOfSource(data);
  if (files.length !== 1) {
    throw new UsageError(
      `${data}: ${files.length} files; --progressive reads one stream (cat them into standard input)`,
    );
  }
  if (!statSync(files[0], { throwIfNoEntry: false })) {
    throw new DataError(`${files[0]}: no such file`);
  }
  return () => createReadStream(files[0]);
}

function optionsOf(
  flags: TrainFlags,
  problem: Pick<ProgressiveOptions, 'loss' | 'penalty'>,
  say: (line: string) => void,
  observers: RunObservers,
): Omit<ProgressiveOptions, 'onSnapshot'> {
  const isClassifier = problem.loss.task === 'classification';
  const started = performance.now();
  const { threads: _, ...reading } = readOptions(flags);
  let isFirst = true;
  return {
    ...problem,
    lambda: defaultLambda,
    ...libraryValues(pick(trainOptions, 'lambda', 'stepSize', 'intercept', 'positive'), flags),
    ...(flags.reportEvery !== undefined && { reportEvery: flags.reportEvery }),
    reading,
    snapshot: flags.snapshotEvery ?? defaultSnapshot,
    onNotice: (message) => say(`reading ${message}`),
    onReport(report) {
      const error = isClassifier ? 'error' : 'mse';
      if (isFirst) say(alignColumns(['rows', 'loss', 'since last', error, 'since last']));
      isFirst = false;
      say(progressiveLine(report, isClassifier));
      observers.report(report, (performance.now() - started) / 1000);
    },
  };
}

function shapeOf(model: Model) {
  const { columns, nonzeros, lambda, loss, penalty, classes } = model;
  const positive = positiveClass(model);
  const named = { lossName: loss.name, penalty: penalty.name, lambda, columns, nonzeros };
  return { ...named, ...(classes && { classes, positive }), stopped: 'stream' };
}

function summary(model: Model, report: ProgressiveReport, path: string): string {
  const { task, loss, penalty, lambda, rows, columns, nonzeros } = model;
  const error =
    task === 'classification'
      ? `error ${formatPercent(report.error)}`
      : `mean squared error ${formatNumber(report.error)}`;
  return [
    `${loss.name} loss, ${penalty.name} penalty, lambda ${formatNumber(lambda)}: ` +
      `${describeShape({ rows, columns, nonzeros })}, each row once`,
    `progressive loss ${formatNumber(report.loss)}, ${error}: of predictions made before learning`,
    'no certificate: rows were not kept, so nothing is proved about the optimum',
    `model in ${visibleText(path)} (${formatBytes(savedModel(path).bytes)})`,
  ].join('\n');
}
