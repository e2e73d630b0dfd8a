import type { Arena } from '../../engine/arena.ts';
import { cutSegments, type Partition } from '../../engine/partition.ts';
import type { WholeRows } from '../kernels/kernels.ts';
import type { SolverContext } from '../solver.ts';
import { partOfWorker, wholeRows } from '../whole.ts';

/** Room for the whole rows of one segment of each worker that runs here. */
export function allocateSegments(arena: Arena, partition: Partition) {
  const { first, end, size, rowStarts, rowCounts } = partition;
  const segments = cutSegments(partition);
  let [mostRows, mostEntries] = [0, 0];
  for (let worker = first; worker < end; worker++) {
    const starts = segments[worker];
    for (let k = 0; k + 1 < starts.length; k++) {
      const counts = rowCounts.subarray(
        rowStarts[worker] + starts[k],
        rowStarts[worker] + starts[k + 1],
      );
      mostRows = Math.max(mostRows, counts.length);
      mostEntries = Math.max(
        mostEntries,
        counts.reduce((sum, count) => sum + count, 0),
      );
    }
  }
  const workers = end - first;
  return {
    /** Where the columns of each block begin among all columns, for kernels. */
    starts: arena.int32(size + 1),
    offsets: arena.int32(workers * size * (mostRows + 1)),
    indices: arena.int32(workers * mostEntries),
    values: arena.float32(workers * mostEntries),
  };
}

/**
 * The rows of a worker, segment by segment, each row across the blocks. In memory they are where they
 * are; on disk the pieces of a segment are put together. The cuts are the same, and with them all sums.
 */
export class SegmentRows {
  readonly #context: SolverContext;
  readonly #memory: ReturnType<typeof allocateSegments>;
  /** The rows of a segment on disk, in order. */
  #order = new Int32Array(0);

  constructor(context: SolverContext, memory: ReturnType<typeof allocateSegments>) {
    const { partition } = context.problem.grid;
    this.#context = context;
    this.#memory = memory;
    memory.starts.set(partition.columnBounds);
  }

  /** Visits the segments of a worker's rows, complete in the blocks up to `block`. */
  through(worker: number, block: number, visit: (rows: WholeRows, first: number) => void): void {
    const { problem } = this.#context;
    const starts = problem.grid.segments[worker];
    for (let k = 0; k + 1 < starts.length; k++) {
      const [first, end] = [starts[k], starts[k + 1]];
      visit(
        problem.grid.disk
          ? this.#assemble(worker, block, first, end)
          : this.#cut(worker, first, end),
        first,
      );
    }
  }

  /** Rows first … end-1 where they are: offsets of each block, one after the other. */
  #cut(worker: number, first: number, end: number): WholeRows {
    const whole = wholeRows(this.#context.problem, worker, this.#memory.starts);
    if (first === 0 && end === whole.rows) return whole;
    const { blocks } = whole;
    const offsets = this.#offsets(worker).subarray(0, blocks * (end - first + 1));
    for (let b = 0; b < blocks; b++) {
      const from = b * (whole.rows + 1);
      offsets.set(whole.offsets.subarray(from + first, from + end + 1), b * (end - first + 1));
    }
    return { ...whole, rows: end - first, offsets };
  }

  #offsets(worker: number): Int32Array {
    return partOfWorker(this.#context.problem.grid.partition, this.#memory.offsets, worker);
  }

  #assemble(worker: number, block: number, first: number, end: number): WholeRows {
    const { problem, objective } = this.#context;
    const { partition } = problem.grid;
    const rows = end - first;
    if (this.#order.length < rows) this.#order = new Int32Array(rows);
    for (let i = 0; i < rows; i++) this.#order[i] = first + i;
    const offsets = this.#offsets(worker);
    const indices = partOfWorker(partition, this.#memory.indices, worker);
    const values = partOfWorker(partition, this.#memory.values, worker);
    let filled = 0;
    for (let b = 0; b <= block; b++) {
      const own = b * (rows + 1);
      offsets[own] = filled;
      // All of them are in one piece.
      objective.cells.at(worker, b).over(this.#order, 0, rows, (cell) => {
        const begin = cell.offsets[first];
        const last = cell.offsets[end];
        indices.set(cell.indices.subarray(begin, last), filled);
        values.set(cell.values.subarray(begin, last), filled);
        for (let i = 1; i <= rows; i++) offsets[own + i] = filled + cell.offsets[first + i] - begin;
        filled += last - begin;
      });
    }
    return {
      rows,
      blocks: problem.grid.size,
      offsets,
      indices,
      values,
      starts: this.#memory.starts,
    };
  }
}
