/** The options of the commands that train. */
import { lossNames } from '../../problem/losses/index.ts';
import { solverNames } from '../../solvers/index.ts';
import { dataOptions, threadsOption } from '../../train/options/data.ts';
import { flag, omit, optionsWith, pick, toggle, type Values } from '../../train/options/option.ts';
import {
  candidateOptions,
  lambdaOptions,
  preparationOptions,
  problemOptions,
} from '../../train/options/problem.ts';
import {
  earlyStopOption,
  memoryOptions,
  outputOptions,
  processOptions,
  sqlOption,
  stoppingOptions,
  testOptions,
  trainOnlyOptions,
} from '../../train/options/run.ts';
import { settingOptions, solverOptions } from '../../train/options/solver.ts';
import { choice, file, folder, listOf, text, whole } from '../../train/options/types.ts';
import { measureNames } from '../../train/select/measure.ts';

const commonOutput = optionsWith({ group: 'output', common: true });

export const readingOptions = { ...dataOptions, ...threadsOption };
export type DataFlags = Partial<Values<typeof readingOptions>>;

export const trainOptions = {
  ...pick(trainOnlyOptions, 'output'),
  ...testOptions,
  ...outputOptions,
  ...pick(trainOnlyOptions, 'report', 'keepDual', 'visits'),
  ...problemOptions,
  ...preparationOptions,
  ...stoppingOptions,
  ...earlyStopOption,
  ...omit(trainOnlyOptions, 'output', 'report', 'keepDual', 'visits'),
  ...memoryOptions,
  ...solverOptions,
  ...settingOptions,
  ...readingOptions,
  ...sqlOption,
};
export type TrainFlags = Values<typeof trainOptions>;

/** Options of the commands that train several models and print a table of them. */
const tableOptions = {
  ...commonOutput({
    csv: flag('--csv <file>', file, {
      help: 'also write the table as CSV; - for standard output',
    }),
    figure: flag('--figure <file>', file, { help: 'also draw a figure: .svg or .png' }),
  }),
  ...outputOptions,
};

const severalModels = {
  ...omit(problemOptions, 'lambda'),
  ...lambdaOptions,
  ...pick(preparationOptions, 'multiLabel', 'positive', 'classWeight', 'scale'),
  ...stoppingOptions,
  ...solverOptions,
  ...settingOptions,
  ...readingOptions,
};

export const pathOptions = {
  ...commonOutput({
    output: flag('-o, --output <model>', file, {
      help: 'write the model with the lowest error on the test data',
    }),
    models: flag('--models <folder>', folder, {
      help: 'write every model into this folder as soon as it is trained',
    }),
  }),
  ...omit(testOptions, 'auprc'),
  ...tableOptions,
  ...severalModels,
  ...earlyStopOption,
  ...memoryOptions,
};
export type PathFlags = Values<typeof pathOptions>;

const validationOptions = {
  ...commonOutput({
    output: flag('-o, --output <model>', file, {
      help: 'model trained on all rows with the chosen settings (default: <data>.model)',
      defaultDoc: '`<data>.model`',
    }),
    refit: toggle('--no-refit', { help: 'train no model at the end' }),
  }),
  ...tableOptions,
  ...optionsWith({ group: 'validation', common: true, affectsModel: true })({
    folds: flag('--folds <number>', whole(2), {
      default: 5,
      help: 'number of folds, held out in turn',
    }),
    metric: flag('--metric <name>', choice(measureNames), {
      help: 'metric on the rows held out (default: error; in regression mse or loss)',
      defaultDoc: '`error`; in regression `mse` or `loss`',
    }),
    choose: flag('--choose <rule>', choice(['best', 'simplest']), {
      default: 'best',
      help: 'the lambda with the best mean, or the largest within one standard error of it',
    }),
  }),
};

export const cvOptions = { ...validationOptions, ...severalModels, ...processOptions };
export type CvFlags = Values<typeof cvOptions>;

export const searchOptions = { ...cvOptions, ...candidateOptions };
export type SearchFlags = Values<typeof searchOptions>;

export type SelectFlags = Omit<
  CvFlags,
  'loss' | 'penalty' | 'l1Ratio' | keyof typeof validationOptions | keyof typeof processOptions
> &
  Values<typeof tableOptions>;

const solverList = listOf(
  { ...text, choices: solverNames },
  'names of solvers, separated by commas',
);

export const compareOptions = {
  ...optionsWith({ group: 'problem', common: true, affectsModel: true })({
    solvers: flag('--solvers <names>', solverList, {
      default: ['dso', 'sgd', 'psgd', 'bmrm', 'ring'],
      defaultText: 'dso,sgd,psgd,bmrm,ring',
      help: `solvers to compare: ${solverNames.join(', ')}`,
      doc: 'solvers to compare, separated by commas',
    }),
    loss: {
      ...candidateOptions.loss,
      default: ['hinge'],
      defaultText: 'hinge',
      help: `losses: ${lossNames.join(', ')}, or paths of modules`,
      doc: 'losses, separated by commas',
    },
    lambda: flag('--lambda <numbers>', lambdaOptions.lambda.type, {
      library: 'lambdas',
      help: 'weights of the penalty, separated by commas (default: 1 / rows)',
      defaultDoc: '1 / rows',
    }),
  }),
  ...omit(problemOptions, 'loss', 'lambda'),
  ...testOptions,
  ...commonOutput({
    output: flag('-o, --output <folder>', folder, {
      default: 'report',
      affectsModel: true,
      help: 'folder for the page, the tables and the figures',
    }),
    fresh: toggle('--fresh', { help: 'start over: discard the results in the folder' }),
    title: flag('--title <text>', text, { help: 'title of the page' }),
  }),
  ...outputOptions,
  ...stoppingOptions,
  time: {
    ...stoppingOptions.time,
    default: 30,
    defaultDoc: '30',
    help: 'maximum training time of each run',
    doc: 'maximum number of seconds of training per run',
  },
  ...pick(solverOptions, 'grid'),
  seed: { ...solverOptions.seed, default: 1, help: 'seed of all random choices' },
  warmUp: toggle('--no-warm-up', {
    group: 'solver',
    common: true,
    affectsModel: true,
    help: 'time the first run of a solver without a warm-up run',
  }),
  ...readingOptions,
};
export type CompareFlags = Values<typeof compareOptions>;
