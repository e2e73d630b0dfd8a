import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { reserve } from '../block-state.ts';
import type { Cell } from '../kernels/kernels.ts';
import { workingStat } from '../kernels/working-set-kernels.ts';
import { allColumns } from '../whole.ts';

/** Displacements that the subspace step remembers. */
export const remembered = 4;
/** Working sets of up to this many columns have their models solved exactly. */
export const smallSet = 256;
/** Columns that step together at most: what one reduction holds. */
export const mostTogether = 16;
/** Columns whose sums workers share at once. */
export const mostSummed = 1024;

export type WorkingSetMemory = ReturnType<typeof allocateWorkingSet>;

export function allocateWorkingSet(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  const columns = allColumns(partition);
  const workers = partition.end - partition.first;
  const spans = Array.from({ length: remembered + 1 }, () => ({
    columns: arena.float64(columns),
    rows: arena.float64(rows),
  }));
  return {
    ...reserve(arena, 'float64', partition.bufferLength, ['weights', 'image', 'visiting']),
    /** Of the iterate and of where a line search goes; α of the iterate, moved, and what is offered. */
    ...reserve(arena, 'float64', rows, ['margins', 'next', 'alpha', 'repaired', 'offered']),
    /** The model, q = h ∘ (X d) and earlier values of it, directions of the subspace step. */
    rows: reserve(arena, 'float64', rows, [
      'derivatives',
      'slopes',
      'curvatures',
      'inverses',
      'moved',
      'before',
      'kept',
      'direction',
      'bent',
    ]),
    sharing: arena.uint8(rows),
    /** All columns, in every process. */
    all: reserve(arena, 'float64', columns, ['weights', 'image', 'l1', 'l2', 'counts']),
    /** The columns of W, in the order of its cycles; `places`: where workers have them. */
    set: reserve(arena, 'float64', columns, [
      'start',
      'now',
      'before',
      'kept',
      'direction',
      'bent',
      'gradients',
      'hessians',
      'l1',
      'l2',
      'violations',
      'counts',
      'deltas',
    ]),
    ...reserve(arena, 'int32', columns, ['list', 'places', 'units']),
    visits: arena.int32(columns + 1),
    /** Last displacements, by columns of W and by rows. */
    spans,
    packed: Array.from({ length: workers }, (_, k) =>
      allocatePacked(arena, partition, partition.first + k),
    ),
    /** Of a small W: products of columns by workers and of all of them, and the factor of a part of them. */
    gram: arena.float64(smallSet * smallSet * workers),
    ...reserve(arena, 'float64', smallSet * smallSet, ['sum', 'factor']),
    starts: arena.int32(1),
    partial: arena.float64(2 * mostSummed * workers),
    dots: arena.float64(mostTogether),
    stats: arena.float64(workingStat.length),
    size: arena.int32(1),
  };
}

/** A worker's part of W, its columns one after the other, and of a small W by rows too. */
export interface PackedColumns {
  readonly columns: Cell;
  readonly rows: Cell;
  /** How many columns of its visit share the row of a non-zero; of several workers. */
  readonly shares: Uint8Array;
}

function allocatePacked(arena: Arena, partition: Partition, worker: number): PackedColumns {
  const nonzeros = partition.workerNonzeros[worker];
  const rows = partition.rowStarts[worker + 1] - partition.rowStarts[worker];
  return {
    columns: allocateCell(arena, allColumns(partition), nonzeros),
    rows: allocateCell(arena, rows, Math.min(nonzeros, rows * smallSet)),
    shares: arena.uint8(partition.size > 1 ? nonzeros : 0),
  };
}

function allocateCell(arena: Arena, units: number, nonzeros: number): Cell {
  return {
    offsets: arena.int32(units + 1),
    indices: arena.int32(nonzeros),
    values: arena.float32(nonzeros),
  };
}
