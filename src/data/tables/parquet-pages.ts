/**
 * The pages of a Parquet file, checked before they are decoded. The decoder trusts their headers: one
 * without a size makes it read the same byte for ever.
 */
import { crc32 } from 'node:zlib';
import type { ColumnMetaData } from 'hyparquet';

const pageTypes = { data: 0, dictionary: 2, dataV2: 3 };

/** Types of the compact protocol of Thrift. */
const types = { stop: 0, yes: 1, no: 2, byte: 3, i16: 4, i32: 5, i64: 6, double: 7 };
const moreTypes = { binary: 8, list: 9, struct: 12 };

/** Structs in structs; page headers have three levels. */
const deepest = 8;

/** Numbers and structs by field; other values are skipped. */
type Struct = ReadonlyMap<number, number | Struct>;

class HeaderReader {
  readonly #bytes: Uint8Array;
  offset: number;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.offset = offset;
  }

  struct(depth = 0): Struct {
    if (depth > deepest) throw new Error('a page header with too many levels');
    const fields = new Map<number, number | Struct>();
    let field = 0;
    for (;;) {
      const byte = this.#byte();
      const type = byte & 15;
      if (type === types.stop) return fields;
      field = byte >> 4 === 0 ? this.#integer(5) : field + (byte >> 4);
      const value = this.#value(type, depth);
      if (value !== undefined) fields.set(field, value);
    }
  }

  #value(type: number, depth: number): number | Struct | undefined {
    switch (type) {
      case types.yes:
      case types.no:
        return undefined;
      case types.byte:
        this.#byte();
        return undefined;
      case types.i16:
      case types.i32:
        return this.#integer(5);
      case types.i64:
        return this.#integer(10);
      case types.double:
        return this.#skip(8);
      case moreTypes.binary:
        return this.#skip(this.#varint(5));
      case moreTypes.list:
        return this.#list(depth);
      case moreTypes.struct:
        return this.struct(depth + 1);
      default:
        throw new Error(`a page header with a field of type ${type}`);
    }
  }

  #list(depth: number): undefined {
    if (depth > deepest) throw new Error('a page header with too many levels');
    const byte = this.#byte();
    const type = byte & 15;
    const length = byte >> 4 === 15 ? this.#varint(5) : byte >> 4;
    // Every item takes a byte at least, so that the end of the bytes ends the loop.
    const itemType = type === types.yes || type === types.no ? types.byte : type;
    for (let item = 0; item < length; item += 1) this.#value(itemType, depth + 1);
    return undefined;
  }

  #skip(length: number): undefined {
    if (length > this.#bytes.length - this.offset) throw cutOff();
    this.offset += length;
    return undefined;
  }

  #integer(mostBytes: number): number {
    const zigzag = this.#varint(mostBytes);
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  }

  /** Exact up to 2⁵³, which is more than any size; `mostBytes` are those of the widest number. */
  #varint(mostBytes: number): number {
    let value = 0;
    for (let count = 0; count < mostBytes; count += 1) {
      const byte = this.#byte();
      value += (byte & 127) * 2 ** (7 * count);
      if (byte < 128) {
        if (mostBytes === 5 && value >= 2 ** 32) break;
        return value;
      }
    }
    throw new Error('a page header with a number of too many bits');
  }

  #byte(): number {
    if (this.offset >= this.#bytes.length) throw cutOff();
    return this.#bytes[this.offset++];
  }
}

function cutOff(): Error {
  return new Error('a page header that is cut off');
}

/** A size or count of a header: a whole number from 0 to 2³¹ − 1. */
function countOf(struct: Struct, field: number, what: string): number {
  const value = struct.get(field);
  if (typeof value === 'number' && value >= 0 && value < 2 ** 31) return value;
  const found = value === undefined ? `has no ${what}` : `gives its ${what} as ${shown(value)}`;
  throw new Error(`its header ${found}; expected a whole number from 0 to 2147483647`);
}

function shown(value: number | Struct | undefined): string {
  if (value === undefined) return 'none';
  return typeof value === 'number' ? String(value) : 'a list of fields';
}

function structOf(header: Struct, field: number, what: string): Struct {
  const value = header.get(field);
  if (typeof value === 'object') return value;
  throw new Error(`its header says that it is ${what}; expected the fields of one, which it lacks`);
}

/** Values of a page of data; undefined for a dictionary. */
function valuesOf(header: Struct, bytes: number): number | undefined {
  const type = header.get(1);
  const values = 'number of values';
  if (type === pageTypes.data) return countOf(structOf(header, 5, 'a page of data'), 1, values);
  if (type === pageTypes.dictionary) {
    countOf(structOf(header, 7, 'a dictionary'), 1, values);
    return undefined;
  }
  if (type !== pageTypes.dataV2) {
    throw new Error(`its type is ${shown(type)}; expected 0 or 3 (data) or 2 (a dictionary)`);
  }
  const own = structOf(header, 8, 'a page of data');
  const count = countOf(own, 1, values);
  const nulls = countOf(own, 2, 'number of nulls');
  if (nulls > count) throw new Error(`${nulls} nulls among ${count} values`);
  countOf(own, 3, 'number of rows');
  const levels =
    countOf(own, 5, 'size of definition levels') + countOf(own, 6, 'size of repetition levels');
  if (levels > bytes) throw new Error(`levels of ${levels} bytes in a page of ${bytes}`);
  return count;
}

/** Checks the page at an offset: what it holds, and where the next one begins. */
function checkPage(chunk: Uint8Array, offset: number): { values: number; end: number } {
  const reader = new HeaderReader(chunk, offset);
  const header = reader.struct();
  countOf(header, 2, 'uncompressed size');
  const size = countOf(header, 3, 'size');
  const end = reader.offset + size;
  if (end > chunk.length) {
    throw new Error(`${size} bytes long; the column has ${chunk.length - reader.offset} more`);
  }
  const values = valuesOf(header, size) ?? 0;
  const checksum = header.get(4);
  if (
    checksum !== undefined &&
    crc32(chunk.subarray(reader.offset, end)) !== Number(checksum) >>> 0
  ) {
    throw new Error('its checksum is not that of its bytes');
  }
  return { values, end };
}

/** Checks all pages of a column in a row group; `onPage` hears of each. */
export function checkPages(
  chunk: Uint8Array,
  { path_in_schema: path, num_values: expected }: ColumnMetaData,
  onPage: () => void,
): void {
  const column = `column ${JSON.stringify(path.join('.'))}`;
  let values = 0;
  // The decoder takes a last byte alone for padding.
  for (let offset = 0, page = 1; offset < chunk.length - 1; page += 1) {
    try {
      const checked = checkPage(chunk, offset);
      values += checked.values;
      offset = checked.end;
    } catch (cause) {
      throw new Error(`${column}: page ${page}: ${(cause as Error).message}`, { cause });
    }
    onPage();
  }
  if (BigInt(values) === expected) return;
  throw new Error(`${column}: pages of ${values} values together; expected ${expected}`);
}
