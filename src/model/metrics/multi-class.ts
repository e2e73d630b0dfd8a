import { rank } from '../../math/ranking.ts';
import { CompensatedSum } from '../../math/sum.ts';
import { ClassCounts, mean } from '../../metrics/class-counts.ts';
import { becomeProbabilities, givesProbabilities } from '../../metrics/probabilities.ts';
import type { Label, Model } from '../model.ts';
import { placeOfLargest } from '../predict/predict.ts';
import type { ScoreBlock } from '../predict/score.ts';
import { surprise } from './binary.ts';
import type { Confusion, MulticlassMetrics } from './evaluate.ts';

/** Scores row by row, once, and vector by vector: rows × vectors may be too many to keep. */
export interface ScoreSource {
  readonly blocks: Iterable<ScoreBlock>;
  vector(vector: number): Float64Array;
}

/** `places` are those of the rows' labels among the classes. */
export function measureMulticlass(
  model: Pick<Model, 'loss' | 'classes' | 'calibration'>,
  classes: readonly Label[],
  places: Int32Array,
  source: ScoreSource,
): MulticlassMetrics {
  const rows = places.length;
  const { predicted, logLoss, brier } = walk(model, classes.length, places, source.blocks);
  const counts = new ClassCounts(classes.length);
  for (let row = 0; row < rows; row++) {
    counts.support[places[row]]++;
    counts.predicted[predicted[row]]++;
    if (places[row] === predicted[row]) counts.right[places[row]]++;
  }
  const right = counts.right.reduce((sum, count) => sum + count, 0);
  const each = counts.metricsOf(classes);
  const met = each.filter((one) => one.support + one.predicted > 0);
  return {
    task: 'multi-class',
    rows,
    accuracy: right / rows,
    error: (rows - right) / rows,
    macroF1: mean(met.map(({ f1 }) => f1)),
    weightedF1: each.reduce((sum, { support, f1 }) => sum + support * f1, 0) / rows,
    auc: meanAuc(places, counts.support, source),
    logLoss: givesProbabilities(model) ? logLoss : null,
    ...(model.calibration && { brier }),
    classes: each,
    confusion: confusionOf(classes, places, predicted),
  };
}

interface Walked {
  readonly predicted: Int32Array;
  readonly logLoss: number;
  readonly brier: number;
}

function walk(
  model: Pick<Model, 'loss' | 'classes' | 'calibration'>,
  vectors: number,
  places: Int32Array,
  blocks: Iterable<ScoreBlock>,
): Walked {
  const predicted = new Int32Array(places.length);
  const losses = new CompensatedSum();
  const squares = new CompensatedSum();
  const probable = givesProbabilities(model);
  for (const { firstRow, rows, scores } of blocks) {
    for (let row = 0; row < rows; row++) {
      predicted[firstRow + row] = placeOfLargest(scores, row * vectors, vectors);
    }
    if (!probable) continue;
    const probabilities = scores.slice();
    becomeProbabilities(model, probabilities);
    for (let row = 0; row < rows; row++) {
      const start = row * vectors;
      const place = places[firstRow + row];
      losses.add(surprise(probabilities[start + place]));
      if (!model.calibration) continue;
      for (let k = 0; k < vectors; k++) {
        squares.add((probabilities[start + k] - (k === place ? 1 : 0)) ** 2);
      }
    }
  }
  const { length } = places;
  return { predicted, logLoss: losses.total / length, brier: squares.total / length };
}

/** The mean over classes that some rows have and some have not. */
function meanAuc(places: Int32Array, support: Float64Array, source: ScoreSource): number | null {
  const areas: number[] = [];
  for (let vector = 0; vector < support.length; vector++) {
    if (support[vector] === 0 || support[vector] === places.length) continue;
    const scores = source.vector(vector);
    const positives = scores.filter((_, row) => places[row] === vector);
    const negatives = scores.filter((_, row) => places[row] !== vector);
    areas.push(rank(positives, negatives)!.auc);
  }
  return areas.length === 0 ? null : mean(areas);
}

function confusionOf(
  classes: readonly Label[],
  places: Int32Array,
  predicted: Int32Array,
): Confusion[] {
  const count = classes.length;
  const cells = new Map<number, number>();
  for (let row = 0; row < places.length; row++) {
    const cell = places[row] * count + predicted[row];
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
