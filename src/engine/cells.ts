import { intervalOf } from '../math/vectors.ts';
import { type DiskCells, DiskWindow, nonzeroBytes } from './disk/disk-cells.ts';
import type { Grid, GridCell } from './grid.ts';

/** Visits the units begin … end-1 of an order, or of the cell itself; `cell` holds them. */
export type CellVisit = (cell: GridCell, begin: number, end: number) => void;

/** Access to a cell: one in memory is visited once, whole; one on disk segment by segment. */
interface CellAccess {
  /** The units order[begin … end-1], in this order. */
  over(order: Int32Array, begin: number, end: number, visit: CellVisit): void;
  /** All units, from the first to the last. */
  through(visit: CellVisit): void;
}

export interface Cells {
  at(worker: number, block: number): CellAccess;
}

/** The cells of a grid as the thread of this number reaches them. */
export function openCells(grid: Grid, thread: number): Cells {
  if (grid.disk) return new DiskCellReader(grid, grid.disk, thread);
  const cells = grid.cells.map(inMemory);
  return { at: (worker, block) => cells[worker * grid.size + block] };
}

function inMemory(cell: GridCell): CellAccess {
  return {
    over: (_order, begin, end, visit) => visit(cell, begin, end),
    through: (visit) => visit(cell, 0, cell.offsets.length - 1),
  };
}

/** The cells of a grid that is on disk, through the window of one thread. */
class DiskCellReader implements Cells {
  readonly #grid: Grid;
  readonly #stored: DiskCells;
  /** Where the thread's share of the window begins in memory. */
  readonly #start: number;
  readonly #window: DiskWindow<GridCell>;
  /** Number of chunks before those of each worker. */
  readonly #chunksBefore: Float64Array;

  constructor(grid: Grid, stored: DiskCells, thread: number) {
    this.#grid = grid;
    this.#stored = stored;
    const { window, shares, file, positions } = stored;
    this.#start = window.byteOffset + shares[thread];
    this.#window = new DiskWindow(window.subarray(shares[thread], shares[thread + 1]), file);
    this.#chunksBefore = new Float64Array(grid.size + 1);
    for (let worker = 0; worker < grid.size; worker++) {
      this.#chunksBefore[worker + 1] = this.#chunksBefore[worker] + positions[worker].length;
    }
  }

  at(worker: number, block: number): CellAccess {
    const starts = this.#grid.segments[worker];
    const read = (segment: number) => this.#read(worker, segment, block);
    return {
      over: (order, begin, end, visit) => {
        for (let at = begin; at < end; ) {
          const segment = intervalOf(starts, order[at]);
          const from = starts[segment];
          const to = starts[segment + 1];
          let next = at + 1;
          while (next < end && order[next] >= from && order[next] < to) next++;
          visit(read(segment), at, next);
          at = next;
        }
      },
      through: (visit) => {
        for (let segment = 0; segment + 1 < starts.length; segment++) {
          visit(read(segment), starts[segment], starts[segment + 1]);
        }
      },
    };
  }

  #read(worker: number, segment: number, block: number): GridCell {
    const { size } = this.#grid;
    const chunk = segment * size + block;
    const number = this.#chunksBefore[worker] + chunk;
    const found = this.#window.find(number);
    if (found) return found;
    const { offsets, positions, window } = this.#stored;
    const from = positions[worker][chunk];
    const bytes = positions[worker][chunk + 1] - from;
    return this.#window.read(number, from, bytes, (at) => ({
      offsets: offsets[worker * size + block].subarray(segment),
      indices: new Int32Array(window.buffer, this.#start + at, bytes / nonzeroBytes),
      values: new Float32Array(window.buffer, this.#start + at + bytes / 2, bytes / nonzeroBytes),
    }));
  }
}
