import type { DatasetPart } from '../dataset.ts';

type Scan = () => Iterable<DatasetPart>;

/**
 * The columns that statistics are kept of, by position: all of them or, where most are empty, those
 * with entries. So memory is in proportion to the non-zeros, however large an index is.
 */
export class SurveyedColumns {
  readonly count: number;
  /** Columns without an entry that have no position. */
  readonly left: number;
  /** The rows, with positions for columns. */
  readonly scan: Scan;
  /** Columns with entries, ascending; absent where the position is the column. */
  readonly #used: Int32Array | undefined;

  constructor(columns: number, nonzeros: number, scan: Scan) {
    this.#used = columns > 2 * nonzeros ? usedColumns(nonzeros, scan()) : undefined;
    this.count = this.#used?.length ?? columns;
    this.left = columns - this.count;
    this.scan = this.#used ? () => this.#renumbered(scan()) : scan;
  }

  columnOf(position: number): number {
    return this.#used ? this.#used[position] : position;
  }

  /** The first few of the columns that have no position. */
  firstLeft(most: number): number[] {
    const first: number[] = [];
    let position = 0;
    for (let column = 0; first.length < Math.min(most, this.left); column += 1) {
      if (this.#used?.[position] === column) position += 1;
      else first.push(column);
    }
    return first;
  }

  *#renumbered(parts: Iterable<DatasetPart>): Generator<DatasetPart> {
    for (const part of parts) {
      yield { ...part, indices: part.indices.map((column) => positionOf(column, this.#used!)) };
    }
  }
}

function usedColumns(nonzeros: number, parts: Iterable<DatasetPart>): Int32Array {
  const all = new Int32Array(nonzeros);
  let filled = 0;
  for (const { indices } of parts) {
    all.set(indices, filled);
    filled += indices.length;
  }
  all.sort();
  let distinct = 0;
  for (const column of all) {
    if (distinct > 0 && all[distinct - 1] === column) continue;
    all[distinct] = column;
    distinct += 1;
  }
  return all.slice(0, distinct);
}

/** Where a column is in the ascending list of columns, which has it. */
function positionOf(column: number, used: Int32Array): number {
  let [low, high] = [0, used.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (used[middle] < column) low = middle + 1;
    else high = middle;
  }
  return low;
}
