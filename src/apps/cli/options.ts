/** The options of every command: those that train, and the others. */
import { shapeNames } from '../../data/shapes.ts';
import { exportFormats } from '../../model/export/names.ts';
import { defaultFolder } from '../../reporting/records/folder.ts';
import { dataOptions, threadsOption } from '../../train/options/data.ts';
import { flag, optionsWith, pick, toggle, type Values } from '../../train/options/option.ts';
import { preparationOptions, problemOptions } from '../../train/options/problem.ts';
import { outputOptions, processOptions, sqlOption } from '../../train/options/run.ts';
import {
  bytes,
  choice,
  columns,
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

const output = { group: 'output' } as const;
const general = { group: 'options' } as const;

const json = toggle('--json', { help: 'print JSON' });
const quiet = toggle('--quiet', { help: 'print no notes' });
const printing = optionsWith(output)({ json, quiet });
const outputFile = flag('-o, --output <file>', file, {
  help: 'where to write (default: standard output)',
});
const size = flag('--size <fraction>', positive, {
  aliases: ['--scale <fraction>'],
  default: 1,
  help: 'number of rows, as a fraction of the original',
});

export const predictOptions = {
  ...optionsWith(output)({
    output: outputFile,
    scores: toggle('--scores', {
      conflicts: ['probabilities'],
      help: 'print the scores <w, x> + b',
      doc: 'print ⟨w, x⟩ + b; above 0 means the positive class. Of several classes one score each',
    }),
    probabilities: toggle('--probabilities', {
      help: 'print the probability of the positive class, or of each class (logistic loss, or calibrated)',
      doc: 'print the probability of the positive class, or of each of several; models with the logistic loss, and calibrated ones',
    }),
    threshold: flag('--threshold <number>', preparationOptions.threshold.type, {
      conflicts: ['scores', 'probabilities'],
      help: 'another threshold than that of the model, for probabilities, or else for scores',
    }),
    json: toggle('--json', {
      conflicts: ['scores', 'probabilities', 'header'],
      help: 'print a JSON object per row: label, scores and probabilities',
    }),
    quiet,
  }),
  ...readingOptions,
  header: {
    ...dataOptions.header,
    ...output,
    ...toggle('--header', {
      negation: { help: dataOptions.header.help },
      help: 'begin with a line of names: those of the classes, where there are several',
      doc: 'begin with a line of names: `label`, `score` or `probability`, or the classes (`--no-header`: CSV data has no line of names)',
    }),
  },
};
export type PredictFlags = Values<typeof predictOptions>;

export const evaluateOptions = {
  ...printing,
  ...optionsWith(general)({
    positive: flag('--positive <label>', preparationOptions.positive.type, {
      help: 'of two classes the one that the metrics are about (default: that of the model)',
    }),
    threshold: flag('--threshold <number>', preparationOptions.threshold.type, {
      conflicts: ['thresholdFor'],
      help: 'another threshold than that of the model, for probabilities, or else for scores',
    }),
    thresholdFor: flag('--threshold-for <goal>', preparationOptions.thresholdFor.type, {
      conflicts: ['positive'],
      help: 'the best threshold on this data for f1, precision=0.95, recall=0.9 or cost=FP:FN',
    }),
    figure: flag('--figure <file>', file, {
      help: 'draw the ROC, precision-recall and calibration curves: .svg or .png',
    }),
  }),
  ...readingOptions,
};
export type EvaluateFlags = Values<typeof evaluateOptions>;

export const verifyOptions = {
  ...printing,
  ...optionsWith(general)({
    dual: flag('--dual <file>', file, {
      help: 'dual point that dso train --keep-dual wrote (default: <model>.dual, if it is there)',
    }),
    loss: flag('--loss <module>', file, {
      help: 'module of the loss, if the model was trained with a custom one',
    }),
    penaltyFactors: { ...problemOptions.penaltyFactors, ...general },
  }),
  ...readingOptions,
  ...sqlOption,
};
export type VerifyFlags = Values<typeof verifyOptions>;

export const inspectOptions = optionsWith(general)({
  top: flag('--top <number>', whole(0), {
    default: 10,
    help: 'number of features to list for and against a class',
  }),
  class: flag('--class <name>', text, { help: 'the class whose features are listed' }),
  names: flag('--names <file>', file, {
    help: 'feature names, line n for feature n; also .gz or .zst (default: those in the model)',
  }),
  zeroBased: toggle('--zero-based', { help: 'number features from 0' }),
  json,
});
export type InspectFlags = Values<typeof inspectOptions>;

export const convertOptions = {
  ...optionsWith(output)({
    output: flag('-o, --output <file>', file, {
      help: 'where to write; - for standard output',
      defaultDoc: 'required, except with `--info`',
    }),
    to: flag('--to <format>', choice(['dsob', 'text']), {
      help: 'format to write (default: dsob if the name ends in .dsob, else text)',
    }),
    values: flag('--values <type>', choice(['float32', 'float64', 'auto']), {
      help: 'how values are stored (default: float32, as in training)',
    }),
    pack: toggle('--pack', { help: 'store distances between indices in as few bytes as possible' }),
    names: flag('--names <file>', file, {
      help: 'feature names, line n for feature n: read for .dsob, written for text',
    }),
    info: toggle('--info', { conflicts: ['output'], help: 'check the data and print a summary' }),
    json: toggle('--json', { needs: ['info'], help: 'with --info: print JSON' }),
  }),
  ...pick(outputOptions, 'quiet'),
  ...readingOptions,
};
export type ConvertFlags = Values<typeof convertOptions>;

export const exportOptions = optionsWith(general)({
  to: flag('--to <format>', choice(exportFormats), { mandatory: true, help: 'format to write' }),
  output: outputFile,
  quiet,
});
export type ExportFlags = Values<typeof exportOptions>;

export const importOptions = optionsWith(general)({
  output: flag('-o, --output <model>', file, {
    help: 'where to write (default: the name of the file + .model)',
  }),
  quiet,
});
export type ImportFlags = Values<typeof importOptions>;

export const describeOptions = { ...printing, ...readingOptions, ...sqlOption };
export type DescribeFlags = Values<typeof describeOptions>;

export const generateOptions = optionsWith(general)({
  like: flag('--like <name>', choice(shapeNames), {
    mandatory: true,
    help: 'data set whose rows, columns and density to imitate',
  }),
  scale: size,
  seed: { ...compareOptions.seed, ...general },
  output: flag('-o, --output <prefix>', file, {
    help: 'write <prefix>.train.svm and <prefix>.test.svm (default: the name of the data set)',
  }),
  quiet: { ...outputOptions.quiet, ...general },
});
export type GenerateFlags = Values<typeof generateOptions>;

export const replayOptions = optionsWith(general)({
  output: flag('-o, --output <model>', file, { help: 'write the model of the replay' }),
  threads: {
    ...threadsOption.threads,
    ...general,
    help: 'threads for reading the data (default: all cores)',
  },
  quiet: { ...outputOptions.quiet, ...general },
});
export type ReplayFlags = Values<typeof replayOptions>;

export const doctorOptions = { ...pick(printing, 'json'), ...pick(processOptions, 'peerTimeout') };
export type DoctorFlags = Values<typeof doctorOptions>;

export const serveOptions = optionsWith(general)({
  port: flag('--port <number>', port, {
    default: 8080,
    help: 'port to listen on; 0: any free port',
  }),
  host: flag('--host <address>', text, { default: '127.0.0.1', help: 'address to listen on' }),
  hostName: flag('--host-name <names>', columns, {
    help: 'names of this server in requests, besides localhost and addresses',
  }),
  maxBody: flag('--max-body <bytes>', bytes, {
    default: 10 * 2 ** 20,
    defaultText: '10M',
    help: 'maximum size of a JSON body, or of a line of NDJSON',
  }),
  maxRows: flag('--max-rows <number>', whole(1), {
    default: 100_000,
    help: 'maximum number of rows of a batch',
  }),
  timeout: flag('--timeout <time>', milliseconds, {
    default: 10_000,
    defaultText: '10s',
    help: 'time for a body to arrive, and for requests to finish at shutdown (500ms, 10s)',
  }),
  strict: toggle('--strict', {
    help: 'refuse rows that would be answered with warnings, such as rows with unknown fields',
  }),
  reload: toggle('--no-reload', { help: 'do not reload the model when its file changes' }),
  log: toggle('--log', { help: 'write a line of JSON per request to standard error' }),
});
export type ServeFlags = Values<typeof serveOptions>;

const runs = flag('--runs <folder>', folder, {
  help: `folder of the records (default: ${defaultFolder})`,
});

export const runListOptions = optionsWith(general)({
  runs,
  number: flag('-n, --number <count>', whole(1), {
    conflicts: ['all'],
    help: 'list at most N runs (default: 20)',
  }),
  all: toggle('--all', { help: 'list all runs' }),
  json: toggle('--json', { help: 'print JSON: an array of summaries' }),
});
export type RunListFlags = Values<typeof runListOptions>;

export const runShowOptions = optionsWith(general)({
  runs,
  vector: flag('--vector <number>', whole(1), {
    help: 'weight vector to draw, from 1, if there are several',
  }),
  over: flag('--over <axis>', choice(['time', 'epochs']), {
    help: 'x axis of the charts (default: time)',
  }),
  json: toggle('--json', { help: 'print JSON: the summary, the curves and the samples' }),
});
export type RunShowFlags = Values<typeof runShowOptions>;

export const runStopOptions = optionsWith(general)({
  runs,
  json: toggle('--json', { help: 'print JSON: the summary of the run' }),
});
export type RunStopFlags = Values<typeof runStopOptions>;

export const uiOptions = optionsWith(general)({
  port: { ...serveOptions.port, default: 0 },
  open: toggle('--no-open', { help: 'do not open a browser' }),
});
export type UiFlags = Values<typeof uiOptions>;

export const demoOptions = optionsWith(general)({
  scale: size,
  threads: { ...threadsOption.threads, ...general },
});
export type DemoFlags = Values<typeof demoOptions>;
