/**
 * Messages of Protocol Buffers, as far as ONNX needs them. A message is a list of pieces that are
 * joined once at the end, so that large arrays are not copied at every level.
 */
export type Message = readonly Uint8Array[];

/** Kinds of fields on the wire. */
const varintKind = 0;
const bytesKind = 2;

const encoder = new TextEncoder();

export function lengthOf(pieces: Message): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
}

/** A message of these fields, in this order. */
export function message(...fields: readonly Message[]): Message {
  return fields.flat();
}

/** A whole number; negative ones as int64 in two's complement. */
export function integer(field: number, value: number): Message {
  return [Uint8Array.from([...varint(field * 8 + varintKind), ...varint(value)])];
}

export function text(field: number, value: string): Message {
  return delimited(field, [encoder.encode(value)]);
}

/** A message inside a message. */
export function nested(field: number, ...fields: readonly Message[]): Message {
  return delimited(field, message(...fields));
}

/** Repeated floats in the packed form. */
export function floats(field: number, values: Float32Array): Message {
  return delimited(field, [littleEndian(values)]);
}

/** Repeated whole numbers in the packed form. */
export function integers(field: number, values: readonly number[]): Message {
  return delimited(field, [Uint8Array.from(values.flatMap((value) => varint(value)))]);
}

export function bytes(field: number, value: Uint8Array): Message {
  return delimited(field, [value]);
}

/** Floats as they lie in the raw data of a tensor. */
export function littleEndian(values: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  for (const [index, value] of values.entries()) view.setFloat32(4 * index, value, true);
  return new Uint8Array(view.buffer);
}

function delimited(field: number, content: Message): Message {
  const start = [...varint(field * 8 + bytesKind), ...varint(lengthOf(content))];
  return [Uint8Array.from(start), ...content];
}

/** Seven bits a byte, lowest first; the top bit says that more follow. */
function varint(value: number): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const digits: number[] = [];
  while (rest > 0x7fn) {
    digits.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...digits, Number(rest)];
}
