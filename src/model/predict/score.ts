import type { Dataset, DatasetPart } from '../../data/dataset.ts';
import { DataError, UsageError } from '../../errors.ts';
import type { Model } from '../model.ts';

/** What scores depend on. */
export type Scorer = Pick<Model, 'weights' | 'intercepts' | 'columns' | 'unitRows'> & {
  readonly featureNames?: readonly string[];
};

/** The scores of consecutive rows, one behind the other, each row's by vector. */
export interface ScoreBlock {
  readonly firstRow: number;
  readonly rows: number;
  /** Good until the next block is asked for. */
  readonly scores: Float64Array;
}

/**
 * Rows are scored so many at a time: a vector is fetched once for all of them, and their scores
 * take little memory.
 */
const rowsTogether = 4096;
const scoresTogether = 2 ** 20;

/**
 * The score u = ⟨w, x⟩ + b of every row, in input order, of one vector of weights (the first one
 * unless told otherwise). Columns the model does not have count as weight 0; `countUnknownEntries`
 * says how many entries that concerns.
 */
export function scoreDataset(model: Scorer, dataset: Dataset, vector = 0): Float64Array {
  checkEntries(model, dataset);
  const scores = new Float64Array(dataset.rows);
  let row = 0;
  for (const part of dataset.parts) {
    const target = scores.subarray(row, row + part.labels.length);
    scoreRows(model, part, 0, vector, target, 1);
    checkScores(target, row, 1, dataset.name);
    row += part.labels.length;
  }
  return scores;
}

/** The scores of all vectors, rows × vectors, in one pass over the data. */
export function scoreVectors(model: Scorer, dataset: Dataset): Float64Array {
  const vectors = model.intercepts.length;
  const scores = new Float64Array(dataset.rows * vectors);
  for (const block of scoreBlocks(model, dataset)) {
    scores.set(block.scores, block.firstRow * vectors);
  }
  return scores;
}

/** The same block by block, for who does not need all of them at once. */
export function* scoreBlocks(model: Scorer, dataset: Dataset): Generator<ScoreBlock> {
  checkEntries(model, dataset);
  const vectors = model.intercepts.length;
  const together = Math.max(1, Math.min(rowsTogether, Math.floor(scoresTogether / vectors)));
  const buffer = new Float64Array(together * vectors);
  let firstRow = 0;
  for (const part of dataset.parts) {
    for (let start = 0; start < part.labels.length; start += together) {
      const rows = Math.min(together, part.labels.length - start);
      const scores = buffer.subarray(0, rows * vectors);
      for (let vector = 0; vector < vectors; vector++) {
        scoreRows(model, part, start, vector, scores.subarray(vector), vectors);
      }
      checkScores(scores, firstRow, vectors, dataset.name);
      yield { firstRow, rows, scores };
      firstRow += rows;
    }
  }
}

/** Scores the rows of a part from `start` on into every `stride`-th place of `target`. */
function scoreRows(
  { weights, intercepts, columns, unitRows }: Scorer,
  { rowOffsets, indices, values }: DatasetPart,
  start: number,
  vector: number,
  target: Float64Array,
  stride: number,
): void {
  const first = vector * columns;
  const intercept = intercepts[vector];
  let row = start;
  for (let place = 0; place < target.length; place += stride) {
    const end = rowOffsets[row + 1];
    let sum = 0;
    let square = 0;
    // Indices ascend: the first unknown column ends the row.
    for (let entry = rowOffsets[row]; entry < end && indices[entry] < columns; entry++) {
      const value = values[entry];
      sum += weights[first + indices[entry]] * value;
      square += value * value;
    }
    // A row without entries has no length; its sum is 0 anyway.
    target[place] = (unitRows && square > 0 ? sum / Math.sqrt(square) : sum) + intercept;
    row++;
  }
}

function checkScores(scores: Float64Array, firstRow: number, vectors: number, name: string): void {
  for (let place = 0; place < scores.length; place++) {
    if (Number.isFinite(scores[place])) continue;
    throw new DataError(
      `${name}: the score of row ${firstRow + Math.floor(place / vectors) + 1} is ` +
        `${scores[place]}: the products of its values and the weights overflow`,
    );
  }
}

function checkEntries({ featureNames }: Scorer, dataset: Dataset): void {
  const { name, stored, featureNames: names } = dataset;
  if (stored !== undefined) {
    throw new UsageError(`${name}: its entries are on disk; read it with readDataset to score it`);
  }
  if (!featureNames || !names || featureNames === names) return;
  const place = names.findIndex((one, column) => one !== featureNames[column]);
  if (place < 0 || place >= featureNames.length) return;
  throw new UsageError(
    `${name}: column ${place + 1} is ${names[place]}, in the model it is ${featureNames[place]}: read the data with { like: model }`,
  );
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
