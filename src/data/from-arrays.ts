import { DataError } from '../errors.ts';
import {
  badWeight,
  countNonzeros,
  type Dataset,
  type DatasetPart,
  sharedFloat64,
  sharedPart,
} from './dataset.ts';
import { largestValue } from './fields/row-encoder.ts';
import { orderRow, RepeatedIndex } from './fields/row-order.ts';
import { largestIndex } from './read/line-error.ts';

export interface SparseRow {
  /** 0-based columns, in any order inside a row, each at most once. */
  readonly indices: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

export interface RowsInput {
  readonly rows: readonly SparseRow[];
  readonly labels: ArrayLike<number>;
  /** How much each row counts: finite, at least 0, not all 0. Default: 1. */
  readonly weights?: ArrayLike<number>;
  /** Default: the largest index + 1. */
  readonly columns?: number;
  /** For messages; default `array`. */
  readonly name?: string;
}

export interface CsrInput extends SparseRow, Omit<RowsInput, 'rows'> {
  /** Row i holds the entries rowOffsets[i] … rowOffsets[i + 1] - 1. */
  readonly rowOffsets: ArrayLike<number>;
}

/** Entries from … to - 1 of two arrays: a row, whichever form it came in. */
interface RowSlice extends SparseRow {
  readonly from: number;
  readonly to: number;
}

interface Source extends Omit<RowsInput, 'rows'> {
  readonly name: string;
  row(number: number): RowSlice;
}

/** A part ends with the row that reaches this many entries: offsets are 32-bit. */
const entriesPerPart = 1 << 24;

/** Data from one object per row. Copies, sorts and checks; zeros are dropped. */
export function datasetFromRows(input: RowsInput): Dataset {
  const { rows, labels, name = 'array' } = input;
  if (rows.length !== labels.length) {
    throw new DataError(`${name}: ${rows.length} rows but ${labels.length} labels`);
  }
  rows.forEach(({ indices, values }, row) => {
    if (indices.length === values.length) return;
    const found = `${indices.length} indices but ${values.length} values`;
    throw new DataError(`${name}: row ${row}: ${found}`);
  });
  const slice = (row: number) => ({ ...rows[row], from: 0, to: rows[row].indices.length });
  return assemble({ ...input, name, row: slice });
}

/** Data in compressed sparse row form. Copies, sorts and checks; zeros are dropped. */
export function datasetFromCsr(input: CsrInput): Dataset {
  const { rowOffsets, indices, values, name = 'array' } = input;
  checkOffsets(input, name);
  const slice = (row: number) => {
    return { indices, values, from: rowOffsets[row], to: rowOffsets[row + 1] };
  };
  return assemble({ ...input, name, row: slice });
}

function checkOffsets({ rowOffsets, indices, values, labels }: CsrInput, name: string): void {
  const fail = (message: string): never => {
    throw new DataError(`${name}: ${message}`);
  };
  if (rowOffsets.length !== labels.length + 1) {
    fail(`${rowOffsets.length} row offsets; expected one more than the ${labels.length} labels`);
  }
  if (indices.length !== values.length) {
    fail(`${indices.length} indices but ${values.length} values`);
  }
  if (rowOffsets[0] !== 0) fail(`row offset 0 is ${rowOffsets[0]}; expected 0`);
  for (let row = 0; row < labels.length; row += 1) {
    const offset = rowOffsets[row + 1];
    if (Number.isInteger(offset) && offset >= rowOffsets[row]) continue;
    fail(`row offset ${row + 1} is ${offset}; expected a whole number ≥ ${rowOffsets[row]}`);
  }
  const last = rowOffsets[labels.length];
  if (last !== indices.length) fail(`the last row offset is ${last}; expected ${indices.length}`);
}

function assemble(source: Source): Dataset {
  const { name, labels, columns } = source;
  if (labels.length === 0) throw new DataError(`${name}: no rows; expected at least one`);
  if (
    columns !== undefined &&
    !(Number.isInteger(columns) && columns >= 0 && columns <= largestIndex + 1)
  ) {
    throw new DataError(`${name}: ${columns} columns; expected a whole number`);
  }
  checkWeights(source);
  const parts: DatasetPart[] = [];
  let maxIndex = -1;
  for (let first = 0; first < labels.length; ) {
    let end = first;
    let entries = 0;
    while (end < labels.length && entries < entriesPerPart) {
      const { from, to } = source.row(end);
      entries += to - from;
      end += 1;
    }
    const { part, largest } = copyRows(source, first, end, entries);
    parts.push(part);
    maxIndex = Math.max(maxIndex, largest);
    first = end;
  }
  return {
    name,
    parts,
    rows: labels.length,
    columns: columns ?? maxIndex + 1,
    nonzeros: countNonzeros(parts),
    notices: [],
  };
}

function checkWeights({ name, labels, weights }: Source): void {
  if (!weights) return;
  if (weights.length !== labels.length) {
    throw new DataError(`${name}: ${labels.length} rows but ${weights.length} weights`);
  }
  const bad = badWeight(weights);
  if (bad >= 0) {
    const found = `${name}: row ${bad}: weight ${weights[bad]}`;
    throw new DataError(`${found}; expected a finite number, 0 or more`);
  }
  for (let row = 0; row < weights.length; row += 1) if (weights[row] > 0) return;
  throw new DataError(`${name}: all rows have weight 0; expected one above 0`);
}

function copyRows(source: Source, first: number, end: number, entries: number) {
  const labels = new Float64Array(end - first);
  const rowOffsets = new Int32Array(end - first + 1);
  const indices = new Int32Array(entries);
  const values = new Float32Array(entries);
  let largest = -1;
  let filled = 0;
  for (let row = first; row < end; row += 1) {
    labels[row - first] = checkedLabel(source, row);
    const slice = source.row(row);
    for (let entry = slice.from; entry < slice.to; entry += 1) {
      checkEntry(source, row, entry - slice.from, slice.indices[entry], slice.values[entry]);
      const position = filled + entry - slice.from;
      indices[position] = slice.indices[entry];
      values[position] = slice.values[entry];
      largest = Math.max(largest, indices[position]);
    }
    filled = order(source, row, indices, values, filled, filled + slice.to - slice.from);
    rowOffsets[row - first + 1] = filled;
  }
  const part = sharedPart({ labels, rowOffsets, indices, values });
  if (!source.weights) return { part, largest };
  const given = Array.prototype.slice.call(source.weights, first, end);
  // -0 counts as much as 0 does, with other bits.
  const weights = sharedFloat64(given.map((weight) => weight + 0));
  return { part: { ...part, weights }, largest };
}

function checkedLabel({ name, labels }: Source, row: number): number {
  if (!Number.isFinite(labels[row])) {
    throw new DataError(`${name}: row ${row}: label ${labels[row]}; expected a finite number`);
  }
  // -0 would count as a class of its own.
  return labels[row] + 0;
}

function checkEntry(
  { name, columns }: Source,
  row: number,
  entry: number,
  index: number,
  value: number,
): void {
  const limit = columns === undefined ? largestIndex : columns - 1;
  if (!(Number.isInteger(index) && index >= 0 && index <= limit)) {
    throw new DataError(
      `${name}: row ${row}, entry ${entry}: index ${index}; expected a whole number ` +
        `from 0 to ${limit}`,
    );
  }
  if (!(Math.abs(Math.fround(value)) <= largestValue)) {
    throw new DataError(
      `${name}: row ${row}, entry ${entry}: value ${value}; expected a number below 3.4e38`,
    );
  }
}

function order(
  { name }: Source,
  row: number,
  indices: Int32Array,
  values: Float32Array,
  from: number,
  to: number,
): number {
  try {
    return orderRow(indices, values, from, to, false);
  } catch (error) {
    if (!(error instanceof RepeatedIndex)) throw error;
    throw new DataError(`${name}: row ${row}: ${error.message}; expected distinct indices`);
  }
}
