import type { Dataset } from '../../src/data/dataset.ts';
import { blockAt } from '../../src/engine/ring.ts';
import { partition } from '../../test/support/partition.ts';

/** What a run on p workers is made of. */
export interface RingLoad {
  readonly size: number;
  /** Seconds of the visit of worker q to block r, at q · p + r. */
  readonly visits: Float64Array;
  /** Seconds until block r, sent by one worker, is there for the next. */
  readonly transfers: Float64Array;
}

/**
 * Seconds of one epoch. A visit starts when its worker is free and its block has arrived; with
 * `barrier`, as Algorithm 1 is written, also only when every visit of the inner iteration before
 * has ended and its block has arrived. A single worker sends nothing.
 */
export function simulateEpoch({ size, visits, transfers }: RingLoad, barrier = false): number {
  const free = new Float64Array(size);
  const arrived = new Float64Array(size);
  for (let iteration = 0; iteration < size; iteration++) {
    for (let worker = 0; worker < size; worker++) {
      const block = blockAt(worker, iteration, size);
      const end = Math.max(free[worker], arrived[block]) + visits[worker * size + block];
      free[worker] = end;
      arrived[block] = end + (size > 1 ? transfers[block] : 0);
    }
    if (barrier) free.fill(Math.max(...arrived));
  }
  return Math.max(...arrived);
}

/** |Ω|T_u/p + T_c of the paper, in seconds per epoch. */
export function predictEpoch(work: number, communication: number, size: number): number {
  return work / size + communication;
}

/** |Ω^(q,r)| at q · p + r, |I_q| and |J_r| of the partition that training uses. */
export interface CellCounts {
  readonly size: number;
  readonly cells: Float64Array;
  readonly rows: Float64Array;
  readonly columns: Float64Array;
}

export function countCells(dataset: Dataset, size: number, seed: number): CellCounts {
  const { rowStarts, rowOrder, columnStarts, columnBlock } = partition(dataset, size, seed, false);
  const owner = new Uint16Array(dataset.rows);
  for (let worker = 0; worker < size; worker++) {
    for (let position = rowStarts[worker]; position < rowStarts[worker + 1]; position++) {
      owner[rowOrder[position]] = worker;
    }
  }
  const cells = new Float64Array(size * size);
  let row = 0;
  for (const { rowOffsets, indices } of dataset.parts) {
    for (let i = 0; i + 1 < rowOffsets.length; i++, row++) {
      const base = owner[row] * size;
      for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++)
        cells[base + columnBlock[indices[k]]]++;
    }
  }
  const lengths = (starts: Int32Array) =>
    Float64Array.from({ length: size }, (_, k) => starts[k + 1] - starts[k]);
  return { size, cells, rows: lengths(rowStarts), columns: lengths(columnStarts) };
}

/** Largest cell over the mean cell, minus 1. */
export function cellImbalance({ cells }: CellCounts): number {
  let total = 0;
  for (const count of cells) total += count;
  return (Math.max(...cells) * cells.length) / total - 1;
}

/** Costs of a machine, in seconds. */
export interface Costs {
  /** T_u: one non-zero. */
  readonly perEntry: number;
  /** One row of a worker at one visit, however many of its non-zeros are in the block. */
  readonly perRow: number;
  /** A hand-off, and what a weight of the block adds to it. */
  readonly handOff: number;
  readonly perWeight: number;
}

export function loadOf({ size, cells, rows, columns }: CellCounts, costs: Costs): RingLoad {
  return {
    size,
    visits: cells.map(
      (count, cell) => count * costs.perEntry + rows[Math.floor(cell / size)] * costs.perRow,
    ),
    transfers: columns.map((count) => costs.handOff + count * costs.perWeight),
  };
}
