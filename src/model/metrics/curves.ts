import type { Dataset } from '../../data/dataset.ts';
import { DataError, UsageError } from '../../errors.ts';
import { type Label, type Model, positiveClass } from '../model.ts';
import { decides, givesProbabilities } from '../predict/predict.ts';
import { scoreDataset } from '../predict/score.ts';
import { isOwnClass, type MeasureOptions } from './binary.ts';
import { classIndices, labelsOf } from './classes.ts';
import { decidingValues } from './threshold.ts';

/** Rows whose probability lies in one of ten equal parts of 0 to 1. */
export interface CalibrationBin {
  /** Mean probability, and the share of the rows that are positive. */
  readonly predicted: number;
  readonly observed: number;
  readonly rows: number;
}

/** Of a model of two classes, how its mistakes depend on the threshold. */
export interface Curves {
  readonly positive: Label;
  /** The share of all rows that are positive. */
  readonly rate: number;
  /** Of ever lower thresholds: false positives among the negative rows, true ones among the positive. */
  readonly roc: readonly (readonly [falsePositives: number, recall: number])[];
  readonly precisionRecall: readonly (readonly [recall: number, precision: number])[];
  /** The point of each curve where the threshold of the model is. */
  readonly at: {
    readonly falsePositives: number;
    readonly recall: number;
    readonly precision: number;
  };
  /** Of models with probabilities. */
  readonly calibration?: readonly CalibrationBin[];
}

const bins = 10;

/** Curves of the rows of a data set whose labels are known; both classes must occur. */
export function curvesOf(
  model: Model,
  dataset: Dataset,
  options: Pick<MeasureOptions, 'positive' | 'threshold'> = {},
): Curves {
  const own = positiveClass(model);
  if (own === undefined)
    throw new UsageError('curves are those of two classes; the model has others');
  const classes = model.classes!;
  const isOwn = isOwnClass(classes, options);
  const { threshold = model.threshold } = options;
  const scores = scoreDataset(model, dataset);
  const values = decidingValues(model, scores);
  const turned = isOwn ? scores : scores.map((score) => -score);
  const indices = classIndices(classes, dataset, labelsOf(dataset));
  const isPositive = (row: number) => (indices[row] === 1) === isOwn;
  const positives = indices.filter((_, row) => isPositive(row)).length;
  const negatives = indices.length - positives;
  if (positives === 0 || negatives === 0) {
    throw new DataError(`${dataset.name}: curves need rows of both classes`);
  }
  const deciding = { ...model, ...(threshold !== undefined && { threshold }) };
  const called = scores.reduce<[number, number]>(
    (counts, score, row) => {
      if (decides(deciding, score) === isOwn) counts[isPositive(row) ? 0 : 1] += 1;
      return counts;
    },
    [0, 0],
  );
  const probable = givesProbabilities(model);
  const probabilities = isOwn ? values : values.map((value) => 1 - value);
  return {
    positive: isOwn ? own : classes[0],
    rate: positives / indices.length,
    ...sweep(turned, isPositive, positives, negatives),
    at: {
      falsePositives: called[1] / negatives,
      recall: called[0] / positives,
      precision: called[0] + called[1] > 0 ? called[0] / (called[0] + called[1]) : 0,
    },
    ...(probable && { calibration: binsOf(probabilities, isPositive) }),
  };
}

/** The shares after each distinct score, from high to low. */
function sweep(
  scores: Float64Array,
  isPositive: (row: number) => boolean,
  positives: number,
  negatives: number,
): Pick<Curves, 'roc' | 'precisionRecall'> {
  const order = Uint32Array.from(scores, (_, row) => row);
  order.sort((left, right) => scores[right] - scores[left]);
  const roc: [number, number][] = [[0, 0]];
  const precisionRecall: [number, number][] = [];
  let found = 0;
  for (let at = 0; at < order.length; at++) {
    if (isPositive(order[at])) found++;
    if (at + 1 < order.length && scores[order[at + 1]] === scores[order[at]]) continue;
    roc.push([(at + 1 - found) / negatives, found / positives]);
    precisionRecall.push([found / positives, found / (at + 1)]);
  }
  return { roc, precisionRecall };
}

function binsOf(
  probabilities: Float64Array,
  isPositive: (row: number) => boolean,
): CalibrationBin[] {
  const sums = Array.from({ length: bins }, () => ({ predicted: 0, observed: 0, rows: 0 }));
  for (const [row, probability] of probabilities.entries()) {
    const bin = sums[Math.min(bins - 1, Math.floor(bins * probability))];
    bin.predicted += probability;
    bin.observed += isPositive(row) ? 1 : 0;
    bin.rows += 1;
  }
  return sums
    .filter(({ rows }) => rows > 0)
    .map(({ predicted, observed, rows }) => ({
      predicted: predicted / rows,
      observed: observed / rows,
      rows,
    }));
}
