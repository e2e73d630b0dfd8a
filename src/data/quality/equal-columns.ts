import type { DatasetPart } from '../dataset.ts';
import type { ColumnSurvey } from './column-survey.ts';
import { HashTable } from './hash-table.ts';

/**
 * Columns that hold the same as an earlier one, entry by entry: by column, the first that is equal
 * to it. Hashes say which columns may be equal, and a second pass over the rows, which only happens
 * if there are any, whether they are. Empty columns are left out.
 */
export function equalColumns(
  survey: ColumnSurvey,
  scan: () => Iterable<DatasetPart>,
): ReadonlyMap<number, number> {
  const models = candidates(survey);
  if (models.size === 0) return models;
  const matches = countMatches(models, survey.counts.length, scan());
  for (const column of models.keys()) {
    // Both have as many entries, so that all of one are all of the other.
    if (matches[column] !== survey.counts[column]) models.delete(column);
  }
  return models;
}

function candidates({ counts, hashes }: ColumnSurvey): Map<number, number> {
  const table = new HashTable(...hashes);
  const models = new Map<number, number>();
  for (let column = 0; column < counts.length; column += 1) {
    if (counts[column] === 0) continue;
    const earlier = table.earlier(column);
    if (earlier >= 0 && counts[earlier] === counts[column]) models.set(column, earlier);
  }
  return models;
}

/** How many entries of each column are those of its model in the same row. */
function countMatches(
  models: ReadonlyMap<number, number>,
  columns: number,
  parts: Iterable<DatasetPart>,
): Int32Array {
  const modelOf = new Int32Array(columns).fill(-1);
  for (const [column, model] of models) modelOf[column] = model;
  const matches = new Int32Array(columns);
  for (const { rowOffsets, labels, indices, values } of parts) {
    for (let row = 0; row < labels.length; row += 1) {
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
        const model = modelOf[indices[entry]];
        if (model < 0) continue;
        const other = placeOf(model, indices, rowOffsets[row], entry);
        if (indices[other] === model && values[other] === values[entry]) {
          matches[indices[entry]] += 1;
        }
      }
    }
  }
  return matches;
}

/** The first of the ascending indices from … to - 1 that is not below the column; `to` if none. */
function placeOf(column: number, indices: Int32Array, from: number, to: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (indices[middle] < column) low = middle + 1;
    else high = middle;
  }
  return low;
}
