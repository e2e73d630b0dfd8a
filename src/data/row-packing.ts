import {
  countNonzeros,
  type Dataset,
  type DatasetPart,
  sharedFloat32,
  sharedInt32,
} from './dataset.ts';

/* Rows packed into bytes, to be sent from the process that read them to the one that uses them. */

/** Offsets in a part are 32-bit. */
const largestPart = 2 ** 31 - 1;

/** How many entries each row has. */
export function rowLengths({ parts, rows }: Pick<Dataset, 'parts' | 'rows'>): Int32Array {
  const lengths = new Int32Array(new SharedArrayBuffer(4 * rows));
  let row = 0;
  for (const { rowOffsets } of parts) {
    for (let local = 0; local + 1 < rowOffsets.length; local += 1) {
      lengths[row] = rowOffsets[local + 1] - rowOffsets[local];
      row += 1;
    }
  }
  return lengths;
}

/** How many entries each of `columns` columns has, which may be more than occur in the shard. */
export function columnCounts(
  { parts, stored }: Pick<Dataset, 'parts' | 'stored'>,
  columns: number,
): Int32Array {
  if (stored) return stored.countColumns(columns);
  const counts = new Int32Array(new SharedArrayBuffer(4 * columns));
  for (const { indices } of parts) {
    for (let entry = 0; entry < indices.length; entry += 1) counts[indices[entry]] += 1;
  }
  return counts;
}

/** Bytes of packed rows: labels, weights if there are some, and an index and a value per entry. */
export function packedBytes(lengths: Int32Array, weighted = false): number {
  let entries = 0;
  for (let row = 0; row < lengths.length; row += 1) entries += lengths[row];
  return (weighted ? 16 : 8) * lengths.length + 8 * entries;
}

interface Packed {
  readonly labels: Float64Array;
  readonly weights: Float64Array | undefined;
  readonly indices: Int32Array;
  readonly values: Float32Array;
}

function packedArrays(
  { buffer, byteOffset, byteLength }: Uint8Array,
  rows: number,
  weighted: boolean,
): Packed {
  const start = byteOffset + (weighted ? 16 : 8) * rows;
  const entries = (byteOffset + byteLength - start) / 8;
  return {
    labels: new Float64Array(buffer, byteOffset, rows),
    weights: weighted ? new Float64Array(buffer, byteOffset + 8 * rows, rows) : undefined,
    indices: new Int32Array(buffer, start, entries),
    values: new Float32Array(buffer, start + 4 * entries, entries),
  };
}

/**
 * The rows with the given numbers, from 0, in the order given, on shared memory: all labels, weights
 * if requested, indices and values. The receiver must know the lengths of the rows.
 */
export function packRows(
  dataset: Pick<Dataset, 'parts'>,
  rows: Int32Array,
  weighted = false,
): Uint8Array {
  const finder = new RowFinder(dataset.parts);
  let entries = 0;
  for (const row of rows) entries += finder.find(row).length;
  const heads = (weighted ? 16 : 8) * rows.length;
  const bytes = new Uint8Array(new SharedArrayBuffer(heads + 8 * entries));
  const { labels, weights, indices, values } = packedArrays(bytes, rows.length, weighted);
  let filled = 0;
  for (let position = 0; position < rows.length; position += 1) {
    const { part, row, from, length } = finder.find(rows[position]);
    labels[position] = part.labels[row];
    if (weights) weights[position] = part.weights ? part.weights[row] : 1;
    for (let entry = 0; entry < length; entry += 1) {
      indices[filled + entry] = part.indices[from + entry];
      values[filled + entry] = part.values[from + entry];
    }
    filled += length;
  }
  return bytes;
}

/** Finds a row in the parts of a data set, quickly if it is in the same part as the last one. */
export class RowFinder {
  readonly #parts: readonly DatasetPart[];
  readonly #starts: Float64Array;
  #current = 0;
  part: DatasetPart;
  /** In the part. */
  row = 0;
  from = 0;
  length = 0;

  constructor(parts: readonly DatasetPart[]) {
    this.#parts = parts;
    this.#starts = new Float64Array(parts.length + 1);
    for (const [number, { labels }] of parts.entries()) {
      this.#starts[number + 1] = this.#starts[number] + labels.length;
    }
    this.part = parts[0];
  }

  find(row: number): this {
    const starts = this.#starts;
    if (!(row >= starts[this.#current] && row < starts[this.#current + 1])) this.#search(row);
    this.row = row - starts[this.#current];
    this.from = this.part.rowOffsets[this.row];
    this.length = this.part.rowOffsets[this.row + 1] - this.from;
    return this;
  }

  #search(row: number): void {
    const rows = this.#starts[this.#parts.length];
    if (!(row >= 0 && row < rows)) throw new RangeError(`row ${row} of ${rows}`);
    let low = 0;
    let high = this.#parts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle] <= row) low = middle;
      else high = middle;
    }
    this.#current = low;
    this.part = this.#parts[low];
  }
}

/**
 * Packed rows as parts of a data set: one part unless there are more entries than a part can have.
 * The arrays are views of the bytes if those are in shared memory and aligned to eight.
 */
export function unpackRows(
  bytes: Uint8Array,
  lengths: Int32Array,
  mostEntries = largestPart,
  weighted = false,
): DatasetPart[] {
  const size = packedBytes(lengths, weighted);
  if (bytes.length !== size) throw new RangeError(`${bytes.length} bytes of rows, not ${size}`);
  const packed = packedArrays(usable(bytes), lengths.length, weighted);
  const { labels, weights, indices, values } = packed;
  const parts: DatasetPart[] = [];
  let row = 0;
  let entry = 0;
  while (row < lengths.length) {
    const end = lastFitting(lengths, row, mostEntries);
    const rowOffsets = new Int32Array(new SharedArrayBuffer(4 * (end - row + 1)));
    for (let next = row; next < end; next += 1) {
      rowOffsets[next - row + 1] = rowOffsets[next - row] + lengths[next];
    }
    const last = entry + rowOffsets[end - row];
    parts.push({
      rowOffsets,
      labels: labels.subarray(row, end),
      indices: indices.subarray(entry, last),
      values: values.subarray(entry, last),
      ...(weights && { weights: weights.subarray(row, end) }),
    });
    row = end;
    entry = last;
  }
  return parts;
}

/** Behind the last row of a part that begins with row `first`: it has at least that row. */
function lastFitting(lengths: Int32Array, first: number, mostEntries: number): number {
  let entries = lengths[first];
  let end = first + 1;
  while (end < lengths.length && entries + lengths[end] <= mostEntries) {
    entries += lengths[end];
    end += 1;
  }
  return end;
}

function usable(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer && bytes.byteOffset % 8 === 0) return bytes;
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** The data set without entries in columns from `columns` on; the same one where there are none. */
export function withColumns(dataset: Dataset, columns: number): Dataset {
  if (dataset.columns <= columns) return { ...dataset, columns };
  const parts = dataset.parts.map((part) => partWithColumns(part, columns));
  return { ...dataset, parts, columns, nonzeros: countNonzeros(parts) };
}

function partWithColumns(part: DatasetPart, columns: number): DatasetPart {
  const { labels, indices, values } = part;
  const rowOffsets = sharedInt32(part.rowOffsets);
  const selected: number[] = [];
  for (let row = 0; row < labels.length; row += 1) {
    for (let entry = part.rowOffsets[row]; entry < part.rowOffsets[row + 1]; entry += 1) {
      if (indices[entry] < columns) selected.push(entry);
    }
    rowOffsets[row + 1] = selected.length;
  }
  return {
    ...part,
    rowOffsets,
    indices: sharedInt32(selected.map((entry) => indices[entry])),
    values: sharedFloat32(selected.map((entry) => values[entry])),
  };
}
