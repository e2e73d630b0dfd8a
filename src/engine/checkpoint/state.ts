/** What the units of an array belong to: a rank that plays some workers has their part of it. */
export type Axis = 'row' | 'column' | 'worker';

export type Values = Float64Array | Int32Array | Uint8Array;

/** Some slots of lines of equal length, where the others follow from the data. */
export interface Slots {
  readonly lines: Float64Array;
  readonly stride: number;
  readonly slots: readonly number[];
}

/** An array that a run cannot go on without and that does not follow from the data. */
export interface StateArray {
  readonly name: string;
  readonly axis: Axis;
  readonly values: Values | Slots;
  /** Of the axis 'worker': there is room for the workers of the process alone, not for all. */
  readonly played?: boolean;
}

type Named = Readonly<Record<string, Values | Slots>>;

/**
 * Arrays by what they belong to; those of length 0 are left out. Arrays of `worker`s have room for
 * all of them, those of `played` ones for the workers of the process.
 */
export function stateArrays(
  groups: Readonly<Partial<Record<Axis | 'played', Named>>>,
): StateArray[] {
  return Object.entries(groups).flatMap(([group, named]) =>
    Object.entries(named)
      .map(
        ([name, values]): StateArray =>
          group === 'played'
            ? { name, axis: 'worker', values, played: true }
            : { name, axis: group as Axis, values },
      )
      .filter(({ values }) => itemsOf(values) > 0),
  );
}

/** An item is a number, or the slots of a line. */
export function itemsOf(values: Values | Slots): number {
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

/**
 * The bytes of the items from … to-1 of an array, piece by piece; a piece is valid until the next
 * one is asked for.
 */
export function* piecesOf(values: Values | Slots, from: number, to: number): Generator<Uint8Array> {
  if (!('lines' in values)) {
    yield bytesOf(values.subarray(from, to));
    return;
  }
  const { lines, stride, slots } = values;
  const room = new Float64Array(Math.min(to - from, linesTogether) * slots.length);
  for (let begin = from; begin < to; begin += linesTogether) {
    const end = Math.min(to, begin + linesTogether);
    let at = 0;
    for (let line = begin; line < end; line++) {
      for (const slot of slots) room[at++] = lines[line * stride + slot];
    }
    yield bytesOf(room.subarray(0, at));
  }
}

/** Fills the items from … to-1 of an array; `read` fills all of the room it is given. */
export function fillFrom(
  values: Values | Slots,
  from: number,
  to: number,
  read: (room: Uint8Array) => void,
): void {
  if (!('lines' in values)) {
    read(bytesOf(values.subarray(from, to)));
    return;
  }
  const { lines, stride, slots } = values;
  const room = new Float64Array(Math.min(to - from, linesTogether) * slots.length);
  for (let begin = from; begin < to; begin += linesTogether) {
    const end = Math.min(to, begin + linesTogether);
    read(bytesOf(room.subarray(0, (end - begin) * slots.length)));
    let at = 0;
    for (let line = begin; line < end; line++) {
      for (const slot of slots) lines[line * stride + slot] = room[at++];
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Values): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
