import type { Dataset } from '../../data/dataset.ts';
import { DataError, UsageError } from '../../errors.ts';
import { sigmoid } from '../../math/scalars.ts';
import { meanOfScore, traitsOf } from '../../problem/losses/loss.ts';
import { type Calibration, type Label, type Model, vectorCount } from '../model.ts';
import { scoreBlocks, scoreDataset, scoreVectors } from './score.ts';

/** The probability that a score stands for. */
export function calibrated(calibration: Calibration, score: number): number {
  if (calibration.method === 'platt') {
    return sigmoid(-(calibration.slope * score + calibration.offset));
  }
  const { scores, probabilities } = calibration;
  const last = scores.length - 1;
  if (score <= scores[0]) return probabilities[0];
  if (score >= scores[last]) return probabilities[last];
  // The last point at or below the score, by halving.
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (scores[middle] <= score) low = middle;
    else high = middle;
  }
  const part = (score - scores[low]) / (scores[high] - scores[low]);
  return probabilities[low] + part * (probabilities[high] - probabilities[low]);
}

type Teller = Pick<Model, 'loss' | 'classes' | 'multiLabel' | 'calibration'>;

/** Whether scores of the model can be turned into probabilities. */
export function givesProbabilities({ classes, loss, calibration }: Teller): boolean {
  return (
    classes !== undefined &&
    (calibration !== undefined || traitsOf(loss).givesProbabilities === true)
  );
}

/**
 * Replaces scores, rows × vectors, by probabilities: 1 / (1 + e^−u) or what the calibration says.
 * One vector gives that of the positive class. Of three or more classes, each told from the others
 * by a vector of its own, they are divided by their sum; a row whose sum is 0 belongs to all alike.
 */
export function becomeProbabilities(model: Teller, scores: Float64Array): void {
  const { calibration } = model;
  const vectors = vectorCount(model);
  for (let start = 0; start < scores.length; start += vectors) {
    for (let vector = 0; vector < vectors; vector++) {
      const score = scores[start + vector];
      scores[start + vector] = calibration
        ? calibrated(calibration[vector], score)
        : sigmoid(score);
    }
    if (vectors > 1 && !model.multiLabel) shareOut(scores, start, start + vectors);
  }
}

function shareOut(values: Float64Array, start: number, end: number): void {
  let sum = 0;
  for (let place = start; place < end; place++) sum += values[place];
  for (let place = start; place < end; place++) {
    values[place] = sum > 0 ? values[place] / sum : 1 / (end - start);
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

/** What a regression model predicts for its scores: the mean, which overflows long after them. */
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
    `${name}: the prediction of row ${firstRow + row + 1} is e^${scores[row]}, which is too large a number`,
  );
}

/** What the scores from `start` on stand for; several classes are separated by commas. */
export function labelAt(
  model: Pick<Model, 'multiLabel'>,
  classes: readonly Label[],
  scores: Float64Array,
  start: number,
): Label {
  if (model.multiLabel) {
    return classes.filter((_, place) => isPositive(scores[start + place])).join(',');
  }
  if (classes.length === 2) return classes[isPositive(scores[start]) ? 1 : 0];
  return classes[indexOfLargest(scores, start, classes.length)];
}

/** Of equal ones the first. */
export function indexOfLargest(scores: Float64Array, start: number, count: number): number {
  let largest = 0;
  for (let place = 1; place < count; place++) {
    if (scores[start + place] > scores[start + largest]) largest = place;
  }
  return largest;
}

/** Throws a UsageError for an output that this model cannot give; needs no data. */
export function checkOutput(model: Model, output: PredictionOutput): void {
  if (output !== 'labels' && output !== 'scores' && output !== 'probabilities') {
    throw new UsageError(
      `output ${JSON.stringify(output)}; wanted 'labels', 'scores' or 'probabilities'`,
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

/** The class a score stands for; a score of exactly 0 goes to the negative class. */
export function isPositive(score: number): boolean {
  return score > 0;
}
