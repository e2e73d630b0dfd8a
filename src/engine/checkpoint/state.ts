import type { Partition } from '../partition.ts';
import type { Workers } from './folder.ts';

/** What the units of an array belong to: a rank that runs some workers has their part of it. */
export type Axis = 'row' | 'column' | 'worker';

export type Values = Float64Array | Int32Array | Uint8Array;

/** Some slots of lines of equal length, where the others follow from the data. */
export interface Slots {
  readonly lines: Float64Array;
  readonly stride: number;
  readonly slots: readonly number[];
}

/** An array that a resumed run needs and that does not follow from the data. */
export interface StateArray {
  readonly name: string;
  readonly axis: Axis;
  readonly values: Values | Slots;
  /** Of the axis 'worker': the array holds the workers of the process alone, not all. */
  readonly local?: boolean;
}

type Named = Readonly<Record<string, Values | Slots>>;

/** Arrays by axis, without empty ones; `local` ones hold only the workers of the process. */
export function stateArrays(
  groups: Readonly<Partial<Record<Axis | 'local', Named>>>,
): StateArray[] {
  return Object.entries(groups).flatMap(([group, named]) => {
    const kind = group === 'local' ? { axis: 'worker', local: true } : { axis: group };
    return Object.entries(named)
      .filter(([, values]) => itemsOf(values) > 0)
      .map(([name, values]) => ({ name, values, ...kind }) as StateArray);
  });
}

/** An item is a number, or the slots of a line. */
function itemsOf(values: Values | Slots): number {
  return 'lines' in values ? values.lines.length / values.stride : values.length;
}

export function numbersPerItem(values: Values | Slots): number {
  return 'lines' in values ? values.slots.length : 1;
}

export type NumberType = 'float64' | 'int32' | 'uint8';

export function typeOf(values: Values | Slots): NumberType {
  if ('lines' in values || values instanceof Float64Array) return 'float64';
  return values instanceof Int32Array ? 'int32' : 'uint8';
}

export const bytesPerNumber: Readonly<Record<NumberType, number>> = {
  float64: 8,
  int32: 4,
  uint8: 1,
};

/** Lines that are gathered or scattered at a time. */
const linesTogether = 8192;

/** Moves items to or from a file, piece by piece: `transfer` writes or fills the bytes it gets. */
export function transferItems(
  direction: 'read' | 'write',
  values: Values | Slots,
  [from, to]: readonly [number, number],
  transfer: (bytes: Uint8Array) => void,
): void {
  if (!('lines' in values)) {
    transfer(bytesOf(values.subarray(from, to)));
    return;
  }
  const { lines, stride, slots } = values;
  const buffer = new Float64Array(Math.min(to - from, linesTogether) * slots.length);
  for (let begin = from; begin < to; begin += linesTogether) {
    const end = Math.min(to, begin + linesTogether);
    const piece = buffer.subarray(0, (end - begin) * slots.length);
    const lineOf = (k: number) => begin + Math.floor(k / slots.length);
    const at = (k: number) => lineOf(k) * stride + slots[k % slots.length];
    if (direction === 'write') for (let k = 0; k < piece.length; k++) piece[k] = lines[at(k)];
    transfer(bytesOf(piece));
    if (direction === 'read') for (let k = 0; k < piece.length; k++) lines[at(k)] = piece[k];
  }
}

/** Whether some items are numbers, not NaN or infinite. */
export function areFinite(values: Values | Slots, [from, to]: readonly [number, number]): boolean {
  if (!('lines' in values)) return values.subarray(from, to).every(Number.isFinite);
  const { lines, stride, slots } = values;
  for (let line = from; line < to; line++) {
    for (const slot of slots) if (!Number.isFinite(lines[line * stride + slot])) return false;
  }
  return true;
}

function bytesOf({ buffer, byteOffset, byteLength }: Values): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** How much of every array belongs to which worker, and which workers a process runs. */
export interface Layout extends Pick<Partition, 'first' | 'end' | 'size'> {
  readonly rowBounds: ArrayLike<number>;
  readonly columnBounds: ArrayLike<number>;
}

/** Items of a row or column, which are one, or of a worker, as many as there are. */
export function itemsPerUnit({ axis, values, local }: StateArray, layout: Layout): number {
  if (axis !== 'worker') return 1;
  return itemsOf(values) / (local ? layout.end - layout.first : layout.size);
}

/** Where the items of some workers are in a file that has the workers from `origin` on. */
export function inFile(
  array: StateArray,
  layout: Layout,
  origin: number,
  [first, end]: Workers,
): readonly [number, number] {
  const each = itemsPerUnit(array, layout);
  const before = (worker: number) => each * unitsOf(array.axis, layout, [origin, worker]);
  return [before(first), before(end)];
}

/**
 * Where the items of some of its workers are in an array of a process. Arrays of rows and columns
 * begin with those of its first worker, and what may follow behind its last one is no state of it.
 */
export function inMemory(
  array: StateArray,
  layout: Layout,
  workers: Workers,
): readonly [number, number] {
  const origin = array.axis === 'worker' && !array.local ? 0 : layout.first;
  const [from, to] = inFile(array, layout, origin, workers);
  const items = itemsOf(array.values);
  if (to > items || !Number.isInteger(from) || !Number.isInteger(to)) {
    throw new Error(
      `${array.name}: ${items} items by ${array.axis}; workers need ${from} to ${to}`,
    );
  }
  return [from, to];
}

/** How many rows, columns or workers some workers have. */
export function unitsOf(
  axis: Axis,
  { rowBounds, columnBounds }: Layout,
  [first, end]: Workers,
): number {
  if (axis === 'worker') return end - first;
  const bounds = axis === 'row' ? rowBounds : columnBounds;
  return bounds[end] - bounds[first];
}
