import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { DataError, UsageError } from '../../../errors.ts';
import { writeModel } from '../../../model/file.ts';
import type { Model } from '../../../model/model.ts';
import {
  formatBytes,
  formatCount,
  formatNumber,
  formatPercent,
  plural,
} from '../../../reporting/format.ts';
import { checkProgressive, libraryValues, pick } from '../../../train/options/option.ts';
import { filesOfSource, titleOfSource } from '../../../train/read.ts';
import {
  learnStream,
  type ProgressiveOptions,
  type ProgressiveReport,
} from '../../../train/stream/learning.ts';
import { Interrupts } from '../interrupts.ts';
import { RunObservers } from '../observers.ts';
import { type TrainFlags, trainOptions } from '../options.ts';
import { chooseLoss, choosePenalty } from '../problem.ts';
import { checkOutput, defaultModelPath, readOptions, standardStream } from '../reading.ts';
import { exitCodes, signalExitCodes, type Terminal } from '../terminal.ts';

/** Refuses options that would have no effect. */
export function checkStreamFlags(flags: TrainFlags): void {
  checkProgressive(trainOptions, flags);
  if (flags.solver !== undefined && flags.solver !== 'sgd') {
    throw new UsageError(`--solver ${flags.solver}: --progressive is stochastic gradient descent`);
  }
  if (flags.step !== undefined && flags.step !== 'adagrad') {
    throw new UsageError(`--step ${flags.step}: --progressive has only AdaGrad steps`);
  }
}

/** Lines like those of Vowpal Wabbit: how well rows were predicted before they were learned. */
export function progressiveHeader(isClassifier: boolean): string {
  const error = isClassifier ? 'error' : 'mse';
  return ['rows', 'loss', 'since last', error, 'since last']
    .map((title, place) => title.padStart(place === 0 ? 14 : 13))
    .join('');
}

export function progressiveLine(report: ProgressiveReport, isClassifier: boolean): string {
  const number = (value: number) => value.toPrecision(6);
  const error = isClassifier ? formatPercent : number;
  return [
    formatCount(report.rows).padStart(14),
    ...[
      number(report.loss),
      number(report.recentLoss),
      error(report.error),
      error(report.recentError),
    ].map((text) => text.padStart(13)),
  ].join('');
}

/** How many rows there will be is not known, so λ cannot depend on it. */
const defaultLambda = 1e-6;
const defaultSnapshot = { rows: 100_000, seconds: 60 };

/** `dso train DATA --progressive`: one pass over rows that may never end. */
export async function learnStreamCommand(
  data: string | undefined,
  flags: TrainFlags,
  terminal: Terminal,
  words: readonly string[],
): Promise<number> {
  checkStreamFlags(flags);
  if (data === undefined)
    throw new UsageError('--progressive needs a file, or - for standard input');
  const path = flags.output ?? defaultModelPath(data);
  const source = sourceOf(data);
  checkOutput('--output', path, [data]);
  if (path === standardStream) {
    throw new UsageError('--output -: each snapshot replaces the previous one, which needs a file');
  }
  const say = (line: string) => {
    if (!flags.quiet) terminal.say(line);
  };
  const interrupts = new Interrupts(terminal.io, { onDeferred() {}, onQuit() {} });
  const problem = { loss: await chooseLoss(flags), penalty: choosePenalty(flags) };
  const observers = await RunObservers.begin({
    data,
    path,
    flags,
    words,
    problem,
    terminal,
    interrupts,
    notice: (message) => say(`note: ${message}`),
  });
  let saved = 0;
  const save = async (model: Model) => {
    await writeModel(path, model);
    saved = model.rows;
  };
  try {
    const options = optionsOf(flags, problem, say, observers);
    interrupts.defer();
    const input = source();
    const name = titleOfSource(data);
    const { signal } = interrupts;
    const { model, report } = await learnStream(input, name, {
      ...options,
      signal,
      onSnapshot: save,
    }).finally(() => input.destroy());
    await save(model);
    if (flags.json) await terminal.print(`${JSON.stringify({ ...report, ...shapeOf(model) })}\n`);
    say(summary(model, report, path));
    const { received } = interrupts;
    const code = received ? signalExitCodes[received] : exitCodes.done;
    const { columns, nonzeros, rows } = model;
    const stopped = received ? ('interrupted' as const) : ('stream' as const);
    observers.end({ rows, columns, nonzeros, lambda: model.lambda, stopped }, code);
    await observers.stay(terminal);
    return code;
  } catch (error) {
    await observers.fail(error as Error);
    if (saved > 0) say(`the model of the first ${plural(saved, 'row')} is in ${path}`);
    throw error;
  } finally {
    interrupts.release();
  }
}

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
  const { reportEvery, lambda = defaultLambda } = flags;
  let isFirst = true;
  return {
    ...problem,
    lambda,
    ...libraryValues(pick(trainOptions, 'stepSize', 'intercept'), flags),
    ...(reportEvery !== undefined && { reportEvery }),
    reading,
    snapshot: flags.snapshotEvery ?? defaultSnapshot,
    onNotice: (message) => say(`reading ${message}`),
    onReport(report) {
      if (isFirst) say(progressiveHeader(isClassifier));
      isFirst = false;
      say(progressiveLine(report, isClassifier));
      observers.report(report, (performance.now() - started) / 1000);
    },
  };
}

function shapeOf({ columns, nonzeros, lambda, loss, penalty, classes }: Model) {
  const named = { lossName: loss.name, penalty: penalty.name, lambda, columns, nonzeros };
  return { ...named, ...(classes && { classes }), stopped: 'stream' as const };
}

function summary(
  model: Model,
  report: { readonly loss: number; readonly error: number },
  path: string,
): string {
  const error =
    model.task === 'classification'
      ? `error ${formatPercent(report.error)}`
      : `mean squared error ${formatNumber(report.error)}`;
  return [
    `${model.loss.name} loss, ${model.penalty.name} penalty, lambda ${formatNumber(model.lambda)}: ` +
      `${plural(model.rows, 'row')} × ${plural(model.columns, 'column')}, ` +
      `${formatCount(model.nonzeros)} non-zeros, each row once`,
    `progressive loss ${formatNumber(report.loss)}, ${error}: of predictions made before learning`,
    'no certificate: rows were not kept, so nothing is proved about the optimum',
    `model in ${path} (${formatBytes(statSync(path).size)})`,
  ].join('\n');
}
