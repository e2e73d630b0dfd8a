import { DataError, UsageError } from '../errors.ts';
import { stream } from '../math/random.ts';
import {
  type Dataset,
  type DatasetPart,
  sharedFloat32,
  sharedFloat64,
  sharedInt32,
} from './dataset.ts';

/** Tells this use of a seed from every other. */
const splitStream = 0x5711;

/**
 * Sets a random part of the rows aside. Exactly round(fraction · rows) rows go to the test side,
 * but each side gets at least one; the rows keep their order. Which rows they are depends on the
 * number of rows, the fraction and the seed alone.
 */
export function splitDataset(
  dataset: Dataset,
  fraction: number,
  seed: number,
): { train: Dataset; test: Dataset } {
  const chosen = chooseRows(dataset, fraction, seed);
  return {
    train: selectRows(dataset, chosen, 0, `${dataset.name} (training part)`),
    test: selectRows(dataset, chosen, 1, `${dataset.name} (held-out part)`),
  };
}

/** Marks the rows to be set aside, every subset equally likely: one draw per row, in order. */
export function chooseRows(
  { name, rows }: Pick<Dataset, 'name' | 'rows'>,
  fraction: number,
  seed: number,
): Uint8Array {
  if (!(fraction > 0 && fraction < 1)) {
    throw new UsageError(`held-out fraction ${fraction}; expected a number between 0 and 1`);
  }
  if (rows < 2) throw new DataError(`${name}: one row cannot be split; expected at least two`);
  const count = Math.min(Math.max(Math.round(rows * fraction), 1), rows - 1);
  const random = stream(seed, splitStream);
  const chosen = new Uint8Array(rows);
  let missing = count;
  for (let row = 0; row < rows; row += 1) {
    if (random.below(rows - row) >= missing) continue;
    chosen[row] = 1;
    missing -= 1;
  }
  return chosen;
}

/** The rows of one side: those whose mark is `side`. */
export function selectRows(
  dataset: Dataset,
  chosen: Uint8Array,
  side: number,
  name: string,
): Dataset {
  const parts: DatasetPart[] = [];
  let start = 0;
  for (const part of dataset.parts) {
    const rows = part.labels.length;
    const selected = selectPart(part, chosen.subarray(start, start + rows), side);
    if (selected.labels.length > 0) parts.push(selected);
    start += rows;
  }
  const rows = parts.reduce((sum, part) => sum + part.labels.length, 0);
  const nonzeros = parts.reduce((sum, part) => sum + part.values.length, 0);
  // What columns and labels mean stays as it is.
  return { ...dataset, name, parts, rows, nonzeros, notices: [] };
}

function selectPart(part: DatasetPart, chosen: Uint8Array, side: number): DatasetPart {
  const labels: number[] = [];
  const weights: number[] = [];
  const rowOffsets = [0];
  const indices = new Int32Array(part.indices.length);
  const values = new Float32Array(part.values.length);
  let end = 0;
  for (let row = 0; row < chosen.length; row += 1) {
    if (chosen[row] !== side) continue;
    const from = part.rowOffsets[row];
    const to = part.rowOffsets[row + 1];
    indices.set(part.indices.subarray(from, to), end);
    values.set(part.values.subarray(from, to), end);
    end += to - from;
    labels.push(part.labels[row]);
    if (part.weights) weights.push(part.weights[row]);
    rowOffsets.push(end);
  }
  return {
    labels: sharedFloat64(labels),
    rowOffsets: sharedInt32(rowOffsets),
    indices: sharedInt32(indices.subarray(0, end)),
    values: sharedFloat32(values.subarray(0, end)),
    ...(part.weights && { weights: sharedFloat64(weights) }),
  };
}
