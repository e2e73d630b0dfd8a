import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { sharedFloat32, sharedFloat64, sharedInt32 } from '../data/shared.ts';
import type { TrainOptions } from '../train/options/options.ts';
import { train } from '../train/train.ts';

/** Non-zeros up to which a warm-up runs on the data itself. */
const smallData = 500_000;
const warmUpEpochs = 3;
const mostSeconds = 2;

/**
 * The rows that warm-ups run on: all of them, or every so many-th one with all columns. Labels may
 * alternate, so the distance is odd.
 */
export function warmUpSample(dataset: Dataset): Dataset {
  if (dataset.nonzeros <= smallData) return dataset;
  const distance = Math.ceil(dataset.nonzeros / smallData) | 1;
  const parts: DatasetPart[] = [];
  let start = 0;
  for (const part of dataset.parts) {
    parts.push(takeRows(part, (distance - (start % distance)) % distance, distance));
    start += part.labels.length;
  }
  const rows = parts.reduce((sum, part) => sum + part.labels.length, 0);
  const nonzeros = parts.reduce((sum, part) => sum + part.values.length, 0);
  return { ...dataset, parts: parts.filter((part) => part.labels.length > 0), rows, nonzeros };
}

/** Rows first, first + distance, … of a part. */
function takeRows(part: DatasetPart, first: number, distance: number): DatasetPart {
  const { rowOffsets } = part;
  const labels: number[] = [];
  const offsets = [0];
  const indices: number[] = [];
  const values: number[] = [];
  for (let row = first; row < part.labels.length; row += distance) {
    labels.push(part.labels[row]);
    for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k++) {
      indices.push(part.indices[k]);
      values.push(part.values[k]);
    }
    offsets.push(indices.length);
  }
  return {
    labels: sharedFloat64(labels),
    rowOffsets: sharedInt32(offsets),
    indices: sharedInt32(indices),
    values: sharedFloat32(values),
  };
}

/**
 * Some epochs whose result nobody looks at: afterwards the engine has compiled the solver's code in
 * every thread.
 */
export async function warmUp(sample: Dataset, options: TrainOptions): Promise<void> {
  const { test: _test, auprc: _auprc, testOn: _testOn, grid, ...rest } = options;
  const short = { epochs: warmUpEpochs, time: mostSeconds };
  const fitting = grid === undefined ? {} : { grid: Math.min(grid, sample.rows) };
  try {
    await train(sample, { ...rest, ...fitting, ...short });
  } catch {
    // The run itself will tell what is wrong, unless only the sample was (all rows of one class).
  }
}
