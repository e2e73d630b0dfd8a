/** The losses by name, as values: `losses.huber({ delta: 2 })`. One entry describes each. */
import { UsageError } from '../../errors.ts';
import { type CamelCase, camelCase, unknownName } from '../names.ts';
import * as absolute from './absolute.ts';
import * as hinge from './hinge.ts';
import * as huber from './huber.ts';
import * as logistic from './logistic.ts';
import {
  commonSteps,
  type LabelRule,
  type Loss,
  type LossFunctions,
  type QuadraticPieces,
  type ScoreTraits,
  scoreTraits,
  type Task,
} from './loss.ts';
import * as poisson from './poisson.ts';
import * as quantile from './quantile.ts';
import * as smoothedHinge from './smoothed-hinge.ts';
import * as square from './square.ts';
import * as squaredAbsolute from './squared-absolute.ts';
import * as squaredHinge from './squared-hinge.ts';

export { loadLoss } from './custom.ts';
export { checkLabels, meanOfScore, traitsOf } from './loss.ts';

interface ParameterRule {
  readonly name: string;
  readonly default: number;
  /** Ends the sentence "it must be …". */
  readonly wanted: string;
  accepts(parameter: number): boolean;
}

/** What there is to know of a loss: nothing else is decided by a loss's name. */
export interface LossEntry extends ScoreTraits {
  readonly functions: LossFunctions;
  readonly task: Task;
  readonly smooth: boolean;
  /** The formula, for help and documentation. */
  readonly doc: string;
  readonly parameter?: ParameterRule;
  readonly labels?: LabelRule;
  /** Of losses whose second derivative is bounded: see Loss. */
  greatestCurvature?(parameter: number): number;
  /** Default: ℓ* is curved. */
  readonly pieces?: QuadraticPieces;
  /** Default: false. */
  readonly openEnds?: boolean;
  readonly defaultSteps?: readonly [number, number];
  /** What cross-validation compares models of regression by; default: the loss itself. */
  readonly defaultMetric?: 'mse';
  /** Whether the model estimates the quantile `parameter` of the labels rather than their mean. */
  readonly estimatesQuantile?: true;
  /** LIBLINEAR's solver for the loss with an L2 and, where it has one, an L1 penalty. */
  readonly liblinear?: { readonly l2: string; readonly l1?: string };
  readonly vowpalWabbit?: string;
}

/** The half width of a zone where errors cost nothing. */
const insensitiveZone = {
  name: 'epsilon',
  default: 0,
  wanted: 'a finite number of at least 0',
  accepts: (epsilon: number) => epsilon >= 0 && epsilon < Infinity,
} as const;

const entries = {
  hinge: {
    functions: hinge,
    task: 'classification',
    smooth: false,
    pieces: 1,
    liblinear: { l2: 'L2R_L1LOSS_SVC_DUAL' },
    vowpalWabbit: 'hinge',
    doc: 'max(0, 1 − y u)',
  },
  'squared-hinge': {
    functions: squaredHinge,
    task: 'classification',
    smooth: true,
    greatestCurvature: () => 2,
    pieces: 1,
    liblinear: { l2: 'L2R_L2LOSS_SVC', l1: 'L1R_L2LOSS_SVC' },
    doc: 'max(0, 1 − y u)²',
  },
  'smoothed-hinge': {
    functions: smoothedHinge,
    task: 'classification',
    smooth: true,
    greatestCurvature: (smoothing: number) => 1 / smoothing,
    pieces: 1,
    parameter: {
      name: 'smoothing',
      default: 1,
      wanted: 'a number above 0 and at most 1',
      accepts: (smoothing: number) => smoothing > 0 && smoothing <= 1,
    },
    doc: 'the hinge with its corner rounded over a width smoothing',
  },
  logistic: {
    functions: logistic,
    task: 'classification',
    smooth: true,
    greatestCurvature: () => 0.25,
    ...scoreTraits.logistic,
    openEnds: true,
    defaultSteps: [0.2, 0.15],
    liblinear: { l2: 'L2R_LR', l1: 'L1R_LR' },
    vowpalWabbit: 'logistic',
    doc: 'log(1 + e^(−y u))',
  },
  square: {
    functions: square,
    task: 'regression',
    smooth: true,
    greatestCurvature: () => 1,
    pieces: 1,
    defaultMetric: 'mse',
    vowpalWabbit: 'squared',
    doc: '½ (u − y)²',
  },
  huber: {
    functions: huber,
    task: 'regression',
    smooth: true,
    greatestCurvature: () => 1,
    pieces: 1,
    parameter: {
      name: 'delta',
      default: 1,
      wanted: 'a finite number above 0',
      accepts: (delta: number) => delta > 0 && delta < Infinity,
    },
    defaultMetric: 'mse',
    doc: '½ (u − y)² up to a distance delta, straight beyond',
  },
  absolute: {
    functions: absolute,
    task: 'regression',
    smooth: false,
    pieces: 2,
    parameter: insensitiveZone,
    liblinear: { l2: 'L2R_L1LOSS_SVR_DUAL' },
    doc: 'max(0, |u − y| − epsilon)',
  },
  'squared-absolute': {
    functions: squaredAbsolute,
    task: 'regression',
    smooth: true,
    greatestCurvature: () => 2,
    pieces: 2,
    parameter: insensitiveZone,
    liblinear: { l2: 'L2R_L2LOSS_SVR' },
    doc: 'max(0, |u − y| − epsilon)²',
  },
  quantile: {
    functions: quantile,
    task: 'regression',
    smooth: false,
    pieces: 1,
    parameter: {
      name: 'quantile',
      default: 0.5,
      wanted: 'a number above 0 and below 1',
      accepts: (level: number) => level > 0 && level < 1,
    },
    estimatesQuantile: true,
    liblinear: { l2: 'L2R_L1LOSS_SVR_DUAL' },
    vowpalWabbit: 'quantile',
    doc: 'the pinball loss, whose best constant is a quantile of the labels',
  },
  poisson: {
    functions: poisson,
    task: 'regression',
    smooth: true,
    ...scoreTraits.poisson,
    openEnds: true,
    labels: {
      wanted: 'a number from 0 to 1e80',
      accepts: (label: number) => label >= 0 && label <= 1e80,
    },
    vowpalWabbit: 'poisson',
    doc: 'e^u − y u up to a constant of the label: counts with the mean e^u',
  },
} as const satisfies Readonly<Record<string, LossEntry>>;

export type LossName = keyof typeof entries;

export const lossNames = Object.keys(entries) as readonly LossName[];

/** The entry of a built-in loss; none for the name of a custom one. */
export function lossEntry(name: string): LossEntry | undefined {
  return Object.hasOwn(entries, name) ? entries[name as LossName] : undefined;
}

/** What no objective is below: the built-in losses are at least 0, a custom one may be negative. */
export function leastObjective({ name, module }: Pick<Loss, 'name' | 'module'>): number {
  return module === undefined && lossEntry(name) ? 0 : -Infinity;
}

type ParameterOf<Entry> = Entry extends { parameter: { name: infer Name extends string } }
  ? Name
  : never;

export type LossParameterName = ParameterOf<(typeof entries)[LossName]>;

/** Options of the losses; each loss has one or none. */
export const lossParameterNames = [
  ...new Set(lossNames.flatMap((name) => lossEntry(name)?.parameter?.name ?? [])),
] as readonly LossParameterName[];

function checkedParameter(name: string, { parameter: rule }: LossEntry, given?: number): number {
  if (rule === undefined) {
    if (given === undefined) return 0;
    throw new UsageError(`loss '${name}' takes no parameter, but was given ${given}`);
  }
  const parameter = given ?? rule.default;
  if (typeof parameter === 'number' && rule.accepts(parameter)) return parameter;
  throw new UsageError(
    `loss '${name}': ${rule.name} is ${String(parameter)}; it must be ${rule.wanted}`,
  );
}

export function makeLoss(name: string, entry: LossEntry, given?: number): Loss {
  const { functions, task, smooth, parameter: rule, labels } = entry;
  const parameter = checkedParameter(name, entry, given);
  return Object.freeze({
    ...functions,
    name,
    task,
    smooth,
    parameter,
    link: entry.link ?? 'identity',
    givesProbabilities: entry.givesProbabilities ?? false,
    openEnds: entry.openEnds ?? false,
    defaultSteps: entry.defaultSteps ?? commonSteps,
    ...(entry.pieces && { pieces: entry.pieces }),
    ...(entry.greatestCurvature && { greatestCurvature: entry.greatestCurvature(parameter) }),
    ...(rule && { parameterName: rule.name }),
    ...(labels && { labels }),
  });
}

/** The loss the command line calls `name`; `parameter` is the number it has. */
export function lossByName(name: string, parameter?: number): Loss {
  const entry = lossEntry(name);
  if (entry !== undefined) return makeLoss(name, entry, parameter);
  throw unknownName('loss', 'losses', name, lossNames);
}

type Factory<Entry> = [ParameterOf<Entry>] extends [never]
  ? () => Loss
  : (options?: { [Key in ParameterOf<Entry>]?: number }) => Loss;

type Factories = {
  readonly [Name in LossName as CamelCase<Name>]: Factory<(typeof entries)[Name]>;
};

function factoryOf(name: LossName) {
  const parameterName = lossEntry(name)?.parameter?.name ?? '';
  return (options: Readonly<Record<string, number>> = {}) =>
    lossByName(name, options[parameterName]);
}

/** A function per loss, named as in `losses.squaredHinge()`; its parameter is its only option. */
export const losses = Object.freeze(
  Object.fromEntries(
    lossNames.map((name) => [camelCase(name), factoryOf(name)]),
  ) as unknown as Factories,
);
