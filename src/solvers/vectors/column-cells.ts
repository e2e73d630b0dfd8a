import type { Arena } from '../../engine/arena.ts';
import { allocateGrid, type Grid, type GridCell } from '../../engine/grid.ts';
import type { Partition } from '../../engine/partition.ts';

/** Room for the non-zeros once more, compressed by columns: 8 bytes each. */
export function allocateColumnCells(arena: Arena, partition: Partition): readonly GridCell[] {
  return allocateGrid(arena, partition, 'columns').cells;
}

/** Copies the cells of one worker, which are compressed by rows; the rows of a column keep their order. */
export function fillColumnCells(
  { size, cells }: Grid,
  columnCells: readonly GridCell[],
  worker: number,
): void {
  let filled = 0;
  for (let k = worker * size; k < (worker + 1) * size; k++) {
    filled = transpose(cells[k], columnCells[k], filled);
  }
}

/** Entries go to the places from `filled` on; returns the place behind the last. */
function transpose(from: GridCell, to: GridCell, filled: number): number {
  const { offsets, indices, values } = from;
  const { indices: rowsOf, values: valuesOf } = to;
  const rows = offsets.length - 1;
  const columns = to.offsets.length - 1;
  const next = new Int32Array(columns + 1);
  for (let k = offsets[0]; k < offsets[rows]; k++) next[indices[k] + 1]++;
  next[0] = filled;
  for (let j = 0; j < columns; j++) next[j + 1] += next[j];
  to.offsets.set(next);
  for (let i = 0; i < rows; i++) {
    const last = offsets[i + 1];
    for (let k = offsets[i]; k < last; k++) {
      const at = next[indices[k]]++;
      rowsOf[at] = i;
      valuesOf[at] = values[k];
    }
  }
  return to.offsets[columns];
}
