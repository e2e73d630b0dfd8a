import type { Dataset } from '../../data/dataset.ts';
import { DataError, UsageError } from '../../errors.ts';
import { sigmoid } from '../../math/scalars.ts';
import { intervalOf } from '../../math/vectors.ts';
import { meanOfScore, traitsOf } from '../../problem/losses/loss.ts';
import { type Calibration, type Label, type Model, vectorCount } from '../model.ts';
import { scoreBlocks, scoreDataset, scoreVectors } from './score.ts';

/** The probability of the positive class at a score. */
export function calibrated(calibration: Calibration, score: number): number {
  if (calibration.method === 'platt') {
    return sigmoid(-(calibration.slope * score + calibration.offset));
  }
  const { scores, probabilities } = calibration;
  const last = scores.length - 1;
  if (score <= scores[0]) return probabilities[0];
  if (score >= scores[last]) return probabilities[last];
  const low = intervalOf(scores, score);
  const part = (score - scores[low]) / (scores[low + 1] - scores[low]);
  return probabilities[low] + part * (probabilities[low + 1] - probabilities[low]);
}

type ProbabilityModel = Pick<Model, 'loss' | 'classes' | 'multiLabel' | 'calibration'>;

/** Whether scores of the model can be turned into probabilities. */
export function givesProbabilities({ classes, loss, calibration }: ProbabilityModel): boolean {
  return Boolean(classes && (calibration ?? traitsOf(loss).givesProbabilities));
}

/**
 * Replaces scores, rows × vectors, by probabilities: 1 / (1 + e^−u) or what the calibration says.
 * One vector gives that of the positive class. Those of three or more classes, each with a vector
 * against all the others, are divided by their sum; a sum of 0 gives all classes the same.
 */
export function becomeProbabilities(model: ProbabilityModel, scores: Float64Array): void {
  const { calibration } = model;
  const vectors = vectorCount(model);
  for (let start = 0; start < scores.length; start += vectors) {
    for (let vector = 0; vector < vectors; vector++) {
      const score = scores[start + vector];
      scores[start + vector] = calibration
        ? calibrated(calibration[vector], score)
        : sigmoid(score);
    }
    if (vectors === 1 || model.multiLabel) continue;
    let sum = 0;
    for (let index = start; index < start + vectors; index++) sum += scores[index];
    for (let index = start; index < start + vectors; index++) {
      scores[index] = sum > 0 ? scores[index] / sum : 1 / vectors;
    }
  }
}

/**
 * - `labels`: the class, as it was written in the training data; in regression the value.
 * - `scores`: u = ⟨w, x⟩ + b, of every vector of weights.
 * - `probabilities`: of the positive class, or of each class where there are not two.
 */
export type PredictionOutput = 'labels' | 'scores' | 'probabilities';

export interface PredictOptions {
  /** Default: labels. */
  output?: PredictionOutput;
}

/**
 * Predictions in input order. Labels are numbers where all classes are, otherwise texts; of a
 * multi-label model a text holds all classes of the row, separated by commas. Scores and
 * probabilities are one number per row, or per row and class where there are not two classes.
 */
export function predict(
  model: Model,
  dataset: Dataset,
  options: PredictOptions & { output: 'scores' | 'probabilities' },
): Float64Array;
export function predict(
  model: Model,
  dataset: Dataset,
  options?: PredictOptions,
): Float64Array | string[];
export function predict(
  model: Model,
  dataset: Dataset,
  options: PredictOptions = {},
): Float64Array | string[] {
  const output = options.output ?? 'labels';
  checkOutput(model, output);
  if (output === 'labels') return predictLabels(model, dataset);
  const scores = scoreVectors(model, dataset);
  if (output === 'probabilities') becomeProbabilities(model, scores);
  return scores;
}

function predictLabels(model: Model, dataset: Dataset): Float64Array | string[] {
  const { classes } = model;
  if (classes === undefined) return meansOf(model, scoreDataset(model, dataset), dataset.name);
  const numbers = !model.multiLabel && classes.every((label) => typeof label === 'number');
  const labels = numbers ? new Float64Array(dataset.rows) : new Array<string>(dataset.rows);
  const vectors = vectorCount(model);
  for (const { firstRow, rows, scores } of scoreBlocks(model, dataset)) {
    for (let row = 0; row < rows; row++) {
      const label = labelAt(model, classes, scores, row * vectors);
      labels[firstRow + row] = numbers ? label : String(label);
    }
  }
  return labels;
}

/** What a regression model predicts for a score. */
export function meanOf({ loss }: Pick<Model, 'loss'>, score: number): number {
  const mean = meanOfScore(traitsOf(loss).link, score);
  if (mean < Infinity) return mean;
  throw new DataError(`the prediction is e^${score}, too large a number`);
}

/** The same for the scores of rows from `firstRow` on, which an error names. */
export function meansOf(
  { loss }: Pick<Model, 'loss'>,
  scores: Float64Array,
  name: string,
  firstRow = 0,
): Float64Array {
  const { link } = traitsOf(loss);
  if (link !== 'log') return scores;
  const means = scores.map((score) => meanOfScore(link, score));
  const row = means.indexOf(Infinity);
  if (row < 0) return means;
  throw new DataError(
    `${name}: the prediction of row ${firstRow + row + 1} is e^${scores[row]}, too large a number`,
  );
}

/** The label that the scores from `start` on give; several classes are separated by commas. */
export function labelAt(
  model: DecidingModel,
  classes: readonly Label[],
  scores: Float64Array,
  start: number,
): Label {
  if (model.multiLabel) {
    return classes.filter((_, index) => isPositive(scores[start + index])).join(',');
  }
  if (classes.length === 2) return classes[decides(model, scores[start]) ? 1 : 0];
  return classes[indexOfLargest(scores, start, classes.length)];
}

/** The first one of equals. */
export function indexOfLargest(scores: Float64Array, start: number, count: number): number {
  let largest = 0;
  for (let index = 1; index < count; index++) {
    if (scores[start + index] > scores[start + largest]) largest = index;
  }
  return largest;
}

/** Throws a UsageError for an output that this model cannot give; needs no data. */
export function checkOutput(model: Model, output: PredictionOutput): void {
  if (output !== 'labels' && output !== 'scores' && output !== 'probabilities') {
    throw new UsageError(
      `output ${JSON.stringify(output)}; expected 'labels', 'scores' or 'probabilities'`,
    );
  }
  if (output !== 'probabilities' || givesProbabilities(model)) return;
  throw new UsageError(
    model.task === 'regression'
      ? `probabilities need a model that classifies; this one is a regression (${model.loss.name})`
      : `probabilities need a model trained with the logistic loss, or calibrated; this one has ` +
          `${model.loss.name}: train with --loss logistic or --calibrate, or ask for scores`,
  );
}

type DecidingModel = Pick<Model, 'loss' | 'classes' | 'multiLabel' | 'calibration' | 'threshold'>;

/** Whether a model of two classes gives the positive one to a score. */
export function decides(model: DecidingModel, score: number): boolean {
  const { threshold, calibration } = model;
  if (threshold === undefined) return isPositive(score);
  if (!givesProbabilities(model)) return score > threshold;
  return (calibration ? calibrated(calibration[0], score) : sigmoid(score)) > threshold;
}

/** Whether a score gives the positive class; exactly 0 gives the negative one. */
export function isPositive(score: number): boolean {
  return score > 0;
}
