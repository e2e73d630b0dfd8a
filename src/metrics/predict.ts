import type { Dataset } from '../data/dataset.ts';
import { UsageError } from '../errors.ts';
import { sigmoid } from '../math/scalars.ts';
import type { Model } from '../model/model.ts';
import { scoreDataset } from './score.ts';

/**
 * - `labels`: the class, as it was written in the training data; in regression the score.
 * - `scores`: u = ⟨w, x⟩ + b.
 * - `probabilities`: of the positive class, 1 / (1 + exp(−u)); logistic loss only.
 */
export type PredictionOutput = 'labels' | 'scores' | 'probabilities';

export interface PredictOptions {
  /** Default: labels. */
  output?: PredictionOutput;
}

/** One number per row, in input order. */
export function predict(
  model: Model,
  dataset: Dataset,
  options: PredictOptions = {},
): Float64Array {
  const output = options.output ?? 'labels';
  checkOutput(model, output);
  const scores = scoreDataset(model, dataset);
  if (output === 'scores') return scores;
  if (output === 'probabilities') return scores.map((score) => sigmoid(score));
  if (model.classes === undefined) return scores;
  const [negative, positive] = model.classes;
  return scores.map((score) => (isPositive(score) ? positive : negative));
}

/** Throws a UsageError for an output that this model cannot give; needs no data. */
export function checkOutput(model: Model, output: PredictionOutput): void {
  if (output !== 'labels' && output !== 'scores' && output !== 'probabilities') {
    throw new UsageError(
      `output ${JSON.stringify(output)}; wanted 'labels', 'scores' or 'probabilities'`,
    );
  }
  if (output === 'probabilities' && model.loss.name !== 'logistic') {
    throw new UsageError(
      `probabilities need a model trained with the logistic loss; this one has ` +
        `${model.loss.name}: train with --loss logistic, or ask for scores`,
    );
  }
}

/** The class a score stands for; a score of exactly 0 goes to the negative class. */
export function isPositive(score: number): boolean {
  return score > 0;
}
