import type { Arena } from '../../engine/arena.ts';
import { allocateGrid, type Grid, type GridCell } from '../../engine/grid.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Kernels } from '../kernels/kernels.ts';

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
  kernels: Kernels,
): void {
  let filled = 0;
  for (let k = worker * size; k < (worker + 1) * size; k++) {
    const { offsets, indices, values } = transposed[k];
    const rest = { offsets, indices: indices.subarray(filled), values: values.subarray(filled) };
    kernels.packRows(cells[k], cells[k].offsets.length - 1, rest);
    if (filled > 0) for (let j = 0; j < offsets.length; j++) offsets[j] += filled;
    filled = offsets[offsets.length - 1];
  }
}
