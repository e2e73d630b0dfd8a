import { DataError, UsageError } from '../../errors.ts';
import { meanOfScore, traitsOf } from '../../problem/losses/loss.ts';
import { type Label, type Model, vectorCount } from '../model.ts';
import { becomeProbabilities, givesProbabilities, labelAt } from './predict.ts';
import { type Row, RowBuffer } from './row-buffer.ts';

/** What scores and predictions depend on. */
export type ScoringModel = Pick<
  Model,
  | 'task'
  | 'loss'
  | 'classes'
  | 'multiLabel'
  | 'columns'
  | 'weights'
  | 'intercepts'
  | 'recipe'
  | 'featureNames'
  | 'unitRows'
  | 'calibration'
>;

/**
 * Scores rows one at a time, with the bits that `predict` of the library has for a data set of the
 * same rows. It works in buffers of its own, so a row costs no more memory than its result.
 */
export class Predictor {
  readonly task: Model['task'];
  /** In the order of scores and probabilities; undefined in regression. */
  readonly classes: readonly Label[] | undefined;
  readonly columns: number;
  /** Whether `probabilities` has an answer. */
  readonly givesProbabilities: boolean;
  readonly #model: ScoringModel;
  readonly #buffer: RowBuffer;
  readonly #scores: Float64Array;

  constructor(model: ScoringModel) {
    this.task = model.task;
    this.classes = model.classes;
    this.columns = model.columns;
    this.givesProbabilities = givesProbabilities(model);
    this.#model = model;
    this.#buffer = new RowBuffer(model);
    this.#scores = new Float64Array(vectorCount(model));
  }

  /** u = ⟨w, x⟩ + b, of a model with one vector of weights: two classes, or regression. */
  score(row: Row): number {
    if (this.#scores.length > 1) {
      throw new UsageError(`a row has ${this.#scores.length} scores; ask for scores(row)`);
    }
    return this.#score(row)[0];
  }

  /** The scores of all vectors of weights: one per class, or a single one as `score` has it. */
  scores(row: Row): number[] {
    return [...this.#score(row)];
  }

  /**
   * The class, or in regression the value. Of a model that gives several labels: all classes of the
   * row, separated by commas.
   */
  predict(row: Row): Label {
    const scores = this.#score(row);
    if (this.classes !== undefined) return labelAt(this.#model, this.classes, scores, 0);
    const mean = meanOfScore(traitsOf(this.#model.loss).link, scores[0]);
    if (mean < Infinity) return mean;
    throw new DataError(`the prediction is e^${scores[0]}, which is too large a number`);
  }

  /** By class; of one label they sum to 1. */
  probabilities(row: Row): number[] {
    if (!this.givesProbabilities) {
      throw new UsageError('probabilities need the logistic loss, or a calibrated model');
    }
    const scores = this.#score(row);
    becomeProbabilities(this.#model, scores);
    if (scores.length > 1 || this.#model.multiLabel) return [...scores];
    return [1 - scores[0], scores[0]];
  }

  /** The same operations in the same order as in score.ts: the bits are the same. */
  #score(row: Row): Float64Array {
    const buffer = this.#buffer;
    buffer.read(row);
    const { indices, values, count } = buffer;
    const { weights, intercepts, columns, unitRows } = this.#model;
    const scores = this.#scores;
    let length = 1;
    if (unitRows) {
      let square = 0;
      for (let entry = 0; entry < count; entry++) square += values[entry] * values[entry];
      if (square > 0) length = Math.sqrt(square);
    }
    for (let vector = 0; vector < scores.length; vector++) {
      const first = vector * columns;
      let sum = 0;
      for (let entry = 0; entry < count; entry++) {
        sum += weights[first + indices[entry]] * values[entry];
      }
      const score = sum / length + intercepts[vector];
      if (!Number.isFinite(score)) {
        throw new DataError(`the score is ${score}: values times weights overflow`);
      }
      scores[vector] = score;
    }
    return scores;
  }
}
