import { checkPositive, isSameLabel, type Label } from '../../data/labels.ts';
import { DataError, UsageError } from '../../errors.ts';
import { log } from '../../math/elementary.ts';
import { rank } from '../../math/ranking.ts';
import { log1pExp, sigmoid } from '../../math/scalars.ts';
import { CompensatedSum } from '../../math/vectors.ts';
import { traitsOf } from '../../problem/losses/loss.ts';
import type { Model } from '../model.ts';
import { calibrated, decides } from '../predict/predict.ts';
import type { ClassificationMetrics } from './evaluate.ts';
import { chooseThreshold, decidingValues, type ThresholdGoal } from './threshold.ts';

/** A probability of 0 of the right class counts as this: 2⁻⁵². */
const leastProbability = 2 ** -52;

/** −log p of the right class. */
export function surprise(probability: number): number {
  return -log(Math.max(probability, leastProbability));
}

export interface MeasureOptions {
  /** Of two classes the one that the metrics are about; default: that of the model. */
  readonly positive?: Label | undefined;
  /** Of two classes what a probability, or else a score, must exceed; default: that of the model. */
  readonly threshold?: number | undefined;
  /** The threshold that is best for this on the rows themselves. */
  readonly thresholdFor?: ThresholdGoal | undefined;
}

/** Two classes: `indices` are 0 for the model's negative one and 1 for its positive one. */
export function measureBinary(
  model: Pick<Model, 'loss' | 'calibration' | 'classes' | 'threshold'>,
  scores: Float64Array,
  indices: Int32Array,
  { positive, threshold, thresholdFor }: MeasureOptions = {},
): ClassificationMetrics {
  const { loss, calibration, classes = [] } = model;
  const own = isOwnClass(classes, { positive, threshold, thresholdFor });
  const deciding = withThreshold(model, scores, indices, { threshold, thresholdFor });
  const isCalled = (score: number) => decides(deciding, score) === own;
  const rows = scores.length;
  const ofClass = (index: number) =>
    scores.filter((_, row) => (indices[row] === 1) === (index === 1));
  const [negatives, positives] = own ? [ofClass(0), ofClass(1)] : [ofClass(1), ofClass(0)];
  const truePositive = positives.filter(isCalled).length;
  const falsePositive = negatives.filter(isCalled).length;
  const falseNegative = positives.length - truePositive;
  const trueNegative = negatives.length - falsePositive;
  const sides = own ? ([positives, negatives] as const) : ([negatives, positives] as const);
  const isLogistic = traitsOf(loss).givesProbabilities;
  const measured = calibration
    ? measureProbabilities((score) => calibrated(calibration[0], score), ...sides)
    : isLogistic && {
        ...measureProbabilities(sigmoid, ...sides),
        // Without the rounding of 1 − p.
        logLoss: meanLogLoss(...sides),
      };
  // Sorts the scores, so it comes last.
  const turned = (side: Float64Array) => (own ? side : side.map((score) => -score));
  const ranking = rank(turned(positives), turned(negatives));
  return {
    task: 'classification',
    rows,
    positive: own ? classes[1] : classes[0],
    accuracy: (truePositive + trueNegative) / rows,
    error: (falsePositive + falseNegative) / rows,
    auc: ranking?.auc ?? null,
    auprc: ranking?.auprc ?? null,
    // A threshold is about the class of the model.
    ...(own && deciding.threshold !== undefined && { threshold: deciding.threshold }),
    ...ratesOf({ truePositive, falsePositive, trueNegative, falseNegative }),
    logLoss: null,
    ...measured,
    confusion: { truePositive, falsePositive, trueNegative, falseNegative },
  };
}

/** Whether the metrics are about the class that the model calls positive; refuses what fits no model. */
export function isOwnClass(
  classes: readonly Label[],
  { positive, threshold, thresholdFor }: MeasureOptions,
): boolean {
  checkPositive(positive, classes);
  if (threshold !== undefined && !Number.isFinite(threshold)) {
    throw new UsageError(`the threshold is ${String(threshold)}; expected a finite number`);
  }
  const own = positive === undefined || isSameLabel(classes[1], positive);
  if (own || (threshold === undefined && thresholdFor === undefined)) return own;
  throw new UsageError(
    `a threshold is for ${classes[1]}, the positive class of the model, and not for ${classes[0]}`,
  );
}

/** (1/m) Σ log(1 + exp(−y u)), y = ±1: the mean of −log p of the true class. */
function meanLogLoss(positives: Float64Array, negatives: Float64Array): number {
  const losses = new CompensatedSum();
  for (const score of positives) losses.add(log1pExp(-score));
  for (const score of negatives) losses.add(log1pExp(score));
  return losses.total / (positives.length + negatives.length);
}

/** The model with the threshold that is given, or that serves the goal best on these rows. */
function withThreshold<Given extends Pick<Model, 'loss' | 'calibration' | 'classes' | 'threshold'>>(
  model: Given,
  scores: Float64Array,
  indices: Int32Array,
  { threshold, thresholdFor }: MeasureOptions,
): Given {
  if (threshold !== undefined) return { ...model, threshold };
  if (thresholdFor === undefined) return model;
  const values = decidingValues(model, scores);
  const chosen = chooseThreshold(thresholdFor, values, (row) => indices[row] === 1);
  if (chosen !== undefined) return { ...model, threshold: chosen };
  throw new DataError(`no threshold reaches ${thresholdFor} on these rows`);
}

type Counts = ClassificationMetrics['confusion'];

/** Shares of rows; 0 where there are none to share. */
function ratesOf({ truePositive, falsePositive, trueNegative, falseNegative }: Counts) {
  const share = (part: number, other: number) => (part + other > 0 ? part / (part + other) : 0);
  const products = [
    truePositive + falsePositive,
    truePositive + falseNegative,
    trueNegative + falsePositive,
    trueNegative + falseNegative,
  ].map(Math.sqrt);
  const size = products.reduce((product, one) => product * one, 1);
  const difference = truePositive * trueNegative - falsePositive * falseNegative;
  return {
    precision: share(truePositive, falsePositive),
    recall: share(truePositive, falseNegative),
    f1: share(2 * truePositive, falsePositive + falseNegative),
    specificity: share(trueNegative, falsePositive),
    mcc: size > 0 ? difference / size : 0,
  };
}

function measureProbabilities(
  probabilityOf: (score: number) => number,
  positives: Float64Array,
  negatives: Float64Array,
): { logLoss: number; brier: number } {
  const losses = new CompensatedSum();
  const squares = new CompensatedSum();
  const add = (score: number, y: number): void => {
    const p = probabilityOf(score);
    losses.add(surprise(y === 1 ? p : 1 - p));
    squares.add((p - y) ** 2);
  };
  for (const score of positives) add(score, 1);
  for (const score of negatives) add(score, 0);
  const rows = positives.length + negatives.length;
  return { logLoss: losses.total / rows, brier: squares.total / rows };
}
