import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { withoutUndefined } from '../../../cli/defined.ts';
import { exitCodes, signalExitCodes } from '../../../cli/exit-codes.ts';
import { checkOutput, standardStream } from '../../../cli/outputs.ts';
import { chooseLoss, choosePenalty } from '../../../cli/problem.ts';
import {
  checkProgressiveFlags,
  type LearnFlags,
  progressiveHeader,
  progressiveLine,
} from '../../../cli/progressive.ts';
import { readOptions } from '../../../cli/reading.ts';
import type { Terminal } from '../../../cli/terminal.ts';
import { DataError, UsageError } from '../../../errors.ts';
import { writeModel } from '../../../model/file.ts';
import type { Model } from '../../../model/model.ts';
import { learnStream, type ProgressiveOptions } from '../../../online/learn-stream.ts';
import {
  formatBytes,
  formatCount,
  formatNumber,
  formatPercent,
  plural,
} from '../../../reporting/format.ts';
import { filesOfSource, nameOfSource, titleOfSource } from '../../../train/read-dataset.ts';
import { Interrupts } from '../interrupts.ts';
import { Watching } from '../observers.ts';

/** How many rows there will be is not known, so λ cannot depend on it. */
const usualLambda = 1e-6;
const usualSnapshot = { rows: 100_000, seconds: 60 };

/** `dso train DATA --progressive`: one pass over rows that may never end. */
export async function learnStreamCommand(
  data: string | undefined,
  flags: LearnFlags,
  terminal: Terminal,
  words: readonly string[],
): Promise<number> {
  checkProgressiveFlags(flags);
  if (data === undefined)
    throw new UsageError('--progressive: wanted a file, or - for standard input');
  const path = flags.output ?? `${nameOfSource(data)}.model`;
  const source = sourceOf(data);
  checkOutput('--output', path, [data]);
  if (path === standardStream) {
    throw new UsageError('--output -: snapshots take the place of one another; wanted a file');
  }
  const say = (line: string) => {
    if (!flags.quiet) terminal.say(line);
  };
  const interrupts = new Interrupts(terminal.io, { onDeferred() {}, onQuit() {} });
  const problem = { loss: await chooseLoss(flags), penalty: choosePenalty(flags) };
  const watching = await Watching.begin({
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
    const options = optionsOf(flags, problem, say, watching);
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
    watching.end({ rows, columns, nonzeros, lambda: model.lambda, stopped }, code);
    await watching.stay(terminal);
    return code;
  } catch (error) {
    await watching.fail(error as Error);
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
  flags: LearnFlags,
  problem: Pick<ProgressiveOptions, 'loss' | 'penalty'>,
  say: (line: string) => void,
  watching: Watching,
): Omit<ProgressiveOptions, 'onSnapshot'> {
  const isClassifier = problem.loss.task === 'classification';
  const started = performance.now();
  const { threads: _, ...reading } = readOptions(flags);
  const { stepSize, intercept, reportEvery, lambda = usualLambda } = flags;
  let isFirst = true;
  return {
    ...problem,
    lambda,
    ...withoutUndefined({ stepSize, intercept, reportEvery }),
    reading,
    snapshot: flags.snapshotEvery ?? usualSnapshot,
    onNotice: (message) => say(`reading ${message}`),
    onReport(report) {
      if (isFirst) say(progressiveHeader(isClassifier));
      isFirst = false;
      say(progressiveLine(report, isClassifier));
      watching.report(report, (performance.now() - started) / 1000);
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
