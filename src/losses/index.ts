/** The losses by name, as values: `losses.huber({ delta: 2 })`. */
import { UsageError } from '../errors.ts';
import { closest } from '../math/closest.ts';
import * as absolute from '../problem/losses/absolute.ts';
import * as hinge from '../problem/losses/hinge.ts';
import * as huber from '../problem/losses/huber.ts';
import * as logistic from '../problem/losses/logistic.ts';
import type { LabelRule, Loss, LossFunctions, Task } from '../problem/losses/loss.ts';
import * as poisson from '../problem/losses/poisson.ts';
import * as quantile from '../problem/losses/quantile.ts';
import * as smoothedHinge from '../problem/losses/smoothed-hinge.ts';
import * as square from '../problem/losses/square.ts';
import * as squaredAbsolute from '../problem/losses/squared-absolute.ts';
import * as squaredHinge from '../problem/losses/squared-hinge.ts';

export { loadLoss } from '../problem/losses/custom.ts';
export { checkLabels } from './label-rule.ts';
export { hasLogLink, meanOfScore } from './link.ts';

export const lossNames = [
  'hinge',
  'squared-hinge',
  'smoothed-hinge',
  'logistic',
  'square',
  'huber',
  'absolute',
  'squared-absolute',
  'quantile',
  'poisson',
] as const;

export type LossName = (typeof lossNames)[number];

interface ParameterRule {
  readonly name: string;
  readonly initial: number;
  readonly wanted: string;
  accepts(parameter: number): boolean;
}

interface Definition {
  readonly functions: LossFunctions;
  readonly task: Task;
  readonly smooth: boolean;
  readonly parameter?: ParameterRule;
  readonly labels?: LabelRule;
}

/** The half width of a zone where errors cost nothing. */
const insensitiveZone: ParameterRule = {
  name: 'epsilon',
  initial: 0,
  wanted: 'a finite number of at least 0',
  accepts: (epsilon) => epsilon >= 0 && epsilon < Infinity,
};

const definitions: Readonly<Record<LossName, Definition>> = {
  hinge: { functions: hinge, task: 'classification', smooth: false },
  'squared-hinge': { functions: squaredHinge, task: 'classification', smooth: true },
  'smoothed-hinge': {
    functions: smoothedHinge,
    task: 'classification',
    smooth: true,
    parameter: {
      name: 'smoothing',
      initial: 1,
      wanted: 'a number above 0 and at most 1',
      accepts: (smoothing) => smoothing > 0 && smoothing <= 1,
    },
  },
  logistic: { functions: logistic, task: 'classification', smooth: true },
  square: { functions: square, task: 'regression', smooth: true },
  huber: {
    functions: huber,
    task: 'regression',
    smooth: true,
    parameter: {
      name: 'delta',
      initial: 1,
      wanted: 'a finite number above 0',
      accepts: (delta) => delta > 0 && delta < Infinity,
    },
  },
  absolute: {
    functions: absolute,
    task: 'regression',
    smooth: false,
    parameter: insensitiveZone,
  },
  'squared-absolute': {
    functions: squaredAbsolute,
    task: 'regression',
    smooth: true,
    parameter: insensitiveZone,
  },
  quantile: {
    functions: quantile,
    task: 'regression',
    smooth: false,
    parameter: {
      name: 'quantile',
      initial: 0.5,
      wanted: 'a number above 0 and below 1',
      accepts: (level) => level > 0 && level < 1,
    },
  },
  poisson: {
    functions: poisson,
    task: 'regression',
    smooth: true,
    labels: {
      wanted: 'a number from 0 to 1e80',
      accepts: (label) => label >= 0 && label <= 1e80,
    },
  },
};

function checkedParameter(name: LossName, given: number | undefined): number {
  const rule = definitions[name].parameter;
  if (rule === undefined) {
    if (given === undefined) return 0;
    throw new UsageError(`loss '${name}' takes no parameter, but was given ${given}`);
  }
  const parameter = given ?? rule.initial;
  if (typeof parameter === 'number' && rule.accepts(parameter)) return parameter;
  throw new UsageError(
    `loss '${name}': ${rule.name} is ${String(parameter)}; it must be ${rule.wanted}`,
  );
}

function makeLoss(name: LossName, given?: number): Loss {
  const { functions, task, smooth, parameter: rule, labels } = definitions[name];
  const parameter = checkedParameter(name, given);
  return Object.freeze({
    name,
    task,
    smooth,
    parameter,
    ...(rule === undefined ? {} : { parameterName: rule.name }),
    ...(labels === undefined ? {} : { labels }),
    value: functions.value,
    derivative: functions.derivative,
    curvature: functions.curvature,
    conjugate: functions.conjugate,
    conjugateDerivative: functions.conjugateDerivative,
    conjugateLow: functions.conjugateLow,
    conjugateHigh: functions.conjugateHigh,
    dualStep: functions.dualStep,
  });
}

export const losses = Object.freeze({
  /** max(0, 1 − y u) */
  hinge: (): Loss => makeLoss('hinge'),
  /** max(0, 1 − y u)² */
  squaredHinge: (): Loss => makeLoss('squared-hinge'),
  /** The hinge with its corner rounded over a width `smoothing` (default 1, at most 1). */
  smoothedHinge: (options: { smoothing?: number } = {}): Loss =>
    makeLoss('smoothed-hinge', options.smoothing),
  /** log(1 + e^(−y u)) */
  logistic: (): Loss => makeLoss('logistic'),
  /** ½ (u − y)² */
  square: (): Loss => makeLoss('square'),
  /** ½ (u − y)² up to a distance `delta` (default 1), straight beyond. */
  huber: (options: { delta?: number } = {}): Loss => makeLoss('huber', options.delta),
  /** max(0, |u − y| − epsilon), epsilon = 0 by default. */
  absolute: (options: { epsilon?: number } = {}): Loss => makeLoss('absolute', options.epsilon),
  /** max(0, |u − y| − epsilon)², epsilon = 0 by default. */
  squaredAbsolute: (options: { epsilon?: number } = {}): Loss =>
    makeLoss('squared-absolute', options.epsilon),
  /** The pinball loss, whose best constant is a `quantile` (default 0.5) of the labels. */
  quantile: (options: { quantile?: number } = {}): Loss => makeLoss('quantile', options.quantile),
  /** e^u − y u up to a constant of the label: counts with the mean e^u. */
  poisson: (): Loss => makeLoss('poisson'),
});

function isLossName(name: string): name is LossName {
  return Object.hasOwn(definitions, name);
}

/** The loss the command line calls `name`; `parameter` is the number it has. */
export function lossByName(name: string, parameter?: number): Loss {
  if (isLossName(name)) return makeLoss(name, parameter);
  const similar = closest(name, lossNames);
  const hint = similar === undefined ? '' : `; did you mean '${similar}'?`;
  throw new UsageError(`unknown loss '${name}'${hint} (losses: ${lossNames.join(', ')})`);
}
