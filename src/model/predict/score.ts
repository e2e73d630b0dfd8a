import type { Dataset, DatasetPart } from '../../data/dataset.ts';
import { DataError, UsageError } from '../../errors.ts';
import { type Model, weightsOf } from '../model.ts';

/** What scores depend on. */
export type Scorer = Pick<
  Model,
  'weights' | 'intercepts' | 'columns' | 'unitRows' | 'featureNames'
>;

/** The scores of consecutive rows, one after the other, each row's by vector. */
export interface ScoreBlock {
  readonly firstRow: number;
  readonly rows: number;
  /** Overwritten by the next block. */
  readonly scores: Float64Array;
}

/** Most rows and scores in a block: a vector is fetched once for all of its rows. */
const blockRows = 4096;
const blockScores = 2 ** 20;

/**
 * The score u = ⟨w, x⟩ + b of every row, in input order, of one vector of weights. Columns the model
 * does not have count as weight 0; `countUnknownEntries` says how many entries that concerns.
 */
export function scoreDataset(model: Scorer, dataset: Dataset, vector = 0): Float64Array {
  const intercepts = model.intercepts.subarray(vector, vector + 1);
  return scoreVectors({ ...model, weights: weightsOf(model, vector), intercepts }, dataset);
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

/** The same block by block, so that not all scores have to be in memory. */
export function* scoreBlocks(model: Scorer, dataset: Dataset): Generator<ScoreBlock> {
  checkEntries(model, dataset);
  const vectors = model.intercepts.length;
  const mostRows = Math.max(1, Math.min(blockRows, Math.floor(blockScores / vectors)));
  const buffer = new Float64Array(mostRows * vectors);
  let firstRow = 0;
  for (const part of dataset.parts) {
    for (let start = 0; start < part.labels.length; start += mostRows) {
      const rows = Math.min(mostRows, part.labels.length - start);
      const scores = buffer.subarray(0, rows * vectors);
      for (let vector = 0; vector < vectors; vector++) {
        scoreRows(model, part, start, vector, scores);
      }
      checkScores(scores, firstRow, vectors, dataset.name);
      yield { firstRow, rows, scores };
      firstRow += rows;
    }
  }
}

/** Scores the rows of a part from `start` on by one vector; `scores` has those of all vectors. */
function scoreRows(
  { weights, intercepts, columns, unitRows }: Scorer,
  { rowOffsets, indices, values }: DatasetPart,
  start: number,
  vector: number,
  scores: Float64Array,
): void {
  const first = vector * columns;
  const intercept = intercepts[vector];
  let row = start;
  for (let index = vector; index < scores.length; index += intercepts.length) {
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
    scores[index] = (unitRows && square > 0 ? sum / Math.sqrt(square) : sum) + intercept;
    row++;
  }
}

function checkScores(scores: Float64Array, firstRow: number, vectors: number, name: string): void {
  const index = scores.findIndex((score) => !Number.isFinite(score));
  if (index < 0) return;
  throw new DataError(
    `${name}: the score of row ${firstRow + Math.floor(index / vectors) + 1} is ` +
      `${scores[index]}: the products of its values and the weights overflow`,
  );
}

function checkEntries({ featureNames }: Scorer, dataset: Dataset): void {
  const { name, stored, featureNames: names } = dataset;
  if (stored !== undefined) {
    throw new UsageError(`${name}: its entries are on disk; read it with readDataset to score it`);
  }
  if (!featureNames || !names || featureNames === names) return;
  const column = names.findIndex((one, index) => one !== featureNames[index]);
  if (column < 0 || column >= featureNames.length) return;
  throw new UsageError(
    `${name}: column ${column + 1} is ${names[column]}, in the model it is ` +
      `${featureNames[column]}: read the data with { like: model }`,
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
