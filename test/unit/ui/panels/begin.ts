import type { BeginLine } from '../../../../src/reporting/records/record.ts';

/** The beginning of a run on a grid of this many workers, evenly loaded unless cells are given. */
export function beginOf(grid: number, more: Partial<BeginLine> = {}): BeginLine {
  return {
    event: 'begin',
    solver: 'ring-rows',
    lambda: 1e-4,
    rows: 100 * grid,
    columns: 40 * grid,
    nonzeros: 1000 * grid * grid,
    vectors: 1,
    grid,
    threads: grid,
    loads: {
      rows: new Array<number>(grid).fill(100),
      columns: new Array<number>(grid).fill(40),
      cells: new Array<number>(grid * grid).fill(1000),
    },
    imbalance: { rows: 0, columns: 0, nonzeros: 0 },
    seconds: { read: 0, partition: 0 },
    ...more,
  };
}
