import { DataError, UsageError } from '../errors.ts';
import { stream } from '../math/random.ts';
import { countNonzeros, type Dataset, type DatasetPart, sharedPart } from './dataset.ts';

/** The stream of the seed for this use. */
const splitStream = 0x5711;

/**
 * Sets a random part of the rows aside: round(fraction · rows) rows, but at least one for each side.
 * The rows keep their order, and depend on the number of rows, the fraction and the seed alone.
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
    throw new UsageError(`held-out fraction ${fraction}; expected a number above 0 and below 1`);
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
  return { ...dataset, name, parts, rows, nonzeros: countNonzeros(parts), notices: [] };
}

function selectPart(part: DatasetPart, chosen: Uint8Array, side: number): DatasetPart {
  const labels = new Float64Array(chosen.length);
  const weights = part.weights && new Float64Array(chosen.length);
  const rowOffsets = new Int32Array(chosen.length + 1);
  const indices = new Int32Array(part.indices.length);
  const values = new Float32Array(part.values.length);
  let rows = 0;
  let end = 0;
  for (let row = 0; row < chosen.length; row += 1) {
    if (chosen[row] !== side) continue;
    const from = part.rowOffsets[row];
    const to = part.rowOffsets[row + 1];
    indices.set(part.indices.subarray(from, to), end);
    values.set(part.values.subarray(from, to), end);
    end += to - from;
    labels[rows] = part.labels[row];
    if (weights) weights[rows] = part.weights[row];
    rows += 1;
    rowOffsets[rows] = end;
  }
  return sharedPart({ rowOffsets, labels, indices, values, ...(weights && { weights }) }, rows);
}
