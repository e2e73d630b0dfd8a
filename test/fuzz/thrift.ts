import type { Random } from '../../src/math/random.ts';
import { pick } from './draw.ts';

/** A number or a length in a struct of Thrift's compact protocol: where its varint is. */
export interface Varint {
  readonly start: number;
  readonly end: number;
  /** Lengths and counts are not in zigzag form. */
  readonly isLength: boolean;
}

const deepest = 20;

/** Finds what can be forged in a struct that begins at an offset. */
export class ThriftStruct {
  readonly varints: Varint[] = [];
  /** Where the type of a field is. */
  readonly fields: number[] = [];
  readonly #bytes: Uint8Array;
  end: number;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.end = offset;
    this.#struct(0);
  }

  #struct(depth: number): void {
    if (depth > deepest) throw new Error('too many levels');
    for (;;) {
      this.fields.push(this.end);
      const byte = this.#byte();
      if ((byte & 15) === 0) return;
      if (byte >> 4 === 0) this.#varint(false);
      this.#value(byte & 15, depth);
    }
  }

  #value(type: number, depth: number): void {
    if (type <= 2) return;
    if (type === 3) this.end += 1;
    else if (type <= 6) this.#varint(false);
    else if (type === 7) this.end += 8;
    else if (type === 8) {
      const length = this.#varint(true);
      this.end += length;
    } else if (type === 12) this.#struct(depth + 1);
    else this.#list(depth);
  }

  #list(depth: number): void {
    this.fields.push(this.end);
    const byte = this.#byte();
    const length = byte >> 4 === 15 ? this.#varint(true) : byte >> 4;
    const type = (byte & 15) <= 2 ? 3 : byte & 15;
    for (let item = 0; item < length; item += 1) this.#value(type, depth + 1);
  }

  #varint(isLength: boolean): number {
    const start = this.end;
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * shift;
      if (byte < 128) break;
    }
    this.varints.push({ start, end: this.end, isLength });
    return value;
  }

  #byte(): number {
    if (this.end >= this.#bytes.length) throw new Error('the struct is cut off');
    return this.#bytes[this.end++];
  }
}

const numbers = [0n, 1n, 2n, 3n, 7n, 8n, 40n, 127n, 128n, 1000n, 65_535n, 2n ** 20n, 2n ** 27n];
const limits = [
  2n ** 30n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n,
  2n ** 53n,
  2n ** 62n,
  2n ** 63n - 1n,
];
const all = [...numbers, ...numbers, ...limits];

/** With at least `length` bytes: a longer varint than is needed means the same. */
function encode(value: bigint, length: number): number[] {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, value); rest > 0n || bytes.length === 0; rest >>= 7n) {
    bytes.push(Number(rest & 127n));
  }
  while (bytes.length < length) bytes.push(0);
  return bytes.map((byte, at) => (at + 1 < bytes.length ? byte | 128 : byte));
}

/** Another number for one of the varints; keeps its length where that is enough. */
export function forged(random: Random, bytes: Uint8Array, found: Varint): Uint8Array {
  const { start, end, isLength } = found;
  const isNegative = !isLength && random.below(4) === 0;
  const drawn = pick(random, all);
  const value = random.below(4) === 0 ? BigInt(random.below(200)) : drawn;
  const zigzag = isNegative ? 2n * value + 1n : 2n * value;
  const replaced = encode(isLength ? value : zigzag, end - start);
  return Buffer.concat([bytes.subarray(0, start), Uint8Array.from(replaced), bytes.subarray(end)]);
}
