import type { Dataset } from '../../data/dataset.ts';
import { checkPositive } from '../../data/labels.ts';
import { DataError, UsageError } from '../../errors.ts';
import { checkLabels, lossEntry } from '../../problem/losses/index.ts';
import { type Label, type Model, vectorCount } from '../model.ts';
import { scoreBlocks, scoreDataset } from '../predict/score.ts';
import { type MeasureOptions, measureBinary } from './binary.ts';
import { classIndices, classSets, labelNumbers, labelsOf } from './classes.ts';
import { measureMulticlass, measureMultiLabel } from './multi-class.ts';
import { measureRegression } from './regression.ts';

/** How well a model does on rows whose labels are known; throws a DataError for unknown labels. */
export function evaluate(model: Model, dataset: Dataset, options: MeasureOptions = {}): Metrics {
  const { rows, name } = dataset;
  if (rows === 0) {
    throw new DataError(`${name}: no rows; at least one is needed to evaluate a model`);
  }
  const { classes } = model;
  if (vectorCount(model) !== 1 || !classes || model.multiLabel) {
    checkPositive(options.positive, model.multiLabel ? [] : (classes ?? []));
    if (options.threshold !== undefined || options.thresholdFor !== undefined) {
      throw new UsageError('a threshold is for models of two classes; this is none');
    }
  }
  if (classes === undefined) {
    const labels = labelNumbers(dataset);
    const { loss } = model;
    const rule = loss.module === undefined ? lossEntry(loss.name)?.labels : undefined;
    if (rule) checkLabels({ name: loss.name, labels: rule }, { name, parts: [{ labels }] });
    return measureRegression(model, scoreDataset(model, dataset), labels, name);
  }
  if (model.multiLabel) {
    return measureMultiLabel(classes, scoreBlocks(model, dataset), classSets(classes, dataset));
  }
  const indices = classIndices(classes, dataset, labelsOf(dataset));
  if (vectorCount(model) === 1) {
    return measureBinary(model, scoreDataset(model, dataset), indices, options);
  }
  return measureMulticlass(model, classes, indices, {
    blocks: scoreBlocks(model, dataset),
    vector: (vector) => scoreDataset(model, dataset, vector),
  });
}

/**
 * The same for rows with one label each, given their labels and the scores of all vectors, rows ×
 * vectors; `name` is that of the data, for messages.
 */
export function measureScores(
  model: Pick<Model, 'classes' | 'loss' | 'calibration' | 'threshold'>,
  scores: Float64Array,
  labels: Float64Array,
  name = 'test',
): Metrics {
  const { classes } = model;
  if (classes === undefined) return measureRegression(model, scores, labels, name);
  const indices = classIndices(classes, { name }, labels);
  const vectors = vectorCount({ classes });
  if (vectors === 1) return measureBinary(model, scores, indices);
  return measureMulticlass(model, classes, indices, {
    blocks: [{ firstRow: 0, rows: labels.length, scores }],
    vector: (vector) => Float64Array.from(labels, (_, row) => scores[row * vectors + vector]),
  });
}

/** The number by which models of a task are compared; smaller is better. */
export function errorOf(metrics: Metrics): number {
  if (metrics.task === 'regression') return metrics.mse;
  return metrics.task === 'multi-label' ? metrics.hammingLoss : metrics.error;
}

/** One class for each row. */
interface OneClassMetrics {
  readonly rows: number;
  readonly accuracy: number;
  readonly error: number;
  /**
   * null when only one class occurs. Of three or more classes: mean of each against the others,
   * over the classes that occur.
   */
  readonly auc: number | null;
  /** null when the model gives no probabilities. */
  readonly logLoss: number | null;
  /**
   * Models with probabilities only. Mean (p − y)², y = 1 for the positive class and else 0; of three or more
   * classes Σ_k (p_k − y_k)², y_k = 1 for the row's class and else 0.
   */
  readonly brier?: number;
}

/** Two classes. */
export interface ClassificationMetrics extends OneClassMetrics {
  readonly task: 'classification';
  /** The class that the metrics are about. */
  readonly positive: Label;
  /** null when one class is absent. */
  readonly auprc: number | null;
  /** What probabilities, or else scores, must exceed, where it is not a score of 0. */
  readonly threshold?: number;
  /** Of the positive class; 0 where no row is called positive. */
  readonly precision: number;
  /** Of the positive class, also called sensitivity; 0 where no row has it. */
  readonly recall: number;
  readonly f1: number;
  /** The share of the other class that is called so. */
  readonly specificity: number;
  /** Matthews' correlation of labels and predictions; 0 where one of them does not vary. */
  readonly mcc: number;
  readonly confusion: {
    readonly truePositive: number;
    readonly falsePositive: number;
    readonly trueNegative: number;
    readonly falseNegative: number;
  };
}

/** How well one class is separated from all the others. */
export interface ClassMetrics {
  readonly class: Label;
  /** Rows of the class, and rows that the model put into it. */
  readonly support: number;
  readonly predicted: number;
  /** Right rows among the predicted ones and among the rows of the class; 0 when there are none. */
  readonly precision: number;
  readonly recall: number;
  /** 2 · right / (support + predicted), 0 when both are 0. */
  readonly f1: number;
}

/** Three or more classes, one for each row. */
export interface MulticlassMetrics extends OneClassMetrics {
  readonly task: 'multi-class';
  /** Mean F1 of the classes that occur among labels or predictions. */
  readonly macroF1: number;
  /** Mean F1 of the classes, each weighed by its rows. */
  readonly weightedF1: number;
  readonly classes: readonly ClassMetrics[];
  /** Pairs of label and prediction that occur, in the order of the classes. */
  readonly confusion: readonly Confusion[];
}

export interface Confusion {
  readonly label: Label;
  readonly predicted: Label;
  readonly rows: number;
}

/** Any number of classes for each row. */
export interface MultiLabelMetrics {
  readonly task: 'multi-label';
  readonly rows: number;
  /** F1 of all decisions together, and the mean of the classes' F1. */
  readonly microF1: number;
  readonly macroF1: number;
  /** Part of the rows all of whose classes are right. */
  readonly subsetAccuracy: number;
  /** Part of the decisions, one for each row and class, that are wrong. */
  readonly hammingLoss: number;
  readonly classes: readonly ClassMetrics[];
}

export interface RegressionMetrics {
  readonly task: 'regression';
  readonly rows: number;
  readonly mse: number;
  readonly mae: number;
  /** null when all labels are equal. */
  readonly r2: number | null;
  /** Mean deviance 2 (y log(y/μ) − y + μ); Poisson models only. */
  readonly deviance?: number;
  /** Mean τ max(0, y − u) + (1 − τ) max(0, u − y); models of the τ-quantile only. */
  readonly pinball?: number;
  /** Part of the rows whose label is at most the prediction; models of a quantile only. */
  readonly coverage?: number;
}

export type Metrics =
  | ClassificationMetrics
  | MulticlassMetrics
  | MultiLabelMetrics
  | RegressionMetrics;
