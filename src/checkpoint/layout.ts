import { itemsOf, type StateArray } from '../engine/checkpoint/state.ts';
import type { Workers } from './names.ts';

/** How much of every array belongs to which worker, and which workers a process plays. */
export interface Layout {
  /** The process plays the workers first … end-1 of `size`. */
  readonly first: number;
  readonly end: number;
  readonly size: number;
  /** Rows in front of each worker's and columns in front of each block's, among all of them. */
  readonly rowBounds: ArrayLike<number>;
  readonly columnBounds: ArrayLike<number>;
}

/** Items of a row or column, which are one, or of a worker, as many as there are. */
export function itemsPerUnit({ axis, values, played }: StateArray, layout: Layout): number {
  if (axis !== 'worker') return 1;
  return itemsOf(values) / (played ? layout.end - layout.first : layout.size);
}

/** Items of some workers, counted from the first item of worker `origin`. */
function itemsFrom(
  array: StateArray,
  layout: Layout,
  origin: number,
  [first, end]: Workers,
): readonly [number, number] {
  if (array.axis === 'worker') {
    const each = itemsPerUnit(array, layout);
    return [(first - origin) * each, (end - origin) * each];
  }
  const bounds = array.axis === 'row' ? layout.rowBounds : layout.columnBounds;
  return [bounds[first] - bounds[origin], bounds[end] - bounds[origin]];
}

/**
 * Where the items of some of its workers lie in an array of a process. Arrays of rows and columns
 * begin with those of its first worker, and what may follow behind its last one is no state of it.
 */
export function inMemory(
  array: StateArray,
  layout: Layout,
  workers: Workers,
): readonly [number, number] {
  const origin = array.axis === 'worker' && !array.played ? 0 : layout.first;
  const [from, to] = itemsFrom(array, layout, origin, workers);
  const items = itemsOf(array.values);
  if (to > items || !Number.isInteger(from) || !Number.isInteger(to)) {
    throw new Error(
      `${array.name}: ${items} items by ${array.axis}; workers need ${from} to ${to}`,
    );
  }
  return [from, to];
}

/** Where the items of some workers lie among those of a file that has the workers from `origin` on. */
export function inFile(
  array: StateArray,
  layout: Layout,
  origin: number,
  workers: Workers,
): readonly [number, number] {
  return itemsFrom(array, layout, origin, workers);
}

/** How many rows, columns or workers some workers have. */
export function unitsOf(
  axis: StateArray['axis'],
  { rowBounds, columnBounds }: Layout,
  [first, end]: Workers,
): number {
  if (axis === 'worker') return end - first;
  const bounds = axis === 'row' ? rowBounds : columnBounds;
  return bounds[end] - bounds[first];
}
