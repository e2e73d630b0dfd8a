import { rank } from '../../math/ranking.ts';
import { CompensatedSum, sum } from '../../math/vectors.ts';
import type { Label, Model } from '../model.ts';
import {
  becomeProbabilities,
  givesProbabilities,
  indexOfLargest,
  isPositive,
} from '../predict/predict.ts';
import type { ScoreBlock } from '../predict/score.ts';
import { surprise } from './binary.ts';
import type { ClassSets } from './classes.ts';
import type { ClassMetrics, Confusion, MulticlassMetrics, MultiLabelMetrics } from './evaluate.ts';

/** For each class: rows that have it, rows for which it is predicted, and rows of both kinds. */
class ClassCounts {
  readonly support: Float64Array;
  readonly predicted: Float64Array;
  readonly right: Float64Array;

  constructor(classes: number) {
    this.support = new Float64Array(classes);
    this.predicted = new Float64Array(classes);
    this.right = new Float64Array(classes);
  }

  metricsOf(classes: readonly Label[]): ClassMetrics[] {
    return classes.map((label, index) => {
      const support = this.support[index];
      const predicted = this.predicted[index];
      const right = this.right[index];
      return {
        class: label,
        support,
        predicted,
        precision: quotient(right, predicted),
        recall: quotient(right, support),
        f1: quotient(2 * right, support + predicted),
      };
    });
  }
}

/** 0 where there is nothing to divide by. */
function quotient(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** NaN for an empty list. */
function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

/** Scores row by row, once, and vector by vector: rows × vectors may not fit into memory. */
interface ScoreSource {
  readonly blocks: Iterable<ScoreBlock>;
  vector(vector: number): Float64Array;
}

/** `indices` are the rows' classes. */
export function measureMulticlass(
  model: Pick<Model, 'loss' | 'classes' | 'calibration'>,
  classes: readonly Label[],
  indices: Int32Array,
  source: ScoreSource,
): MulticlassMetrics {
  const rows = indices.length;
  const { predicted, logLoss, brier } = walk(model, classes.length, indices, source.blocks);
  const counts = new ClassCounts(classes.length);
  for (let row = 0; row < rows; row++) {
    counts.support[indices[row]]++;
    counts.predicted[predicted[row]]++;
    if (indices[row] === predicted[row]) counts.right[indices[row]]++;
  }
  const right = sum(counts.right);
  const each = counts.metricsOf(classes);
  const met = each.filter((one) => one.support + one.predicted > 0);
  return {
    task: 'multi-class',
    rows,
    accuracy: right / rows,
    error: (rows - right) / rows,
    macroF1: mean(met.map(({ f1 }) => f1)),
    weightedF1: each.reduce((total, { support, f1 }) => total + support * f1, 0) / rows,
    auc: meanAuc(indices, counts.support, source),
    logLoss: givesProbabilities(model) ? logLoss : null,
    ...(givesProbabilities(model) && { brier }),
    classes: each,
    confusion: confusionOf(classes, indices, predicted),
  };
}

/** Predictions and the means of losses, in one pass over the scores. */
function walk(
  model: Pick<Model, 'loss' | 'classes' | 'calibration'>,
  vectors: number,
  indices: Int32Array,
  blocks: Iterable<ScoreBlock>,
): { predicted: Int32Array; logLoss: number; brier: number } {
  const predicted = new Int32Array(indices.length);
  const losses = new CompensatedSum();
  const squares = new CompensatedSum();
  const probable = givesProbabilities(model);
  for (const { firstRow, rows, scores } of blocks) {
    for (let row = 0; row < rows; row++) {
      predicted[firstRow + row] = indexOfLargest(scores, row * vectors, vectors);
    }
    if (!probable) continue;
    const probabilities = scores.slice();
    becomeProbabilities(model, probabilities);
    for (let row = 0; row < rows; row++) {
      const start = row * vectors;
      const index = indices[firstRow + row];
      losses.add(surprise(probabilities[start + index]));
      for (let k = 0; k < vectors; k++) {
        squares.add((probabilities[start + k] - (k === index ? 1 : 0)) ** 2);
      }
    }
  }
  const { length } = indices;
  return { predicted, logLoss: losses.total / length, brier: squares.total / length };
}

/** The mean over classes that some rows have and some have not. */
function meanAuc(indices: Int32Array, support: Float64Array, source: ScoreSource): number | null {
  const areas: number[] = [];
  for (let vector = 0; vector < support.length; vector++) {
    if (support[vector] === 0 || support[vector] === indices.length) continue;
    const scores = source.vector(vector);
    const positives = scores.filter((_, row) => indices[row] === vector);
    const negatives = scores.filter((_, row) => indices[row] !== vector);
    areas.push(rank(positives, negatives)!.auc);
  }
  return areas.length === 0 ? null : mean(areas);
}

function confusionOf(
  classes: readonly Label[],
  indices: Int32Array,
  predicted: Int32Array,
): Confusion[] {
  const count = classes.length;
  const cells = new Map<number, number>();
  for (let row = 0; row < indices.length; row++) {
    const cell = indices[row] * count + predicted[row];
    cells.set(cell, (cells.get(cell) ?? 0) + 1);
  }
  return [...cells]
    .sort(([left], [right]) => left - right)
    .map(([cell, rows]) => ({
      label: classes[Math.floor(cell / count)],
      predicted: classes[cell % count],
      rows,
    }));
}

/** Rows with any number of classes each; `truth` are those that they have. */
export function measureMultiLabel(
  classes: readonly Label[],
  blocks: Iterable<ScoreBlock>,
  truth: ClassSets,
): MultiLabelMetrics {
  const rows = truth.offsets.length - 1;
  const counts = new ClassCounts(classes.length);
  const wrong = countDecisions(counts, blocks, truth);
  const each = counts.metricsOf(classes);
  return {
    task: 'multi-label',
    rows,
    microF1: quotient(2 * sum(counts.right), sum(counts.support) + sum(counts.predicted)),
    macroF1: mean(each.map(({ f1 }) => f1)),
    subsetAccuracy: (rows - wrong.rows) / rows,
    hammingLoss: wrong.decisions / (rows * classes.length),
    classes: each,
  };
}

/** Fills the counts; returns the numbers of wrong decisions and of rows with one. */
function countDecisions(
  counts: ClassCounts,
  blocks: Iterable<ScoreBlock>,
  { offsets, indices }: ClassSets,
): { decisions: number; rows: number } {
  const vectors = counts.support.length;
  const has = new Uint8Array(vectors);
  const wrong = { decisions: 0, rows: 0 };
  for (const { firstRow, rows, scores } of blocks) {
    for (let row = 0; row < rows; row++) {
      const own = indices.subarray(offsets[firstRow + row], offsets[firstRow + row + 1]);
      for (const index of own) has[index] = 1;
      const before = wrong.decisions;
      for (let index = 0; index < vectors; index++) {
        const called = isPositive(scores[row * vectors + index]) ? 1 : 0;
        counts.support[index] += has[index];
        counts.predicted[index] += called;
        counts.right[index] += has[index] * called;
        if (has[index] !== called) wrong.decisions++;
      }
      if (wrong.decisions > before) wrong.rows++;
      has.fill(0);
    }
  }
  return wrong;
}
