import { checkPositive, isSameLabel, type Label } from '../../data/labels.ts';
import { log } from '../../math/elementary.ts';
import { rank } from '../../math/ranking.ts';
import { log1pExp } from '../../math/scalars.ts';
import { CompensatedSum } from '../../math/vectors.ts';
import { traitsOf } from '../../problem/losses/loss.ts';
import type { Calibration, Model } from '../model.ts';
import { calibrated, isPositive } from '../predict/predict.ts';
import type { ClassificationMetrics } from './evaluate.ts';

/** A probability of 0 of the right class counts as this: 2⁻⁵². */
const leastProbability = 2 ** -52;

/** −log p of the right class. */
export function surprise(probability: number): number {
  return -log(Math.max(probability, leastProbability));
}

export interface MeasureOptions {
  /** Of two classes the one that the metrics are about; default: that of the model. */
  readonly positive?: Label;
}

/** Two classes: `indices` are 0 for the model's negative one and 1 for its positive one. */
export function measureBinary(
  { loss, calibration, classes = [] }: Pick<Model, 'loss' | 'calibration' | 'classes'>,
  scores: Float64Array,
  indices: Int32Array,
  { positive }: MeasureOptions = {},
): ClassificationMetrics {
  checkPositive(positive, classes);
  const own = positive === undefined || isSameLabel(classes[1], positive);
  const decides = (score: number) => isPositive(score) === own;
  const rows = scores.length;
  const ofClass = (index: number) =>
    scores.filter((_, row) => (indices[row] === 1) === (index === 1));
  const [negatives, positives] = own ? [ofClass(0), ofClass(1)] : [ofClass(1), ofClass(0)];
  const truePositive = positives.filter(decides).length;
  const falsePositive = negatives.filter(decides).length;
  const falseNegative = positives.length - truePositive;
  const trueNegative = negatives.length - falsePositive;
  const sides = own ? ([positives, negatives] as const) : ([negatives, positives] as const);
  const measured = calibration && measureCalibrated(calibration[0], ...sides);
  const logLoss = traitsOf(loss).givesProbabilities ? meanLogLoss(...sides) : null;
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
    logLoss,
    ...measured,
    confusion: { truePositive, falsePositive, trueNegative, falseNegative },
  };
}

/** (1/m) Σ log(1 + exp(−y u)), y = ±1: the mean of −log p of the true class. */
function meanLogLoss(positives: Float64Array, negatives: Float64Array): number {
  const losses = new CompensatedSum();
  for (const score of positives) losses.add(log1pExp(-score));
  for (const score of negatives) losses.add(log1pExp(score));
  return losses.total / (positives.length + negatives.length);
}

function measureCalibrated(
  calibration: Calibration,
  positives: Float64Array,
  negatives: Float64Array,
): { logLoss: number; brier: number } {
  const losses = new CompensatedSum();
  const squares = new CompensatedSum();
  const add = (score: number, y: number): void => {
    const p = calibrated(calibration, score);
    losses.add(surprise(y === 1 ? p : 1 - p));
    squares.add((p - y) ** 2);
  };
  for (const score of positives) add(score, 1);
  for (const score of negatives) add(score, 0);
  const rows = positives.length + negatives.length;
  return { logLoss: losses.total / rows, brier: squares.total / rows };
}
