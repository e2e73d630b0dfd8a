import type { Dataset, DatasetPart } from '../data/dataset.ts';
import type { Arena } from './arena.ts';
import type { Imbalance, Partition } from './partition.ts';

export type Orientation = 'rows' | 'columns';

/** The part X[I_q, J_r] of the data; see src/kernels/kernels.ts for the layout. */
export interface GridCell {
  readonly offsets: Int32Array;
  readonly indices: Int32Array;
  readonly values: Float32Array;
}

/** The p × p grid of the paper: cell q·p + r holds Ω^(q,r), row by row or column by column. */
export interface Grid {
  readonly size: number;
  readonly orientation: Orientation;
  readonly partition: Partition;
  readonly cells: readonly GridCell[];
}

/** Reserves the memory of a grid: 8 bytes an entry, 4 a unit and cell. */
export function allocateGrid(arena: Arena, partition: Partition, orientation: Orientation): Grid {
  const { size, rowStarts, columnStarts, workerEntries } = partition;
  const cells: GridCell[] = [];
  for (let worker = 0; worker < size; worker++) {
    const indices = arena.int32(workerEntries[worker]);
    const values = arena.float32(workerEntries[worker]);
    for (let block = 0; block < size; block++) {
      const units =
        orientation === 'rows'
          ? rowStarts[worker + 1] - rowStarts[worker]
          : columnStarts[block + 1] - columnStarts[block];
      cells.push({ offsets: arena.int32(units + 1), indices, values });
    }
  }
  return { size, orientation, partition, cells };
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
  const offsets = cells.map((cell) => cell.offsets);
  const rows = workerRows(partition, dataset, worker);
  const ones = intercept ? dataset.columns : -1;
  countUnits(grid, rows, ones, offsets);
  let filled = 0;
  for (const starts of offsets) {
    starts[0] = filled;
    for (let unit = 1; unit < starts.length; unit++) starts[unit] += starts[unit - 1];
    filled = starts[starts.length - 1];
  }
  const next = offsets.map((starts) => starts.slice());
  placeEntries(grid, rows, ones, next, cells[0].indices, cells[0].values);
}

/** Where a worker's rows lie in the data set, in the worker's order. */
interface WorkerRows {
  readonly parts: readonly DatasetPart[];
  readonly part: Int32Array;
  readonly row: Int32Array;
}

function workerRows(
  { rowStarts, rowOrder }: Partition,
  { parts }: Pick<Dataset, 'parts'>,
  worker: number,
): WorkerRows {
  const ends: number[] = [];
  for (const { labels } of parts) ends.push((ends.at(-1) ?? 0) + labels.length);
  const count = rowStarts[worker + 1] - rowStarts[worker];
  const part = new Int32Array(count);
  const row = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const original = rowOrder[rowStarts[worker] + i];
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (original < ends[middle]) high = middle;
      else low = middle + 1;
    }
    part[i] = low;
    row[i] = original - (low > 0 ? ends[low - 1] : 0);
  }
  return { parts, part, row };
}

/** offsets[block][unit + 1] ← entries of that unit in that block. */
function countUnits(grid: Grid, rows: WorkerRows, ones: number, offsets: Int32Array[]): void {
  const { columnPlace, columnBlock, columnStarts } = grid.partition;
  const byRow = grid.orientation === 'rows';
  for (let i = 0; i < rows.row.length; i++) {
    const { rowOffsets, indices } = rows.parts[rows.part[i]];
    const last = rowOffsets[rows.row[i] + 1];
    for (let k = rowOffsets[rows.row[i]]; k < last; k++) {
      const block = columnBlock[indices[k]];
      offsets[block][(byRow ? i : columnPlace[indices[k]] - columnStarts[block]) + 1]++;
    }
    if (ones >= 0) {
      const block = columnBlock[ones];
      offsets[block][(byRow ? i : columnPlace[ones] - columnStarts[block]) + 1]++;
    }
  }
}

function placeEntries(
  grid: Grid,
  rows: WorkerRows,
  ones: number,
  next: Int32Array[],
  targetIndices: Int32Array,
  targetValues: Float32Array,
): void {
  const { columnPlace, columnBlock, columnStarts } = grid.partition;
  const byRow = grid.orientation === 'rows';
  for (let i = 0; i < rows.row.length; i++) {
    const { rowOffsets, indices, values } = rows.parts[rows.part[i]];
    const last = rowOffsets[rows.row[i] + 1];
    for (let k = rowOffsets[rows.row[i]]; k < last; k++) {
      const block = columnBlock[indices[k]];
      const column = columnPlace[indices[k]] - columnStarts[block];
      const at = next[block][byRow ? i : column]++;
      targetIndices[at] = byRow ? column : i;
      targetValues[at] = values[k];
    }
    if (ones >= 0) {
      const block = columnBlock[ones];
      const column = columnPlace[ones] - columnStarts[block];
      const at = next[block][byRow ? i : column]++;
      targetIndices[at] = byRow ? column : i;
      targetValues[at] = 1;
    }
  }
}

/** Largest over fair share, minus 1, of rows, columns and entries per cell. */
export function imbalance(grid: Grid): Imbalance {
  const { size, partition, cells } = grid;
  const spread = (shares: number[]) => {
    const total = shares.reduce((sum, share) => sum + share, 0);
    return total > 0 ? (Math.max(...shares) * shares.length) / total - 1 : 0;
  };
  const lengths = (starts: Int32Array) =>
    Array.from({ length: size }, (_, k) => starts[k + 1] - starts[k]);
  return {
    rows: spread(lengths(partition.rowStarts)),
    columns: spread(lengths(partition.columnStarts)),
    nonzeros: spread(cells.map(({ offsets }) => offsets[offsets.length - 1] - offsets[0])),
  };
}
