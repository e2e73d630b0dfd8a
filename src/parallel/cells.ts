import { StreamedCells } from '../engine/cells.ts';
import type { Grid, GridCell } from '../engine/grid.ts';

/**
 * What is done with entries: those of the units begin … end-1, of an order or of the cell itself,
 * are in the cell given.
 */
export type CellVisit = (cell: GridCell, begin: number, end: number) => void;

/**
 * The door to the entries of a grid. A cell in memory is visited once, whole; one that is on disk
 * piece by piece, as its segments come into memory.
 */
export interface Cells {
  /** The units order[begin … end-1], in this order. */
  over(
    worker: number,
    block: number,
    order: Int32Array,
    begin: number,
    end: number,
    visit: CellVisit,
  ): void;
  /** All units, from the first to the last. */
  through(worker: number, block: number, visit: CellVisit): void;
}

/** The entries as the thread of this number reaches them. */
export function openCells(grid: Grid, thread: number): Cells {
  return grid.stored ? new StreamedCells(grid, grid.stored, thread) : new ResidentCells(grid);
}

class ResidentCells implements Cells {
  readonly #grid: Grid;

  constructor(grid: Grid) {
    this.#grid = grid;
  }

  over(
    worker: number,
    block: number,
    _order: Int32Array,
    begin: number,
    end: number,
    visit: CellVisit,
  ): void {
    visit(this.#at(worker, block), begin, end);
  }

  through(worker: number, block: number, visit: CellVisit): void {
    const cell = this.#at(worker, block);
    visit(cell, 0, cell.offsets.length - 1);
  }

  #at(worker: number, block: number): GridCell {
    return this.#grid.cells[worker * this.#grid.size + block];
  }
}
