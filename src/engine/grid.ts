import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { intervalOf } from '../math/vectors.ts';
import type { Arena } from './arena.ts';
import { type DiskCells, nonzeroBytes } from './disk/disk-cells.ts';
import { cutSegments, type Imbalance, type Partition, type Segments } from './partition.ts';

export type Orientation = 'rows' | 'columns';

/** The part X[I_q, J_r] of the data; see src/solvers/kernels/kernels.ts for the layout. */
export interface GridCell {
  readonly offsets: Int32Array;
  readonly indices: Int32Array;
  readonly values: Float32Array;
}

/** The p × p grid of the paper: cell q·p + r holds Ω^(q,r); other processes' cells are empty. */
export interface Grid {
  readonly size: number;
  readonly orientation: Orientation;
  readonly partition: Partition;
  /** In memory; openCells reaches them wherever they are. */
  readonly cells: readonly GridCell[];
  /** Of rows, in row orientation. */
  readonly segments: Segments;
  /** The cells, if they are on disk. */
  readonly disk?: DiskCells;
}

const noCell: GridCell = {
  offsets: new Int32Array(1),
  indices: new Int32Array(0),
  values: new Float32Array(0),
};

/** Reserves the memory of a grid: 8 bytes an entry, 4 a unit and cell. */
export function allocateGrid(arena: Arena, partition: Partition, orientation: Orientation): Grid {
  const { size, first, end, rowStarts, blockLengths, workerNonzeros } = partition;
  const cells: GridCell[] = Array.from({ length: size * size }, () => noCell);
  for (let worker = first; worker < end; worker++) {
    const indices = arena.int32(workerNonzeros[worker]);
    const values = arena.float32(workerNonzeros[worker]);
    const units = (block: number) =>
      orientation === 'rows' ? rowStarts[worker + 1] - rowStarts[worker] : blockLengths[block];
    let length = 0;
    for (let block = 0; block < size; block++) length += units(block) + 1;
    // One array for all cells of a worker: filling it touches no array of arrays.
    const offsets = arena.int32(length);
    for (let block = 0, from = 0; block < size; block++) {
      const to = from + units(block) + 1;
      const view = offsets.subarray(from, to);
      cells[worker * size + block] = { offsets: view, indices, values };
      from = to;
    }
  }
  const segments = orientation === 'rows' ? cutSegments(partition) : [];
  return { size, orientation, partition, cells, segments };
}

/** The offsets of all cells of a worker, which are one after the other. */
export function workerOffsets({ size, cells }: Grid, worker: number): Int32Array {
  const first = cells[worker * size].offsets;
  const last = cells[(worker + 1) * size - 1].offsets;
  const length = (last.byteOffset - first.byteOffset) / 4 + last.length;
  return new Int32Array(first.buffer, first.byteOffset, length);
}

/** Copies the rows of one worker from the data set into its cells. */
export function fillWorker(
  grid: Grid,
  dataset: Pick<Dataset, 'parts' | 'columns'>,
  intercept: boolean,
  worker: number,
): void {
  const { size, partition } = grid;
  const cells = grid.cells.slice(worker * size, (worker + 1) * size);
  const offsets = workerOffsets(grid, worker);
  const rows = workerRows(partition, dataset, intercept, worker);
  const slots = slotsOf(grid, cells, offsets);
  if (size === 1) offsetsFromCounts(grid);
  else {
    countUnits(rows, slots, offsets);
    let filled = 0;
    for (const { offsets: starts } of cells) {
      starts[0] = filled;
      for (let unit = 1; unit < starts.length; unit++) starts[unit] += starts[unit - 1];
      filled = starts[starts.length - 1];
    }
  }
  insertEntries(rows, slots, offsets.slice(), cells[0]);
}

/** With one worker, offsets follow from counts, so threads can fill rows in parallel. */
export function canFillByRows({ size, orientation }: Grid): boolean {
  return size === 1 && orientation === 'rows';
}

export function offsetsFromCounts({ cells, partition, orientation }: Grid): void {
  const { offsets } = cells[0];
  const counts = orientation === 'rows' ? partition.rowCounts : partition.columnCounts;
  let filled = 0;
  for (let unit = 0; unit < counts.length; unit++) {
    filled += counts[unit];
    offsets[unit + 1] = filled;
  }
}

export function fillRows(
  grid: Grid,
  dataset: Pick<Dataset, 'parts' | 'columns'>,
  intercept: boolean,
  range: readonly [number, number],
): void {
  const { offsets, indices, values } = grid.cells[0];
  const { columnPosition } = grid.partition;
  const { parts, part, row, ones } = workerRows(grid.partition, dataset, intercept, 0);
  for (let i = range[0]; i < range[1]; i++) {
    const source = parts[part[i]];
    const last = source.rowOffsets[row[i] + 1];
    let at = offsets[i];
    for (let k = source.rowOffsets[row[i]]; k < last; k++, at++) {
      indices[at] = columnPosition[source.indices[k]];
      values[at] = source.values[k];
    }
    if (ones >= 0) {
      indices[at] = columnPosition[ones];
      values[at] = 1;
    }
  }
}

/** Where a worker's rows are in the data set, in the worker's order. */
interface WorkerRows {
  readonly parts: readonly DatasetPart[];
  readonly part: Int32Array;
  readonly row: Int32Array;
  /** The column of ones behind all others, −1 without an intercept. */
  readonly ones: number;
}

function workerRows(
  { rowStarts, rowOrder }: Partition,
  { parts, columns }: Pick<Dataset, 'parts' | 'columns'>,
  intercept: boolean,
  worker: number,
): WorkerRows {
  const starts = new Int32Array(parts.length + 1);
  for (const [k, { labels }] of parts.entries()) starts[k + 1] = starts[k] + labels.length;
  const count = rowStarts[worker + 1] - rowStarts[worker];
  const part = new Int32Array(count);
  const row = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const original = rowOrder[rowStarts[worker] + i];
    if (parts.length > 1) part[i] = intervalOf(starts, original);
    row[i] = original - starts[part[i]];
  }
  return { parts, part, row, ones: intercept ? columns : -1 };
}

/** Where the entries of columns go among the units of all cells of a worker. */
interface Slots {
  /** Of row 0 in the block of a column, or of the column itself. */
  readonly first: Int32Array;
  /** The column in its block. */
  readonly local: Int32Array;
  readonly byRow: boolean;
}

function slotsOf(
  { orientation, partition }: Grid,
  cells: readonly GridCell[],
  offsets: Int32Array,
): Slots {
  const { columnPosition, columnBlock, columnBounds } = partition;
  const byRow = orientation === 'rows';
  const first = new Int32Array(columnPosition.length);
  const local = new Int32Array(columnPosition.length);
  for (let column = 0; column < first.length; column++) {
    const block = columnBlock[column];
    local[column] = columnPosition[column] - columnBounds[block];
    const base = (cells[block].offsets.byteOffset - offsets.byteOffset) / 4;
    first[column] = base + (byRow ? 0 : local[column]);
  }
  return { first, local, byRow };
}

/** offsets[slot + 1] ← entries of each unit of each cell. */
function countUnits(
  { parts, part, row: rows, ones }: WorkerRows,
  { first, byRow }: Slots,
  offsets: Int32Array,
): void {
  for (let i = 0; i < rows.length; i++) {
    const { rowOffsets, indices } = parts[part[i]];
    const last = rowOffsets[rows[i] + 1];
    const from = byRow ? i + 1 : 1;
    for (let k = rowOffsets[rows[i]]; k < last; k++) offsets[first[indices[k]] + from]++;
    if (ones >= 0) offsets[first[ones] + from]++;
  }
}

function insertEntries(
  { parts, part, row: rows, ones }: WorkerRows,
  { first, local, byRow }: Slots,
  next: Int32Array,
  { indices: targetIndices, values: targetValues }: GridCell,
): void {
  for (let i = 0; i < rows.length; i++) {
    const { rowOffsets, indices, values } = parts[part[i]];
    const last = rowOffsets[rows[i] + 1];
    const from = byRow ? i : 0;
    for (let k = rowOffsets[rows[i]]; k < last; k++) {
      const column = indices[k];
      const at = next[first[column] + from]++;
      targetIndices[at] = byRow ? local[column] : i;
      targetValues[at] = values[k];
    }
    if (ones >= 0) {
      const at = next[first[ones] + from]++;
      targetIndices[at] = byRow ? local[ones] : i;
      targetValues[at] = 1;
    }
  }
}

/** Non-zeros of each cell of the workers of this process. */
export function nonzerosOfCells({ size, partition, cells, disk }: Grid): number[] {
  if (disk) return disk.positions.flatMap((positions) => nonzerosOfWorker(positions, size));
  return cells
    .slice(partition.first * size, partition.end * size)
    .map(({ offsets }) => offsets[offsets.length - 1] - offsets[0]);
}

/** Non-zeros of a worker in each block, by the positions of its chunks. */
function nonzerosOfWorker(positions: Float64Array, size: number): number[] {
  const nonzeros = new Array<number>(size).fill(0);
  for (let chunk = 0; chunk + 1 < positions.length; chunk++) {
    nonzeros[chunk % size] += (positions[chunk + 1] - positions[chunk]) / nonzeroBytes;
  }
  return nonzeros;
}

/** How uneven rows, columns and non-zeros per cell of all workers are. */
export function imbalance(
  { rowBounds, blockLengths }: Pick<Partition, 'rowBounds' | 'blockLengths'>,
  cellEntries: readonly number[],
): Imbalance {
  const spread = (shares: readonly number[]) => {
    const total = shares.reduce((sum, share) => sum + share, 0);
    return total > 0 ? (Math.max(...shares) * shares.length) / total - 1 : 0;
  };
  return {
    rows: spread(Array.from(blockLengths, (_, k) => rowBounds[k + 1] - rowBounds[k])),
    columns: spread([...blockLengths]),
    nonzeros: spread(cellEntries),
  };
}
