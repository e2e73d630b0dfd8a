import { type DiskCells, DiskWindow, nonzeroBytes } from './disk/disk-cells.ts';
import { segmentOf } from './disk/segments.ts';
import type { Grid, GridCell } from './grid.ts';

/** The entries of a grid that is on disk, through the window of one thread. */
export class DiskCellReader implements Cells {
  readonly #grid: Grid;
  readonly #stored: DiskCells;
  readonly #thread: number;
  readonly #window: DiskWindow<GridCell>;
  /** Chunks of the workers in front of each. */
  readonly #numbers: Float64Array;

  constructor(grid: Grid, stored: DiskCells, thread: number) {
    this.#grid = grid;
    this.#stored = stored;
    this.#thread = thread;
    const { window, shares, file } = stored;
    this.#window = new DiskWindow(window.subarray(shares[thread], shares[thread + 1]), file);
    this.#numbers = new Float64Array(grid.size + 1);
    for (let worker = 0; worker < grid.size; worker++) {
      this.#numbers[worker + 1] = this.#numbers[worker] + stored.positions[worker].length;
    }
  }

  over(
    worker: number,
    block: number,
    order: Int32Array,
    begin: number,
    end: number,
    visit: CellVisit,
  ): void {
    const starts = this.#grid.segments[worker];
    for (let at = begin; at < end; ) {
      const segment = segmentOf(starts, order[at]);
      const from = starts[segment];
      const to = starts[segment + 1];
      let next = at + 1;
      while (next < end && order[next] >= from && order[next] < to) next++;
      visit(this.#cell(worker, segment, block), at, next);
      at = next;
    }
  }

  through(worker: number, block: number, visit: CellVisit): void {
    const starts = this.#grid.segments[worker];
    for (let segment = 0; segment + 1 < starts.length; segment++) {
      visit(this.#cell(worker, segment, block), starts[segment], starts[segment + 1]);
    }
  }

  #cell(worker: number, segment: number, block: number): GridCell {
    const { size } = this.#grid;
    const chunk = segment * size + block;
    const number = this.#numbers[worker] + chunk;
    const found = this.#window.find(number);
    if (found) return found;
    const { offsets, positions, window, shares } = this.#stored;
    const from = positions[worker][chunk];
    const bytes = positions[worker][chunk + 1] - from;
    const { buffer, byteOffset } = window;
    const first = byteOffset + shares[this.#thread];
    return this.#window.read(number, from, bytes, (at) => ({
      offsets: offsets[worker * size + block].subarray(segment),
      indices: new Int32Array(buffer, first + at, bytes / nonzeroBytes),
      values: new Float32Array(buffer, first + at + bytes / 2, bytes / nonzeroBytes),
    }));
  }
}

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
  return grid.disk ? new DiskCellReader(grid, grid.disk, thread) : new ResidentCells(grid);
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
