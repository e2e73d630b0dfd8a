import type { Dataset } from '../data/dataset.ts';
import { DataError } from '../errors.ts';
import { rank } from '../math/ranking.ts';
import { log1pExp } from '../math/scalars.ts';
import { CompensatedSum, sum } from '../math/sum.ts';
import type { Model } from '../model/model.ts';
import type { ClassificationMetrics, Metrics, RegressionMetrics } from './metrics.ts';
import { isPositive } from './predict.ts';
import { scoreDataset } from './score.ts';

/** How well a model does on rows whose labels are known; throws a DataError for foreign labels. */
export function evaluate(model: Model, dataset: Dataset): Metrics {
  if (dataset.rows === 0) {
    throw new DataError(`${dataset.name}: no rows; at least one is needed to evaluate a model`);
  }
  const labels = joinLabels(dataset);
  if (model.classes) checkLabels(labels, model.classes, dataset.name);
  return measureScores(model, scoreDataset(model, dataset), labels);
}

/** The same, given the scores and labels of the rows. */
export function measureScores(
  { classes, loss }: Pick<Model, 'classes' | 'loss'>,
  scores: Float64Array,
  labels: Float64Array,
): Metrics {
  if (classes === undefined) return measureRegression(scores, labels);
  return measureClassification(scores, labels, classes[1], loss.name === 'logistic');
}

function joinLabels(dataset: Dataset): Float64Array {
  const labels = new Float64Array(dataset.rows);
  let row = 0;
  for (const part of dataset.parts) {
    labels.set(part.labels, row);
    row += part.labels.length;
  }
  return labels;
}

function checkLabels(labels: Float64Array, classes: readonly [number, number], name: string): void {
  const shown = 5;
  const foreign = new Set<number>();
  let firstRow = 0;
  for (let row = 0; row < labels.length && foreign.size <= shown; row++) {
    const label = labels[row];
    if (label === classes[0] || label === classes[1]) continue;
    if (foreign.size === 0) firstRow = row + 1;
    foreign.add(label);
  }
  if (foreign.size === 0) return;
  const names = [...foreign].slice(0, shown).join(', ');
  const more = foreign.size > shown ? ', …' : '';
  throw new DataError(
    `${name}: the model does not know label${foreign.size > 1 ? 's' : ''} ${names}${more} ` +
      `(first in row ${firstRow}); its classes are ${classes[0]} and ${classes[1]}`,
  );
}

function measureClassification(
  scores: Float64Array,
  labels: Float64Array,
  positiveLabel: number,
  logistic: boolean,
): ClassificationMetrics {
  const rows = scores.length;
  const isPositiveRow = (_: number, row: number): boolean => labels[row] === positiveLabel;
  const positives = scores.filter(isPositiveRow);
  const negatives = scores.filter((score, row) => !isPositiveRow(score, row));
  const truePositive = countCalledPositive(positives);
  const falsePositive = countCalledPositive(negatives);
  const falseNegative = positives.length - truePositive;
  const trueNegative = negatives.length - falsePositive;
  const logLoss = logistic ? meanLogLoss(positives, negatives) : null;
  const ranking = rank(positives, negatives);
  return {
    task: 'classification',
    rows,
    accuracy: (truePositive + trueNegative) / rows,
    error: (falsePositive + falseNegative) / rows,
    auc: ranking?.auc ?? null,
    auprc: ranking?.auprc ?? null,
    logLoss,
    confusion: { truePositive, falsePositive, trueNegative, falseNegative },
  };
}

function countCalledPositive(scores: Float64Array): number {
  let count = 0;
  for (const score of scores) if (isPositive(score)) count++;
  return count;
}

/** (1/m) Σ log(1 + exp(−y u)), y = ±1: the mean of −log p of the true class. */
function meanLogLoss(positives: Float64Array, negatives: Float64Array): number {
  const losses = new CompensatedSum();
  for (const score of positives) losses.add(log1pExp(-score));
  for (const score of negatives) losses.add(log1pExp(score));
  return losses.total / (positives.length + negatives.length);
}

/** mse = mean (u − y)², mae = mean |u − y|, r2 = 1 − mse / mean (y − ȳ)². */
function measureRegression(scores: Float64Array, labels: Float64Array): RegressionMetrics {
  const rows = labels.length;
  const squared = new CompensatedSum();
  const absolute = new CompensatedSum();
  for (let row = 0; row < rows; row++) {
    const residual = scores[row] - labels[row];
    squared.add(residual * residual);
    absolute.add(Math.abs(residual));
  }
  const spread = new CompensatedSum();
  const meanLabel = sum(labels) / rows;
  for (const label of labels) spread.add((label - meanLabel) ** 2);
  const allEqual = labels.every((label) => label === labels[0]);
  return {
    task: 'regression',
    rows,
    mse: squared.total / rows,
    mae: absolute.total / rows,
    r2: allEqual ? null : 1 - squared.total / spread.total,
  };
}
