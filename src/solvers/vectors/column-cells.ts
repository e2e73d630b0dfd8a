import type { Arena } from '../../engine/arena.ts';
import { allocateGrid, type Grid, type GridCell } from '../../engine/grid.ts';
import type { Partition } from '../../engine/partition.ts';

/** Room for the non-zeros once more, compressed by columns: 8 bytes each. */
export function allocateColumnCells(arena: Arena, partition: Partition): readonly GridCell[] {
  return allocateGrid(arena, partition, 'columns').cells;
}

/**
 * Copies the cells of one worker into cells that are compressed by columns instead of rows, or by rows
 * instead of columns; the rows of a column, or the columns of a row, keep their order.
 */
export function fillTransposed(
  { size, cells }: Grid,
  transposed: readonly GridCell[],
  worker: number,
): void {
  let filled = 0;
  for (let k = worker * size; k < (worker + 1) * size; k++) {
    filled = transpose(cells[k], transposed[k], filled);
  }
}

/** Entries go to the places from `filled` on; returns the place behind the last. */
function transpose(from: GridCell, to: GridCell, filled: number): number {
  const { offsets, indices, values } = from;
  const { indices: unitsOf, values: valuesOf } = to;
  const units = offsets.length - 1;
  const others = to.offsets.length - 1;
  const next = new Int32Array(others + 1);
  for (let k = offsets[0]; k < offsets[units]; k++) next[indices[k] + 1]++;
  next[0] = filled;
  for (let j = 0; j < others; j++) next[j + 1] += next[j];
  to.offsets.set(next);
  for (let i = 0; i < units; i++) {
    const last = offsets[i + 1];
    for (let k = offsets[i]; k < last; k++) {
      const at = next[indices[k]]++;
      unitsOf[at] = i;
      valuesOf[at] = values[k];
    }
  }
  return to.offsets[others];
}
