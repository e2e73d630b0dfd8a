import type { Cells, CellVisit } from '../parallel/cells.ts';
import { segmentOf } from '../parallel/segments.ts';
import { entryBytes, type StoredCells } from '../parallel/stored-cells.ts';
import { Window } from './disk/disk-cells.ts';
import type { Grid, GridCell } from './grid.ts';

/** The entries of a grid that is on disk, through the window of one thread. */
export class StreamedCells implements Cells {
  readonly #grid: Grid;
  readonly #stored: StoredCells;
  readonly #thread: number;
  readonly #window: Window<GridCell>;
  /** Chunks of the workers in front of each. */
  readonly #numbers: Float64Array;

  constructor(grid: Grid, stored: StoredCells, thread: number) {
    this.#grid = grid;
    this.#stored = stored;
    this.#thread = thread;
    const { window, shares, file } = stored;
    this.#window = new Window(window.subarray(shares[thread], shares[thread + 1]), file);
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
      indices: new Int32Array(buffer, first + at, bytes / entryBytes),
      values: new Float32Array(buffer, first + at + bytes / 2, bytes / entryBytes),
    }));
  }
}
