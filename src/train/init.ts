import type { Dataset } from '../data/dataset.ts';
import { classesFrom, distinctLabels, enoughLabels, type Label } from '../data/labels.ts';
import { UsageError } from '../errors.ts';
import type { Loss } from '../losses/loss.ts';
import { type Model, vectorCount, weightsOf } from '../model/model.ts';
import type { TrainOptions } from './options.ts';

type Start = NonNullable<TrainOptions['start']>;

/**
 * A model as the point to start from on other data. Features are found by name where both have
 * names, else by column; classes by label. What the model does not know starts at 0.
 */
export function startFromModel(
  model: Model,
  dataset: Dataset,
  { loss, multiLabel = false, columns }: { loss: Loss; multiLabel?: boolean; columns: number },
): Start {
  if (model.task !== loss.task) {
    throw new UsageError(
      `the model to start from is for ${model.task}; the ${loss.name} loss is for ${loss.task}`,
    );
  }
  const vectors = vectorsFor(model, dataset, loss, multiLabel);
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
function vectorsFor(
  model: Model,
  dataset: Dataset,
  { task }: Loss,
  multiLabel: boolean,
): (number | undefined)[] {
  if (task === 'regression') return [0];
  const found = classesFrom(distinctLabels(dataset, enoughLabels), dataset, multiLabel);
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
