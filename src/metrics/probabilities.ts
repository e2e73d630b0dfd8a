import { sigmoid } from '../math/scalars.ts';
import type { Model } from '../model/model.ts';
import { vectorCount } from '../model/model.ts';
import { calibrated } from './calibration.ts';

type Teller = Pick<Model, 'loss' | 'classes' | 'multiLabel' | 'calibration'>;

/** Whether scores of the model can be turned into probabilities. */
export function givesProbabilities({ classes, loss, calibration }: Teller): boolean {
  return classes !== undefined && (calibration !== undefined || loss.name === 'logistic');
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
