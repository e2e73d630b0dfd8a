import type { Dataset } from '../data/dataset.ts';
import { DataError } from '../errors.ts';
import { lossByName } from '../losses/index.ts';
import { checkLabels } from '../losses/label-rule.ts';
import { hasLogLink } from '../losses/link.ts';
import { measureBinary } from '../model/metrics/binary.ts';
import { classPlaces, classSets, labelNumbers, labelsOf } from '../model/metrics/classes.ts';
import type { Metrics } from '../model/metrics/evaluate.ts';
import { measureMulticlass } from '../model/metrics/multi-class.ts';
import { measureRegression } from '../model/metrics/regression.ts';
import type { Model } from '../model/model.ts';
import { vectorCount } from '../model/model.ts';
import { scoreBlocks, scoreDataset } from '../model/predict/score.ts';
import { measureMultiLabel } from './multi-label.ts';

/** How well a model does on rows whose labels are known; throws a DataError for foreign labels. */
export function evaluate(model: Model, dataset: Dataset): Metrics {
  const { rows, name } = dataset;
  if (rows === 0) {
    throw new DataError(`${name}: no rows; at least one is needed to evaluate a model`);
  }
  const { classes } = model;
  if (classes === undefined) {
    const labels = labelNumbers(dataset);
    if (hasLogLink(model.loss.name)) {
      checkLabels(lossByName(model.loss.name), { name, parts: [{ labels }] });
    }
    return measureRegression(model, scoreDataset(model, dataset), labels, name);
  }
  if (model.multiLabel) {
    return measureMultiLabel(classes, scoreBlocks(model, dataset), classSets(classes, dataset));
  }
  const places = classPlaces(classes, dataset, labelsOf(dataset));
  if (vectorCount(model) === 1) return measureBinary(model, scoreDataset(model, dataset), places);
  return measureMulticlass(model, classes, places, {
    blocks: scoreBlocks(model, dataset),
    vector: (vector) => scoreDataset(model, dataset, vector),
  });
}

/**
 * The same for rows with one label each, given their labels and the scores of all vectors, rows ×
 * vectors; `name` is that of the data, for messages.
 */
export function measureScores(
  model: Pick<Model, 'classes' | 'loss' | 'calibration'>,
  scores: Float64Array,
  labels: Float64Array,
  name = 'test',
): Metrics {
  const { classes } = model;
  if (classes === undefined) return measureRegression(model, scores, labels, name);
  const places = classPlaces(classes, { name }, labels);
  const vectors = vectorCount({ classes });
  if (vectors === 1) return measureBinary(model, scores, places);
  return measureMulticlass(model, classes, places, {
    blocks: [{ firstRow: 0, rows: labels.length, scores }],
    vector: (vector) => Float64Array.from(labels, (_, row) => scores[row * vectors + vector]),
  });
}
