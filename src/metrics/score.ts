import type { Dataset } from '../data/dataset.ts';
import { DataError } from '../errors.ts';
import type { Model } from '../model/model.ts';

/**
 * The score u = ⟨w, x⟩ + b of every row, in input order. Columns the model does not have count as
 * weight 0; `countUnknownEntries` says how many entries that concerns.
 */
export function scoreDataset(
  model: Pick<Model, 'weights' | 'intercept' | 'columns'>,
  dataset: Dataset,
): Float64Array {
  const { weights, intercept, columns } = model;
  const scores = new Float64Array(dataset.rows);
  let row = 0;
  for (const { rowOffsets, labels, indices, values } of dataset.parts) {
    for (let local = 0; local < labels.length; local++) {
      const end = rowOffsets[local + 1];
      let sum = 0;
      // Indices ascend: the first unknown column ends the row.
      for (let entry = rowOffsets[local]; entry < end && indices[entry] < columns; entry++) {
        sum += weights[indices[entry]] * values[entry];
      }
      const score = sum + intercept;
      if (!Number.isFinite(score)) {
        throw new DataError(
          `${dataset.name}: the score of row ${row + 1} is ${score}: ` +
            'the products of its values and the weights overflow',
        );
      }
      scores[row++] = score;
    }
  }
  return scores;
}

/** Entries of the dataset in columns that the model does not have. */
export function countUnknownEntries(model: Model, dataset: Dataset): number {
  if (dataset.columns <= model.columns) return 0;
  let unknown = 0;
  for (const { indices } of dataset.parts) {
    for (let entry = 0; entry < indices.length; entry++) {
      if (indices[entry] >= model.columns) unknown++;
    }
  }
  return unknown;
}
