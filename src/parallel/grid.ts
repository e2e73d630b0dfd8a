import type { Dataset } from '../data/dataset.ts';
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
  const { size, partition, orientation, cells } = grid;
  const { rowStarts, rowOrder, columnStarts, columnPlace } = partition;
  const mine = cells.slice(worker * size, (worker + 1) * size);
  const byRow = orientation === 'rows';
  const blockOf = new Uint16Array(columnPlace.length);
  const localOf = new Int32Array(columnPlace.length);
  for (let block = 0; block < size; block++) {
    for (let place = columnStarts[block]; place < columnStarts[block + 1]; place++) {
      const column = partition.columnOrder[place];
      blockOf[column] = block;
      localOf[column] = place - columnStarts[block];
    }
  }
  const partStarts = [0];
  for (const part of dataset.parts) {
    partStarts.push(partStarts[partStarts.length - 1] + part.rowOffsets.length - 1);
  }

  /** Calls back for every entry of the worker's rows in their order. */
  const eachEntry = (visit: (row: number, column: number, value: number) => void): void => {
    for (let place = rowStarts[worker]; place < rowStarts[worker + 1]; place++) {
      const original = rowOrder[place];
      let low = 0;
      let high = partStarts.length - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (partStarts[middle] <= original) low = middle;
        else high = middle;
      }
      const part = dataset.parts[low];
      const i = original - partStarts[low];
      const { indices, values } = part;
      const last = part.rowOffsets[i + 1];
      const row = place - rowStarts[worker];
      for (let k = part.rowOffsets[i]; k < last; k++) visit(row, indices[k], values[k]);
      if (intercept) visit(row, dataset.columns, 1);
    }
  };

  eachEntry((row, column) => {
    mine[blockOf[column]].offsets[(byRow ? row : localOf[column]) + 1]++;
  });
  let filled = 0;
  const next = mine.map(({ offsets }) => {
    offsets[0] = filled;
    for (let unit = 1; unit < offsets.length; unit++) offsets[unit] += offsets[unit - 1];
    filled = offsets[offsets.length - 1];
    return offsets.slice();
  });
  const { indices, values } = mine[0];
  eachEntry((row, column, value) => {
    const block = blockOf[column];
    const at = next[block][byRow ? row : localOf[column]]++;
    indices[at] = byRow ? localOf[column] : row;
    values[at] = value;
  });
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
