import type { Arena } from '../../engine/arena.ts';
import { cutSegments, type Partition, type Segments } from '../../engine/partition.ts';
import { intervalOf } from '../../math/vectors.ts';
import type { WholeRows } from '../kernels/kernels.ts';
import type { Objective } from '../objective/objective.ts';
import { partOfWorker, wholeRows } from '../whole.ts';

/** A segment of each worker, where the data is on disk. */
export function allocateStageRows(arena: Arena, partition: Partition, stored: boolean) {
  const { first, end, size, rowStarts } = partition;
  const here = stored ? end - first : 0;
  const segments = stored ? cutSegments(partition) : [];
  let [entries, rows] = [0, 0];
  for (let worker = first; worker < first + here; worker++) {
    entries = Math.max(entries, longestSegment(partition, segments, worker));
    rows = Math.max(rows, rowStarts[worker + 1] - rowStarts[worker]);
  }
  return {
    segmentOffsets: arena.int32(here * size * (rows + 1)),
    segmentIndices: arena.int32(here * entries),
    segmentValues: arena.float32(here * entries),
  };
}

function longestSegment(
  { rowCounts, rowStarts }: Partition,
  segments: Segments,
  worker: number,
): number {
  const starts = segments[worker];
  const counts = rowCounts.subarray(rowStarts[worker]);
  let longest = 0;
  for (let segment = 0; segment + 1 < starts.length; segment++) {
    let entries = 0;
    for (let i = starts[segment]; i < starts[segment + 1]; i++) entries += counts[i];
    longest = Math.max(longest, entries);
  }
  return longest;
}

type Visit = (whole: WholeRows, begin: number, end: number) => void;

/** Whole rows of the workers, in memory as they are, from disk segment by segment. */
export class StageRows {
  readonly #objective: Objective;
  readonly #memory: ReturnType<typeof allocateStageRows>;
  readonly #starts: Int32Array;
  readonly #whole: readonly WholeRows[];

  constructor(
    objective: Objective,
    memory: ReturnType<typeof allocateStageRows>,
    starts: Int32Array,
  ) {
    this.#objective = objective;
    this.#memory = memory;
    this.#starts = starts;
    const { problem } = objective;
    const { size, disk } = problem.grid;
    const workers = Array.from({ length: disk ? 0 : size }, (_, worker) => worker);
    this.#whole = workers.map((worker) => wholeRows(problem, worker, starts));
  }

  /** The rows order[begin … end-1] of a worker, in this order. */
  over(worker: number, order: Int32Array, begin: number, end: number, visit: Visit): void {
    if (this.#whole.length > 0) {
      visit(this.#whole[worker], begin, end);
      return;
    }
    const starts = this.#objective.problem.grid.segments[worker];
    for (let at = begin; at < end; ) {
      const segment = intervalOf(starts, order[at]);
      const [from, to] = [starts[segment], starts[segment + 1]];
      let next = at + 1;
      while (next < end && order[next] >= from && order[next] < to) next++;
      visit(this.#read(worker, order.subarray(at, at + 1), from, to), at, next);
      at = next;
    }
  }

  /** Brings the cells of a segment together, which holds the rows from … to-1 and the one listed. */
  #read(worker: number, listed: Int32Array, from: number, to: number): WholeRows {
    const { grid } = this.#objective.problem;
    const { partition, size: blocks } = grid;
    const { segmentOffsets, segmentIndices, segmentValues } = this.#memory;
    const rows = partition.rowStarts[worker + 1] - partition.rowStarts[worker];
    const offsets = partOfWorker(partition, segmentOffsets, worker);
    const indices = partOfWorker(partition, segmentIndices, worker);
    const values = partOfWorker(partition, segmentValues, worker);
    let filled = 0;
    for (let block = 0; block < blocks; block++) {
      this.#objective.cells.at(worker, block).over(listed, 0, 1, (cell) => {
        const [first, last] = [cell.offsets[from], cell.offsets[to]];
        const at = block * (rows + 1);
        for (let i = from; i <= to; i++) offsets[at + i] = cell.offsets[i] - first + filled;
        indices.set(cell.indices.subarray(first, last), filled);
        values.set(cell.values.subarray(first, last), filled);
        filled += last - first;
      });
    }
    return { rows, blocks, offsets, indices, values, starts: this.#starts };
  }
}
