import { stream } from '../math/random.ts';
import { separateArena } from './arena.ts';
import { type BlockLayout, layOutBlocks } from './block-layout.ts';

/** |Ω_i| and |Ω̄_j| of all rows and columns, in input order. */
export interface NonzeroCounts {
  readonly rows: Int32Array;
  readonly columns: Int32Array;
}

/**
 * Which worker owns which rows (I_q) and which block holds which columns (J_r), and the order of
 * both: rows of worker 0, then of worker 1, …; columns of block 0, then of block 1, …. Depends on
 * the data, the seed and the grid size only.
 */
export type Placement = Readonly<ReturnType<typeof placeRowsAndColumns>>;

/**
 * The part of a placement that one process holds: rows of the workers it plays, columns of the
 * blocks it is home to. Positions count from the first of them; rowOrder has rows of its data.
 */
export interface Partition extends Placement, BlockLayout {
  /** The workers that this process plays, and the blocks it is home to: first … end-1. */
  readonly first: number;
  readonly end: number;
  /** Bounds among the positions of this process, where the workers of others have none. */
  readonly rowStarts: Int32Array;
  readonly columnStarts: Int32Array;
  /** |Ω_i| and |Ω̄_j| by position. */
  readonly rowCounts: Int32Array;
  readonly columnCounts: Int32Array;
}

/** How uneven a partition is: the largest share divided by the fair share, minus 1. */
export interface Imbalance {
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
}

/** Assigns each item to the group with the smallest share of entries plus share of items. */
function assignGroups(order: Int32Array, counts: Int32Array, size: number): Uint16Array {
  let total = 0;
  for (let k = 0; k < counts.length; k++) total += counts[k];
  const perEntry = total > 0 ? 1 / total : 0;
  const perItem = 1 / Math.max(1, order.length);
  const load = new Float64Array(size);
  const group = new Uint16Array(new SharedArrayBuffer(2 * counts.length));
  for (let k = 0; k < order.length; k++) {
    const item = order[k];
    let best = 0;
    for (let g = 1; g < size; g++) if (load[g] < load[best]) best = g;
    group[item] = best;
    load[best] += counts[item] * perEntry + perItem;
  }
  return group;
}

/** Lays the groups one after the other; inside a group the order is kept. */
function layOut(order: Int32Array, group: Uint16Array, size: number) {
  const starts = separateArena.int32(size + 1);
  for (let k = 0; k < order.length; k++) starts[group[order[k]] + 1]++;
  for (let g = 0; g < size; g++) starts[g + 1] += starts[g];
  const next = starts.slice(0, size);
  const placed = separateArena.int32(order.length);
  for (let k = 0; k < order.length; k++) placed[next[group[order[k]]]++] = order[k];
  return { starts, placed };
}

/** Items by falling count, equal counts by index (a counting sort). */
function byFallingCount(counts: Int32Array): Int32Array {
  let largest = 0;
  for (let k = 0; k < counts.length; k++) if (counts[k] > largest) largest = counts[k];
  const next = new Int32Array(largest + 2);
  for (let k = 0; k < counts.length; k++) next[largest - counts[k] + 1]++;
  for (let c = 0; c <= largest; c++) next[c + 1] += next[c];
  const order = new Int32Array(counts.length);
  for (let k = 0; k < counts.length; k++) order[next[largest - counts[k]]++] = k;
  return order;
}

export function placeRowsAndColumns(counts: NonzeroCounts, size: number, seed: number) {
  // Rows are shuffled once, here, so that a worker can sweep its memory in order.
  const shuffled = new Int32Array(counts.rows.length);
  for (let i = 0; i < shuffled.length; i++) shuffled[i] = i;
  stream(seed, 0).shuffle(shuffled, shuffled.length);
  const rows = layOut(shuffled, assignGroups(shuffled, counts.rows, size), size);
  // Frequent columns come first in their block, so that the weights in use share cache lines.
  const frequent = byFallingCount(counts.columns);
  const columnBlock = assignGroups(frequent, counts.columns, size);
  const columns = layOut(frequent, columnBlock, size);
  const columnPosition = separateArena.int32(counts.columns.length);
  for (let k = 0; k < columnPosition.length; k++) columnPosition[columns.placed[k]] = k;
  const workerNonzeros = new Float64Array(size);
  for (let worker = 0; worker < size; worker++) {
    for (let k = rows.starts[worker]; k < rows.starts[worker + 1]; k++) {
      workerNonzeros[worker] += counts.rows[rows.placed[k]];
    }
  }
  return {
    size,
    /** Worker q has the positions rowBounds[q] … rowBounds[q+1]-1. */
    rowBounds: rows.starts,
    /** Original row at each position. */
    rowOrder: rows.placed,
    columnBounds: columns.starts,
    /** Original column at each position; the intercept, if any, is the last original column. */
    columnOrder: columns.placed,
    /** Position of each original column, and the block it is in. */
    columnPosition,
    columnBlock,
    workerNonzeros,
  };
}

function boundsHere(bounds: Int32Array, first: number, end: number): Int32Array {
  const here = separateArena.int32(bounds.length);
  for (let k = 0; k < bounds.length; k++) {
    here[k] = bounds[Math.min(Math.max(k, first), end)] - bounds[first];
  }
  return here;
}

function countsAt(counts: Int32Array, order: Int32Array): Int32Array {
  const result = separateArena.int32(order.length);
  for (let k = 0; k < order.length; k++) result[k] = counts[order[k]];
  return result;
}

/** What the process that plays the workers first … end-1 holds; rowOrder has original rows. */
export function localPartition(
  placement: Placement,
  counts: NonzeroCounts,
  first: number,
  end: number,
): Partition {
  const { rowBounds, columnBounds } = placement;
  const rowOrder = placement.rowOrder.subarray(rowBounds[first], rowBounds[end]);
  const columnOrder = placement.columnOrder.subarray(columnBounds[first], columnBounds[end]);
  return {
    ...placement,
    first,
    end,
    rowStarts: boundsHere(rowBounds, first, end),
    rowOrder,
    columnStarts: boundsHere(columnBounds, first, end),
    columnOrder,
    columnCounts: countsAt(counts.columns, columnOrder),
    rowCounts: countsAt(counts.rows, rowOrder),
    ...layOutBlocks(columnBounds, first, end),
  };
}
