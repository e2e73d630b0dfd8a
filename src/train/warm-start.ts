import type { Dataset } from '../data/dataset.ts';
import {
  type Classes,
  classesFrom,
  distinctLabels,
  enoughLabels,
  type Label,
} from '../data/labels.ts';
import { type Company, gatherValues } from '../engine/processes/process-group.ts';
import { UsageError } from '../errors.ts';
import { type Model, vectorCount, weightsOf } from '../model/model.ts';
import type { Loss } from '../problem/losses/loss.ts';
import type { TrainOptions } from './options/options.ts';

type Start = NonNullable<TrainOptions['start']>;

interface Wanted {
  /** The loss that is to be trained; default: one for the model's own task. */
  readonly loss?: Loss;
  readonly multiLabel?: boolean;
  /** Of all the data, where a process has only some; default: those of the data set. */
  readonly columns?: number;
}

/**
 * A model as the point to start from on other data. Features are found by name where both have
 * names, else by column; classes by label. What the model does not know starts at 0.
 */
export function startFromModel(model: Model, dataset: Dataset, wanted: Wanted = {}): Start {
  return startFrom(model, dataset, distinctLabels(dataset, enoughLabels), wanted);
}

/** The same in all processes of a job, none of which may have met all labels. */
export async function startTogether(
  model: Model,
  dataset: Dataset,
  wanted: Wanted,
  company: Company | undefined,
): Promise<Start> {
  const labels = await gatherValues(company, distinctLabels(dataset, enoughLabels));
  return startFrom(model, dataset, [...new Set(labels.flat())], wanted);
}

function startFrom(
  model: Model,
  dataset: Dataset,
  labels: readonly number[],
  { loss, multiLabel = model.multiLabel ?? false, columns = dataset.columns }: Wanted,
): Start {
  if (loss && model.task !== loss.task) {
    throw new UsageError(
      `the model to start from is for ${model.task}; the ${loss.name} loss is for ${loss.task}`,
    );
  }
  const vectors =
    model.task === 'regression' ? [0] : vectorsFor(model, classesFrom(labels, dataset, multiLabel));
  const places = columnsIn(model, dataset, columns);
  const weights = new Float64Array(vectors.length * columns);
  for (const [vector, source] of vectors.entries()) {
    if (source === undefined) continue;
    const from = weightsOf(model, source);
    const to = weights.subarray(vector * columns, (vector + 1) * columns);
    for (let column = 0; column < columns; column += 1) {
      if (places[column] >= 0) to[column] = from[places[column]];
    }
  }
  const intercepts = Float64Array.from(vectors, (source) =>
    source === undefined ? 0 : model.intercepts[source],
  );
  return { weights, intercepts };
}

/** Of each vector that is to be trained, the one of the model that it starts from. */
function vectorsFor(model: Model, found: Classes): (number | undefined)[] {
  const known = model.classes ?? [];
  const same = (label: Label) => known.findIndex((one) => String(one) === String(label));
  const [count, before] = [vectorCount(found), vectorCount(model)];
  if (count === 1) {
    const places = found.classes.map(same);
    if (before === 1 && places.includes(-1)) {
      throw new UsageError(
        `the model to start from has classes ${known.join(' and ')}; the data has ${found.classes.join(' and ')}`,
      );
    }
    return [before === 1 ? 0 : places[1] < 0 ? undefined : places[1]];
  }
  // The one vector of two classes says nothing about each of them against others.
  if (before === 1) return found.classes.map(() => undefined);
  return found.classes.map(same).map((place) => (place < 0 ? undefined : place));
}

/** Of each column of the data, the column of the model, -1 for none. */
function columnsIn(model: Model, { featureNames }: Dataset, columns: number): Int32Array {
  const names = model.featureNames;
  const hashed = model.recipe?.hashBits;
  if (!names || !featureNames || hashed !== undefined) {
    return Int32Array.from({ length: columns }, (_, j) => (j < model.columns ? j : -1));
  }
  const places = new Map(names.map((name, place) => [name, place]));
  return Int32Array.from({ length: columns }, (_, j) => places.get(featureNames[j]) ?? -1);
}
