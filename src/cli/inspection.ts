import { UsageError } from '../errors.ts';
import type { Side, WeightSummary } from '../model/metrics/weight-summary.ts';
import { largestColumns, summarizeWeights } from '../model/metrics/weight-summary.ts';
import type { Certificate, Label, Model } from '../model/model.ts';
import { vectorCount, weightsOf } from '../model/model.ts';
import { lineText } from './label-text.ts';

export interface Feature {
  /** As in the data: from 1, or from 0 with --zero-based. */
  readonly feature: number;
  readonly name?: string;
  readonly weight: number;
}

/** One vector of weights. */
export interface VectorSummary extends WeightSummary {
  /** Whose rows score above 0; absent in regression. */
  readonly class?: Label;
  readonly intercept: number;
  /** Where there are several vectors. */
  readonly certificate?: Certificate;
}

export interface FeatureOptions {
  readonly top: number;
  readonly names: readonly string[];
  readonly firstFeature: number;
}

/** The vector that tells a class from the others, and on which side of 0 the class is. */
export interface ClassPlace {
  readonly vector: number;
  readonly label: Label;
  readonly side: Exclude<Side, 'both'>;
}

/** Whether one vector serves the whole model: a regression, or both of two classes. */
export function sharesVector(model: Model): boolean {
  return vectorCount(model) === 1 && !model.multiLabel;
}

export function summarizeVector(model: Model, vector: number): VectorSummary {
  const { classes, certificates, intercepts } = model;
  const own = classes?.[sharesVector(model) ? 1 : vector];
  return {
    ...(own !== undefined && { class: own }),
    ...summarizeWeights(weightsOf(model, vector)),
    intercept: intercepts[vector],
    ...(certificates && { certificate: certificates[vector] }),
  };
}

/** The features with the largest weights of one sign. */
export function topFeatures(
  model: Model,
  vector: number,
  side: Side,
  { top, names, firstFeature }: FeatureOptions,
): Feature[] {
  const weights = weightsOf(model, vector);
  return largestColumns(weights, top, side).map((column): Feature => {
    const name = names[column];
    const feature = column + firstFeature;
    const weight = weights[column];
    return name === undefined ? { feature, weight } : { feature, name, weight };
  });
}

/** The class of this name; throws a UsageError if the model has none. */
export function findClass(model: Model, name: string): ClassPlace {
  const { classes } = model;
  if (classes === undefined) {
    throw new UsageError(`--class ${name}: the model is a regression and has no classes`);
  }
  const place = classes.findIndex((label) => String(label) === name);
  if (place < 0) {
    const some = classes.slice(0, 5).map(lineText).join(', ');
    const more = classes.length > 5 ? `, … (${classes.length} in all)` : '';
    throw new UsageError(`--class ${name}: the model has no such class; it has ${some}${more}`);
  }
  const shared = sharesVector(model);
  return {
    vector: shared ? 0 : place,
    label: classes[place],
    side: shared && place === 0 ? 'negative' : 'positive',
  };
}
