import { stream } from '../math/random.ts';
import { separateArena } from './arena.ts';
import { type BlockLayout, layOutBlocks } from './block-layout.ts';

/** |Ω_i| and |Ω̄_j| of all rows and columns, in input order. */
export type NonzeroCounts = Readonly<Record<'rows' | 'columns', Int32Array>>;

/**
 * Which worker owns which rows (I_q) and which block holds which columns (J_r), and the order of
 * both: rows of worker 0, then of worker 1, …; columns of block 0, then of block 1, …. Depends on
 * the data, the seed and the grid size only.
 */
export type Placement = Readonly<ReturnType<typeof placeRowsAndColumns>>;

/**
 * The part of a placement that one process holds: rows of the workers it runs, columns of the
 * blocks it is home to. Positions count from the first of them; rowOrder has rows of its data.
 */
export interface Partition extends Placement, BlockLayout {
  /** The workers that this process runs, and the blocks it is home to: first … end-1. */
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
export type Imbalance = Readonly<Record<'rows' | 'columns' | 'nonzeros', number>>;

/** Assigns each item to the group with the smallest share of entries plus share of items. */
function assignGroups(order: Int32Array, counts: Int32Array, size: number): Uint16Array {
  let total = 0;
  for (let k = 0; k < counts.length; k++) total += counts[k];
  const perEntry = total > 0 ? 1 / total : 0;
  const perItem = 1 / Math.max(1, order.length);
  const load = new Float64Array(size);
  const group = new Uint16Array(new SharedArrayBuffer(2 * counts.length));
  if (size === 1) return group;
  for (let k = 0; k < order.length; k++) {
    const item = order[k];
    let best = 0;
    for (let g = 1; g < size; g++) if (load[g] < load[best]) best = g;
    group[item] = best;
    load[best] += counts[item] * perEntry + perItem;
  }
  return group;
}

/** Lays the groups one after the other; inside a group the order stays. */
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

/** What the process that runs the workers first … end-1 holds; rowOrder has original rows. */
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

/** Rows that are always visited together, for the cache; shuffling made them a random sample. */
export const rowsTogether = 16;

/** A worker with fewer entries (4 MB) has a single segment. */
const worthCutting = 2 ** 19;
/** Segments have between about these numbers of entries; the larger one is a megabyte. */
const fewestEntries = 2 ** 12;
const mostEntries = 2 ** 17;
/**
 * Between the two the workers have this many segments together. The order of segments is what is
 * random in an epoch, and momentum is disturbed when there are only dozens of them (debdesc,
 * logistic loss, passes to a gap of 10⁻³: 14 with 256 segments or more, 16 with 128, 38 with 16).
 */
const segmentGoal = 2048;

/**
 * The rows of each worker, cut into segments: starts[worker][s] is the first row of segment s,
 * followed by the number of rows. A worker visits its rows segment by segment, so a few segments in
 * memory are enough. The cuts decide the order of rows and with it the bits of the result: they
 * depend on the data and the grid alone.
 */
export type Segments = readonly Int32Array[];

export function cutSegments({ size, rowStarts, rowCounts, workerNonzeros }: Partition): Segments {
  return Array.from({ length: size }, (_, worker) => {
    const from = rowStarts[worker];
    const rows = rowStarts[worker + 1] - from;
    const goal = entriesPerSegment(workerNonzeros[worker], size);
    const starts = [0];
    let entries = 0;
    for (let row = 0; row < rows; row++) {
      if (row % rowsTogether === 0 && entries >= goal) {
        starts.push(row);
        entries = 0;
      }
      entries += rowCounts[from + row];
    }
    return Int32Array.from(rows > 0 ? [...starts, rows] : starts);
  });
}

function entriesPerSegment(entries: number, workers: number): number {
  if (entries < worthCutting) return Infinity;
  return Math.min(mostEntries, Math.max(fewestEntries, (entries * workers) / segmentGoal));
}
