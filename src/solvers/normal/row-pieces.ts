import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { WholeRows } from '../kernels/kernels.ts';
import type { Problem } from '../objective/problem.ts';

/** Rows of a piece: with their non-zeros they fit a cache. */
export const rowsOfPiece = 512;

/** The part of one thread in an array with the same number of elements for each. */
export function partOfThread<Numbers extends Float64Array | Float32Array | Int32Array>(
  array: Numbers,
  thread: number,
  threads: number,
): Numbers {
  const length = array.length / threads;
  return array.subarray(thread * length, (thread + 1) * length) as Numbers;
}

/** Room for one piece of each thread. */
export function allocatePieces(
  arena: Arena,
  { rowCounts, rowStarts, size }: Partition,
  threads: number,
) {
  let most = 0;
  for (let worker = 0; worker < size; worker++) {
    for (let from = rowStarts[worker]; from < rowStarts[worker + 1]; from += rowsOfPiece) {
      const to = Math.min(from + rowsOfPiece, rowStarts[worker + 1]);
      most = Math.max(
        most,
        rowCounts.subarray(from, to).reduce((sum, count) => sum + count, 0),
      );
    }
  }
  return {
    offsets: arena.int32(threads * (rowsOfPiece + 1)),
    indices: arena.int32(threads * most),
    values: arena.float32(threads * most),
    starts: arena.int32(2 * threads),
  };
}

/**
 * The rows of a worker in pieces, each row whole: its columns count among all there are. The cells of
 * the grid may be by rows or by columns; a piece is a copy of a few of their rows.
 */
export class RowPieces {
  readonly #problem: Problem;
  readonly #offsets: Int32Array;
  readonly #indices: Int32Array;
  readonly #values: Float32Array;
  readonly #starts: Int32Array;

  constructor(
    problem: Problem,
    memory: ReturnType<typeof allocatePieces>,
    thread: number,
    threads: number,
  ) {
    this.#problem = problem;
    const own = <Numbers extends Int32Array | Float32Array>(array: Numbers) =>
      partOfThread(array, thread, threads);
    this.#offsets = own(memory.offsets);
    this.#indices = own(memory.indices);
    this.#values = own(memory.values);
    this.#starts = own(memory.starts);
  }

  /** Visits the pieces of a worker; `first` is the position of a piece's first row. */
  through(worker: number, visit: (piece: WholeRows, first: number) => void): void {
    const { rowStarts } = this.#problem.grid.partition;
    const byRow = this.#problem.grid.orientation === 'rows';
    const next = byRow ? undefined : this.#beginnings(worker);
    const [begin, end] = [rowStarts[worker], rowStarts[worker + 1]];
    for (let from = begin; from < end; from += rowsOfPiece) {
      const rows = Math.min(rowsOfPiece, end - from);
      if (next) this.#transpose(worker, from - begin, rows, next);
      else this.#copy(worker, from - begin, rows);
      const [offsets, indices, values] = [this.#offsets, this.#indices, this.#values];
      visit({ rows, blocks: 1, offsets, indices, values, starts: this.#starts }, from);
    }
  }

  #copy(worker: number, first: number, rows: number): void {
    const { size, cells, partition } = this.#problem.grid;
    let filled = 0;
    for (let i = 0; i < rows; i++) {
      this.#offsets[i] = filled;
      for (let block = 0; block < size; block++) {
        const { offsets, indices, values } = cells[worker * size + block];
        const start = partition.columnBounds[block];
        for (let k = offsets[first + i]; k < offsets[first + i + 1]; k++) {
          this.#indices[filled] = start + indices[k];
          this.#values[filled++] = values[k];
        }
      }
    }
    this.#offsets[rows] = filled;
  }

  /** Where the columns of a worker's cells begin: rows of a column come in order. */
  #beginnings(worker: number): Int32Array {
    const { size, cells, partition } = this.#problem.grid;
    const next = new Int32Array(this.#problem.columns);
    for (let block = 0; block < size; block++) {
      const { offsets } = cells[worker * size + block];
      next.set(offsets.subarray(0, offsets.length - 1), partition.columnBounds[block]);
    }
    return next;
  }

  /** Takes from each column what it has of the rows; `next` moves behind it. */
  #transpose(worker: number, first: number, rows: number, next: Int32Array): void {
    const { size, cells, partition } = this.#problem.grid;
    const { rowCounts, rowStarts, columnBounds } = partition;
    const offsets = this.#offsets;
    offsets[0] = 0;
    for (let i = 0; i < rows; i++) {
      offsets[i + 1] = offsets[i] + rowCounts[rowStarts[worker] + first + i];
    }
    const filled = offsets.slice(0, rows);
    for (let block = 0; block < size; block++) {
      const cell = cells[worker * size + block];
      const start = columnBounds[block];
      for (let j = start; j < columnBounds[block + 1]; j++) {
        const last = cell.offsets[j - start + 1];
        let k = next[j];
        for (; k < last && cell.indices[k] < first + rows; k++) {
          const at = filled[cell.indices[k] - first]++;
          this.#indices[at] = j;
          this.#values[at] = cell.values[k];
        }
        next[j] = k;
      }
    }
  }
}
