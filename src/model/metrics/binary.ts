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

/** Two classes: `indices` are 0 for the negative one and 1 for the positive one. */
export function measureBinary(
  { loss, calibration }: Pick<Model, 'loss' | 'calibration'>,
  scores: Float64Array,
  indices: Int32Array,
): ClassificationMetrics {
  const rows = scores.length;
  const positives = scores.filter((_, row) => indices[row] === 1);
  const negatives = scores.filter((_, row) => indices[row] !== 1);
  const truePositive = positives.filter(isPositive).length;
  const falsePositive = negatives.filter(isPositive).length;
  const falseNegative = positives.length - truePositive;
  const trueNegative = negatives.length - falsePositive;
  const measured = calibration && measureCalibrated(calibration[0], positives, negatives);
  const logLoss = traitsOf(loss).givesProbabilities ? meanLogLoss(positives, negatives) : null;
  // Sorts the scores, so it comes last.
  const ranking = rank(positives, negatives);
  return {
    task: 'classification',
    rows,
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
