/** Options that say what is minimized, and what is done to rows and classes before. */
import type { Label } from '../../data/labels.ts';
import { scalings } from '../../data/scale.ts';
import {
  goalsExpected,
  isThresholdGoal,
  type ThresholdGoal,
} from '../../model/metrics/threshold.ts';
import { lossNames } from '../../problem/losses/index.ts';
import { penaltyByName, penaltyNames } from '../../problem/penalties/index.ts';
import type { ClassWeights } from '../class-weights.ts';
import { flag, option, optionsWith, toggle } from './option.ts';
import {
  choice,
  file,
  finite,
  fraction,
  listOf,
  nonNegative,
  type OptionType,
  positive,
  whole,
} from './types.ts';

/** A loss by name or by the path of its module. */
const lossName: OptionType<string> = {
  expected: `one of ${lossNames.join(', ')}, or the path of a module`,
  choices: lossNames,
  files: true,
  parse: (text) => text,
  accepts: (value) => typeof value === 'string',
};

const someNames = choice(penaltyNames);

/** `penaltyByName` says why there is no group lasso. */
const penaltyName: typeof someNames = {
  ...someNames,
  parse(name) {
    if (name === 'group-lasso') penaltyByName(name);
    return someNames.parse(name);
  },
};

const labelType: OptionType<Label> = {
  expected: 'a label',
  parse: (text) => text || undefined,
  accepts: (value) => (typeof value === 'string' && value !== '') || Number.isFinite(value),
};

export const thresholdGoal: OptionType<ThresholdGoal> = {
  expected: goalsExpected,
  parse: (text) => (isThresholdGoal(text) ? text : undefined),
  accepts: isThresholdGoal,
};

const classWeights: OptionType<ClassWeights> = {
  expected: "'balanced' or weights by label, as in spam=5,ham=1",
  accepts: (value) =>
    value === 'balanced' ||
    (typeof value === 'object' &&
      value !== null &&
      [Object.prototype, null].includes(Object.getPrototypeOf(value))),
  parse(text) {
    if (text === 'balanced') return text;
    const pairs = text.split(',').map((pair): [string, number] => {
      const [, label = '', weight = ''] = /^(.*)=([^=]*)$/.exec(pair.trim()) ?? [];
      return [label.trim(), weight.trim() === '' ? Number.NaN : Number(weight)];
    });
    const fits = pairs.every(([label, weight]) => label !== '' && nonNegative.accepts(weight));
    return fits ? Object.fromEntries(pairs) : undefined;
  },
};

const shared = { library: false, group: 'problem', affectsModel: true, progressive: true } as const;

export const problemOptions = optionsWith(shared)({
  loss: flag('--loss <name>', lossName, {
    default: 'hinge',
    common: true,
    help: `${lossNames.join(', ')}, or a module (./mine.js)`,
    doc: '`hinge`, `squared-hinge`, `smoothed-hinge`, `logistic` (classification); `square`, `huber`, `absolute`, `squared-absolute`, `quantile`, `poisson` (regression); or the path of a [module](library.md#custom-losses), recognised by a slash or the ending `.js`, `.mjs`, `.ts` …',
  }),
  penalty: flag('--penalty <name>', penaltyName, {
    default: 'l2',
    common: true,
    help: `penalty on the weights: ${penaltyNames.join(', ')}`,
  }),
  lambda: flag('--lambda <number>', positive, {
    library: 'lambda',
    common: true,
    help: 'weight of the penalty (default: 1 / rows)',
    doc: 'weight of the penalty, λ > 0',
    defaultDoc:
      '1/m, m the number of training rows, or the sum of their weights; with `--progressive` 1e-6',
  }),
  l1Ratio: flag('--l1-ratio <number>', fraction, {
    penalty: 'elastic-net',
    help: 'share of L1 in the elastic net (default: 0.5)',
    doc: 'of `elastic-net`: ρ\\|w\\| + ½(1 − ρ)w², 0 < ρ < 1',
  }),
  intercept: toggle('--intercept', {
    negation: { help: 'fit no constant term' },
    library: 'intercept',
    provenance: 'intercept',
    common: true,
    help: 'fit a constant term, which is not penalized (default for tables)',
    doc: 'fit a constant term, which is not penalized',
    defaultDoc: 'for tables `--intercept`, else `--no-intercept`; for streams `--no-intercept`',
  }),
  nonNegative: toggle('--non-negative', {
    progressive: false,
    conflicts: ['lower'],
    help: 'allow no weight below 0',
    doc: 'no weight below 0; for `--solver` `auto`, `ring`, `dso`, `dso-async`, `sgd`, `psgd`, `admm`',
  }),
  lower: flag('--lower <number>', finite, {
    progressive: false,
    provenance: 'lower',
    help: 'allow no weight below this number (at most 0); the intercept is not bounded',
  }),
  upper: flag('--upper <number>', finite, {
    progressive: false,
    provenance: 'upper',
    help: 'allow no weight above this number (at least 0)',
  }),
  epsilon: flag('--epsilon <number>', nonNegative, {
    lossParameter: true,
    help: 'absolute, squared-absolute: errors up to this cost nothing (default: 0)',
  }),
  delta: flag('--delta <number>', positive, {
    lossParameter: true,
    help: 'huber: error at which the loss becomes linear (default: 1)',
  }),
  smoothing: flag('--smoothing <number>', positive, {
    lossParameter: true,
    help: 'smoothed-hinge: width of the smoothed corner, at most 1 (default: 1)',
  }),
  quantile: flag('--quantile <number>', fraction, {
    lossParameter: true,
    help: 'quantile: the quantile to fit (default: 0.5, the median)',
  }),
  penaltyFactors: flag('--penalty-factors <file>', file, {
    progressive: false,
    provenance: 'penalty-factors',
    help: 'file with a positive factor per line: line n is for feature n',
    doc: 'factors of the penalty: a positive number per line, line n for feature n (with `--zero-based`, feature n − 1)',
    defaultDoc: 'all 1',
  }),
});

export const preparationOptions = optionsWith({ group: 'preparation', affectsModel: true })({
  multiLabel: toggle('--multi-label', {
    help: 'a row may have several labels, separated by commas: a,b',
    doc: 'a row may have several labels, separated by commas ([more](classification.md#several-labels-per-row))',
    defaultDoc: 'one label per row',
  }),
  positive: flag('--positive <label>', labelType, {
    common: true,
    progressive: true,
    provenance: 'positive',
    help: 'of two classes the one that high scores mean (default: 1, true, yes, else the rarer one)',
    doc: 'of two classes the positive one: high scores mean it, and precision, recall and curves are about it ([more](classification.md#the-positive-class))',
    defaultDoc: '1 against 0 or −1, true against false, yes against no, else the rarer one',
  }),
  classWeight: flag('--class-weight <weights>', classWeights, {
    library: 'classWeights',
    common: true,
    provenance: 'class-weight',
    help: 'class weights, times the row weights: balanced, or as in spam=5,ham=1',
    defaultDoc: '1',
  }),
  scale: flag('--scale <way>', choice(scalings), {
    common: true,
    provenance: 'scale',
    help: 'scale columns of numbers (max, std) or rows (unit-rows), or nothing (none)',
    doc: '`max`, `std`: divide each column of numbers by its largest absolute value or by its standard deviation; columns of categories and of missing values stay 0 or 1; `none`: nothing; `unit-rows`: each row by its length. For training alone: the weights are divided back (rows are also divided when they are scored), so the model fits the data as it is',
    defaultDoc:
      'for tables `std`, where they are in the memory of one process and weights have no bound but 0; else `none`',
  }),
  calibrate: flag('--calibrate <method>', choice(['platt', 'isotonic']), {
    library: false,
    common: true,
    provenance: 'calibrate',
    help: 'fit probabilities to the scores: platt, isotonic',
    doc: 'fit a map from scores to probabilities, `platt` or `isotonic`, on rows held out in turn ([more](classification.md#probabilities))',
  }),
  calibrateFolds: flag('--calibrate-folds <number>', whole(2), {
    library: false,
    needs: ['calibrate'],
    help: 'number of folds for --calibrate (default: 5)',
  }),
  threshold: flag('--threshold <number>', finite, {
    affectsModel: 'end',
    provenance: 'threshold',
    conflicts: ['thresholdFor'],
    help: 'of two classes: call rows positive above this probability, or without probabilities above this score',
    doc: 'of two classes: a row is positive if its probability is above this number or, in models without probabilities, its score. It is kept in the model ([more](classification.md#thresholds))',
    defaultDoc: 'a score of 0, which is a probability of 0.5 in uncalibrated models',
  }),
  thresholdFor: flag('--threshold-for <goal>', thresholdGoal, {
    affectsModel: 'end',
    provenance: 'threshold-for',
    help: 'choose the threshold on rows held out in turn: f1, precision=0.95, recall=0.9, cost=FP:FN',
    doc: 'choose the threshold on rows held out in turn, in the folds of `--calibrate`, else 5: `f1`, `precision=0.95` (most recall), `recall=0.9` (most precision) or `cost=FP:FN` (least cost)',
  }),
  init: flag('--warm-start <model>', file, {
    aliases: ['--init <model>'],
    library: false,
    provenance: 'init',
    help: 'start from the weights of this model, matched by name where there are names',
    doc: 'start from the weights of a model, for data that has changed or another λ. Features are matched by name where both have names, else by number, classes by label; what the model does not have starts at 0. A model with an intercept needs `--intercept`',
    defaultDoc: 'all weights 0',
  }),
});

/** Options that say which λs are tried, of the commands that try several. */
export const lambdaOptions = optionsWith({ group: 'lambdas', common: true, affectsModel: true })({
  lambda: flag('--lambda <numbers>', listOf(positive, 'numbers above 0, separated by commas'), {
    library: 'lambdas',
    conflicts: ['count', 'ratio'],
    help: 'weights of the penalty, such as 1e-2,1e-3 (default: by --count and --ratio)',
  }),
  count: flag('--count <number>', whole(1), {
    help: 'number of lambdas, from the largest that matters downwards (default: 30)',
  }),
  ratio: flag('--ratio <fraction>', fraction, {
    help: 'smallest lambda / largest lambda (default: 1e-3 with L1, else 1e-5)',
  }),
});

/** Lists of losses and penalties, of the commands that try several. */
export const candidateOptions = {
  loss: option({
    ...problemOptions.loss,
    flag: '--loss <names>',
    type: {
      ...listOf(lossName, 'names of losses or paths of modules, separated by commas'),
      files: true,
    },
    default: ['hinge', 'logistic'] as readonly string[],
    defaultText: 'hinge,logistic',
    help: `losses to try: ${lossNames.join(', ')}, or paths of modules`,
    doc: 'losses to try, separated by commas',
  }),
  penalty: option({
    ...problemOptions.penalty,
    flag: '--penalty <names>',
    type: listOf(penaltyName, `some of ${penaltyNames.join(', ')}, separated by commas`),
    default: ['l2', 'l1'] as readonly (typeof penaltyNames)[number][],
    defaultText: 'l2,l1',
    help: 'penalties to try',
  }),
  l1Ratio: option({
    ...problemOptions.l1Ratio,
    flag: '--l1-ratio <numbers>',
    type: listOf(fraction, 'numbers above 0 and below 1, separated by commas'),
    help: 'shares of L1 in the elastic net (default: 0.5)',
    doc: 'shares of L1 in the elastic net, separated by commas',
  }),
};
