import type { Description } from '../../../../../src/engine/checkpoint/file.ts';
import type { Workers } from '../../../../../src/engine/checkpoint/folder.ts';
import {
  type Layout,
  type StateArray,
  stateArrays,
} from '../../../../../src/engine/checkpoint/state.ts';

/** The workers of a rank. */
export function shareOf(rank: number, ranks: number, grid: number): Workers {
  return [Math.floor((rank * grid) / ranks), Math.floor(((rank + 1) * grid) / ranks)];
}

export const sharesOf = (ranks: number, grid: number): Workers[] =>
  Array.from({ length: ranks }, (_, rank) => shareOf(rank, ranks, grid));

/** Uneven shares, some of them empty. */
function boundsOf(grid: number, factor: number): number[] {
  const bounds = [0];
  for (let k = 0; k < grid; k++) bounds.push(bounds[k] + ((k * factor) % 4));
  return bounds;
}

export function layoutOf(grid: number, [first, end]: Workers): Layout {
  return { first, end, size: grid, rowBounds: boundsOf(grid, 3), columnBounds: boundsOf(grid, 5) };
}

/** Where no numbers of the state are. */
const nothing = -7;

/**
 * The arrays of a process: every number tells what it is by its value, and behind the columns that
 * are at home there is room for guests.
 */
export function arraysOf(layout: Layout, filled: boolean): StateArray[] {
  const { first, end, size, rowBounds, columnBounds } = layout;
  const value = (unit: number, kind: number) => (filled ? 10 * unit + kind : nothing);
  const rows = rowBounds[end] - rowBounds[first];
  const columns = columnBounds[end] - columnBounds[first];
  const row = (k: number) => rowBounds[first] + k;
  const column = (k: number) => columnBounds[first] + k;
  const guests = first === end ? 0 : 5;
  const lines = new Float64Array(3 * (columns + guests)).fill(nothing);
  for (let k = 0; k < columns; k++) {
    lines[3 * k] = value(column(k), 3);
    lines[3 * k + 2] = value(column(k), 4);
  }
  const weights = new Float64Array(columns + guests).fill(nothing);
  for (let k = 0; k < columns; k++) weights[k] = value(column(k), 2);
  const isPlayed = (worker: number) => worker >= first && worker < end;
  return stateArrays({
    row: {
      alpha: Float64Array.from({ length: rows }, (_, k) => value(row(k), 0)),
      skip: Uint8Array.from({ length: rows }, (_, k) => value(row(k), 1)),
    },
    column: { weights, lines: { lines, stride: 3, slots: [0, 2] } },
    worker: {
      generators: Int32Array.from({ length: 4 * size }, (_, k) =>
        isPlayed(Math.floor(k / 4)) ? value(k, 5) : nothing,
      ),
    },
    local: {
      copies: Float64Array.from({ length: 2 * (end - first) }, (_, k) => value(2 * first + k, 6)),
    },
  });
}

export const description = (epoch: number, more: Partial<Description> = {}): Description => ({
  program: '1',
  identity: { data: { rows: 1, columns: 1, nonzeros: 1, hash: 'abc' }, options: {} },
  epoch,
  seconds: 2,
  follows: 1,
  tolerance: 1,
  test: null,
  saved: { convergence: { dual: -Infinity }, method: {} },
  ...more,
});
