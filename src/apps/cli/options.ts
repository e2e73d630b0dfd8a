/** The options of every command: those that train, and the others. */
import { shapeNames } from '../../data/generate.ts';
import { exportFormats } from '../../model/export/index.ts';
import { defaultFolder } from '../../reporting/records/folder.ts';
import { dataOptions, threadsOption } from '../../train/options/data.ts';
import { option, pick, type Values } from '../../train/options/option.ts';
import { outputOptions, processOptions, sqlOption } from '../../train/options/run.ts';
import {
  bytes,
  choice,
  file,
  folder,
  milliseconds,
  port,
  positive,
  text,
  whole,
} from '../../train/options/types.ts';
import { compareOptions, readingOptions } from './training-options.ts';

export * from './training-options.ts';

const json = option({ flag: '--json', group: 'output', help: 'print JSON' });
const quiet = option({ flag: '--quiet', group: 'output', help: 'print no notes' });
const outputFile = option({
  flag: '-o, --output <file>',
  type: file,
  group: 'output',
  help: 'where to write (default: standard output)',
});
const size = option({
  flag: '--size <fraction>',
  aliases: ['--scale <fraction>'],
  type: positive,
  default: 1,
  group: 'options',
  help: 'number of rows, as a fraction of the original',
});

export const predictOptions = {
  output: outputFile,
  scores: option({
    flag: '--scores',
    group: 'output',
    conflicts: ['probabilities'],
    help: 'print the scores <w, x> + b',
    doc: 'print ⟨w, x⟩ + b; above 0 means the positive class. Of several classes one score each',
  }),
  probabilities: option({
    flag: '--probabilities',
    group: 'output',
    help: 'print the probability of the positive class, or of each class (logistic loss, or calibrated)',
    doc: 'print the probability of the positive class, or of each of several; models with the logistic loss, and calibrated ones',
  }),
  json: option({
    flag: '--json',
    group: 'output',
    conflicts: ['scores', 'probabilities', 'header'],
    help: 'print a JSON object per row: label, scores and probabilities',
  }),
  quiet,
  ...readingOptions,
  header: option({
    ...omitFlag(dataOptions.header),
    flag: '--header',
    negation: { help: dataOptions.header.help },
    group: 'output',
    help: 'begin with a line of names: those of the classes, where there are several',
    doc: 'begin with a line of names: `label`, `score` or `probability`, or the classes (`--no-header`: CSV data has no line of names)',
  }),
};
export type PredictFlags = Values<typeof predictOptions>;

function omitFlag<Entry extends { flag: string; group: string; help: string }>(
  entry: Entry,
): Omit<Entry, 'flag' | 'group' | 'help'> {
  const { flag: _flag, group: _group, help: _help, ...rest } = entry;
  return rest;
}

export const evaluateOptions = { json, quiet, ...readingOptions };
export type EvaluateFlags = Values<typeof evaluateOptions>;

export const inspectOptions = {
  top: option({
    flag: '--top <number>',
    type: whole(0),
    default: 10,
    group: 'options',
    help: 'number of features to list for and against a class',
  }),
  class: option({
    flag: '--class <name>',
    type: text,
    group: 'options',
    help: 'the class whose features are listed',
  }),
  names: option({
    flag: '--names <file>',
    type: file,
    group: 'options',
    help: 'feature names, line n for feature n; also .gz or .zst (default: those in the model)',
  }),
  zeroBased: option({ flag: '--zero-based', group: 'options', help: 'number features from 0' }),
  json: option({ ...json, group: 'options' }),
};
export type InspectFlags = Values<typeof inspectOptions>;

export const convertOptions = {
  output: option({
    flag: '-o, --output <file>',
    type: file,
    group: 'output',
    help: 'where to write; - for standard output',
    defaultDoc: 'required, except with `--info`',
  }),
  to: option({
    flag: '--to <format>',
    type: choice(['dsob', 'text']),
    group: 'output',
    help: 'format to write (default: dsob if the name ends in .dsob, else text)',
  }),
  values: option({
    flag: '--values <type>',
    type: choice(['float32', 'float64', 'auto']),
    group: 'output',
    help: 'how values are stored (default: float32, as in training)',
  }),
  pack: option({
    flag: '--pack',
    group: 'output',
    help: 'store distances between indices in as few bytes as possible',
  }),
  names: option({
    flag: '--names <file>',
    type: file,
    group: 'output',
    help: 'feature names, line n for feature n: read for .dsob, written for text',
  }),
  info: option({
    flag: '--info',
    group: 'output',
    conflicts: ['output'],
    help: 'check the data and print a summary',
  }),
  json: option({
    flag: '--json',
    group: 'output',
    needs: ['info'],
    help: 'with --info: print JSON',
  }),
  quiet: outputOptions.quiet,
  ...readingOptions,
};
export type ConvertFlags = Values<typeof convertOptions>;

export const exportOptions = {
  to: option({
    flag: '--to <format>',
    type: choice(exportFormats),
    mandatory: true,
    group: 'options',
    help: 'format to write',
  }),
  output: option({ ...outputFile, group: 'options' }),
  quiet: option({ ...quiet, group: 'options' }),
};
export type ExportFlags = Values<typeof exportOptions> & {
  readonly to: (typeof exportFormats)[number];
};

export const importOptions = {
  output: option({
    flag: '-o, --output <model>',
    type: file,
    group: 'options',
    help: 'where to write (default: the name of the file + .model)',
  }),
  quiet: option({ ...quiet, group: 'options' }),
};
export type ImportFlags = Values<typeof importOptions>;

export const describeOptions = { json, quiet, ...readingOptions, ...sqlOption };
export type DescribeFlags = Values<typeof describeOptions>;

export const generateOptions = {
  like: option({
    flag: '--like <name>',
    type: choice(shapeNames),
    mandatory: true,
    group: 'options',
    help: 'data set whose rows, columns and density to imitate',
  }),
  scale: size,
  seed: option({ ...compareOptions.seed, group: 'options' }),
  output: option({
    flag: '-o, --output <prefix>',
    type: file,
    group: 'options',
    help: 'write <prefix>.train.svm and <prefix>.test.svm (default: the name of the data set)',
  }),
  quiet: option({ ...outputOptions.quiet, group: 'options' }),
};
export type GenerateFlags = Values<typeof generateOptions> & {
  readonly like: (typeof shapeNames)[number];
};

export const replayOptions = {
  output: option({
    flag: '-o, --output <model>',
    type: file,
    group: 'options',
    help: 'write the model of the replay',
  }),
  threads: option({
    ...threadsOption.threads,
    group: 'options',
    help: 'threads for reading the data (default: all cores)',
  }),
  quiet: option({ ...outputOptions.quiet, group: 'options' }),
};
export type ReplayFlags = Values<typeof replayOptions>;

export const doctorOptions = { json, ...pick(processOptions, 'peerTimeout') };
export type DoctorFlags = Values<typeof doctorOptions>;

export const serveOptions = {
  port: option({
    flag: '--port <number>',
    type: port,
    default: 8080,
    group: 'options',
    help: 'port to listen on; 0: any free port',
  }),
  host: option({
    flag: '--host <address>',
    type: text,
    default: '127.0.0.1',
    group: 'options',
    help: 'address to listen on',
  }),
  maxBody: option({
    flag: '--max-body <bytes>',
    type: bytes,
    default: 10 * 2 ** 20,
    defaultText: '10M',
    group: 'options',
    help: 'maximum size of a JSON body, or of a line of NDJSON',
  }),
  maxRows: option({
    flag: '--max-rows <number>',
    type: whole(1),
    default: 100_000,
    group: 'options',
    help: 'maximum number of rows of a batch',
  }),
  timeout: option({
    flag: '--timeout <time>',
    type: milliseconds,
    default: 10_000,
    defaultText: '10s',
    group: 'options',
    help: 'time for a body to arrive, and for requests to finish at shutdown (500ms, 10s)',
  }),
  reload: option({
    flag: '--no-reload',
    group: 'options',
    help: 'do not reload the model when its file changes',
  }),
  log: option({
    flag: '--log',
    group: 'options',
    help: 'write a line of JSON per request to standard error',
  }),
};
export type ServeFlags = Values<typeof serveOptions>;

const runsFolder = option({
  flag: '--runs <folder>',
  type: folder,
  group: 'options',
  help: `folder of the records (default: ${defaultFolder})`,
});

export const runListOptions = {
  runs: runsFolder,
  number: option({
    flag: '-n, --number <count>',
    type: whole(1),
    group: 'options',
    conflicts: ['all'],
    help: 'list at most N runs (default: 20)',
  }),
  all: option({ flag: '--all', group: 'options', help: 'list all runs' }),
  json: option({ flag: '--json', group: 'options', help: 'print JSON: an array of summaries' }),
};
export type RunListFlags = Values<typeof runListOptions>;

export const runShowOptions = {
  runs: runsFolder,
  vector: option({
    flag: '--vector <number>',
    type: whole(1),
    group: 'options',
    help: 'weight vector to draw, from 1, if there are several',
  }),
  over: option({
    flag: '--over <axis>',
    type: choice(['time', 'epochs']),
    group: 'options',
    help: 'x axis of the charts (default: time)',
  }),
  json: option({
    flag: '--json',
    group: 'options',
    help: 'print JSON: the summary, the curves and the samples',
  }),
};
export type RunShowFlags = Values<typeof runShowOptions>;

export const runStopOptions = {
  runs: runsFolder,
  json: option({ flag: '--json', group: 'options', help: 'print JSON: the summary of the run' }),
};
export type RunStopFlags = Values<typeof runStopOptions>;

export const uiOptions = {
  port: option({ ...serveOptions.port, default: 0 }),
  open: option({ flag: '--no-open', group: 'options', help: 'do not open a browser' }),
};
export type UiFlags = Values<typeof uiOptions>;

export const demoOptions = {
  scale: size,
  threads: option({ ...threadsOption.threads, group: 'options' }),
};
export type DemoFlags = Values<typeof demoOptions>;
