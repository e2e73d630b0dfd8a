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
}

type Named = Readonly<Record<string, Values | Slots>>;

/** Arrays by what they belong to; those of length 0 are left out. */
export function stateArrays(groups: Readonly<Partial<Record<Axis, Named>>>): StateArray[] {
  return Object.entries(groups).flatMap(([axis, named]) =>
    Object.entries(named)
      .map(([name, values]) => ({ name, axis: axis as Axis, values }))
      .filter(({ values }) => lengthOf(values) > 0),
  );
}

/** Numbers that an array contributes to a file. */
export function lengthOf(values: Values | Slots): number {
  if (!('lines' in values)) return values.length;
  return (values.lines.length / values.stride) * values.slots.length;
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

/** The bytes of an array, piece by piece; a piece is valid until the next one is asked for. */
export function* piecesOf(values: Values | Slots): Generator<Uint8Array> {
  if (!('lines' in values)) {
    yield bytesOf(values);
    return;
  }
  const { lines, stride, slots } = values;
  const count = lines.length / stride;
  const room = new Float64Array(Math.min(count, linesTogether) * slots.length);
  for (let from = 0; from < count; from += linesTogether) {
    const to = Math.min(count, from + linesTogether);
    let at = 0;
    for (let line = from; line < to; line++) {
      for (const slot of slots) room[at++] = lines[line * stride + slot];
    }
    yield bytesOf(room.subarray(0, at));
  }
}

/** Fills an array from its bytes; `read` fills all of the room it is given. */
export function fillFrom(values: Values | Slots, read: (room: Uint8Array) => void): void {
  if (!('lines' in values)) {
    read(bytesOf(values));
    return;
  }
  const { lines, stride, slots } = values;
  const count = lines.length / stride;
  const room = new Float64Array(Math.min(count, linesTogether) * slots.length);
  for (let from = 0; from < count; from += linesTogether) {
    const to = Math.min(count, from + linesTogether);
    read(bytesOf(room.subarray(0, (to - from) * slots.length)));
    let at = 0;
    for (let line = from; line < to; line++) {
      for (const slot of slots) lines[line * stride + slot] = room[at++];
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Values): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
