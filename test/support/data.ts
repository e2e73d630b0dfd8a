import type { Dataset, DatasetPart } from '../../src/data/dataset.ts';
import { datasetFromRows } from '../../src/data/from-arrays.ts';
import { type Random, stream } from '../../src/math/random.ts';
import type { Loss, Task } from '../../src/problem/losses/loss.ts';

/** A dataset together with its dense rows, for naive formulas. */
export interface Sample {
  readonly rows: readonly (readonly number[])[];
  readonly labels: readonly number[];
  readonly dataset: Dataset;
}

export interface SampleOptions {
  readonly seed?: number;
  readonly rows?: number;
  readonly columns?: number;
  /** Part of the entries that are not zero. */
  readonly density?: number;
  readonly task?: Task;
  /** Whole labels from 0 on, about the exponential of half the score. */
  readonly counts?: boolean;
  /** Spread of the noise on planted scores of size about 1. */
  readonly noise?: number;
}

/** Zeros are dropped; the other values must be float32 numbers for the two forms to agree. */
export function datasetOf(
  rows: readonly (readonly number[])[],
  labels: readonly number[],
  columns = rows[0].length,
): Dataset {
  const sparse = rows.map((row) => {
    const indices = [...row.keys()].filter((j) => row[j] !== 0);
    return { indices, values: indices.map((j) => row[j]) };
  });
  return datasetFromRows({ rows: sparse, labels, columns });
}

/** Random sparse rows; labels from planted weights, an offset and noise. */
export function sample(options: SampleOptions = {}): Sample {
  const { seed = 1, rows: height = 60, columns: width = 10 } = options;
  const { density = 0.5, task = 'classification', noise = 1, counts = false } = options;
  const random = stream(seed, 77);
  const draw = () => (random.uniform() < density ? Math.fround(random.normal()) : 0);
  const rows = Array.from({ length: height }, () => Array.from({ length: width }, draw));
  const planted = Array.from({ length: width }, () => random.normal());
  const labels = rows.map((row) => {
    const score = row.reduce((sum, x, j) => sum + x * planted[j], 0.4) + noise * random.normal();
    if (counts) return Math.round(Math.exp(score / 2));
    return task === 'regression' ? score : score > 0 ? 1 : -1;
  });
  return { rows, labels, dataset: datasetOf(rows, labels) };
}

/** A sample with labels that fit the loss. */
export function sampleFor(loss: Loss, options: SampleOptions = {}): Sample {
  return sample({ ...options, task: loss.task, counts: loss.labels !== undefined });
}

/** Rows of text: column j is drawn with a chance in proportion to 1/(j + 1), rows have unit length. */
export function zipfDataset(options: {
  seed?: number;
  rows: number;
  columns: number;
  perRow: number;
}): Dataset {
  const { seed = 1, rows: height, columns, perRow } = options;
  const random = stream(seed, 78);
  const cumulative = new Float64Array(columns);
  for (let j = 0, total = 0; j < columns; j++) {
    total += 1 / (j + 1);
    cumulative[j] = total;
  }
  const planted = Array.from({ length: columns }, () => random.normal());
  const rows = Array.from({ length: height }, () => zipfRow(random, cumulative, perRow));
  const labels = rows.map(({ indices, values }) => {
    const score = indices.reduce((sum, j, k) => sum + planted[j] * values[k], 0);
    return score + 0.3 * random.normal() > 0 ? 1 : -1;
  });
  return datasetFromRows({ rows, labels, columns });
}

function zipfRow(random: Random, cumulative: Float64Array, perRow: number) {
  const columns = new Set<number>();
  const length = 1 + random.below(2 * perRow);
  for (let k = 0; k < length; k++) {
    const at = random.uniform() * cumulative[cumulative.length - 1];
    columns.add(firstAtLeast(cumulative, at));
  }
  const indices = [...columns];
  return { indices, values: indices.map(() => 1 / Math.sqrt(indices.length)) };
}

/** The first index of a sorted array whose element is at least `value`. */
function firstAtLeast(rising: Float64Array, value: number): number {
  let low = 0;
  let high = rising.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] >= value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Many rows, quickly: every row has one column in each of `perRow` stretches, more often one of the
 * first of a stretch than of the last; labels from planted weights and noise.
 */
export function largeDataset(options: { rows: number; columns: number; perRow: number }): Dataset {
  const { rows, columns, perRow } = options;
  const random = stream(1, 79);
  const planted = Float64Array.from({ length: columns }, () => random.normal());
  const indices = new Int32Array(new SharedArrayBuffer(4 * rows * perRow));
  const values = new Float32Array(new SharedArrayBuffer(4 * rows * perRow));
  const labels = new Float64Array(new SharedArrayBuffer(8 * rows));
  const rowOffsets = new Int32Array(new SharedArrayBuffer(4 * (rows + 1)));
  const stretch = Math.floor(columns / perRow);
  for (let row = 0, at = 0; row < rows; row++) {
    let score = 0.3 * random.normal();
    for (let k = 0; k < perRow; k++, at++) {
      const share = random.nextUint32() / 2 ** 32;
      indices[at] = k * stretch + Math.floor(share * share * stretch);
      values[at] = 1 / Math.sqrt(perRow);
      score += planted[indices[at]] * values[at];
    }
    labels[row] = score > 0 ? 1 : -1;
    rowOffsets[row + 1] = at;
  }
  const parts = [{ rowOffsets, labels, indices, values }];
  return { name: 'array', parts, rows, columns, nonzeros: rows * perRow, notices: [] };
}

/** The same rows in parts of `rowsPerPart` rows. */
export function inParts(dataset: Dataset, rowsPerPart: number): Dataset {
  const parts: DatasetPart[] = [];
  for (const part of dataset.parts) {
    for (let from = 0; from < part.labels.length; from += rowsPerPart) {
      const to = Math.min(part.labels.length, from + rowsPerPart);
      const first = part.rowOffsets[from];
      const last = part.rowOffsets[to];
      parts.push({
        rowOffsets: part.rowOffsets.slice(from, to + 1).map((offset) => offset - first),
        labels: part.labels.slice(from, to),
        indices: part.indices.slice(first, last),
        values: part.values.slice(first, last),
        ...(part.weights && { weights: part.weights.slice(from, to) }),
      });
    }
  }
  return { ...dataset, parts };
}
