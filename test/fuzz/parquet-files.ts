import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import { type ColumnSource, type ParquetWriteOptions, parquetWriteBuffer } from 'hyparquet-writer';
import type { Random } from '../../src/math/random.ts';
import { pick } from './draw.ts';
import { mutateBytes } from './mutate.ts';
import { forged, ThriftStruct, type Varint } from './thrift.ts';

/** A valid file, and where its footer and its page headers can be forged. */
export interface ParquetSeed {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly footer: ThriftStruct;
  readonly pages: readonly Varint[];
}

const rows = Array.from({ length: 24 }, (_, row) => row);

/** The rows of the first table, as JSON lines have them. */
export function expectedLines(): string {
  const lines = rows.map((row) =>
    JSON.stringify({
      label: row % 2,
      x: row * 1.5,
      n: row % 3 ? row * 1e6 : null,
      c: 'abc'[row % 3],
    }),
  );
  return lines.join('\n');
}

const table: ColumnSource[] = [
  { name: 'label', data: rows.map((row) => row % 2), type: 'INT32' },
  { name: 'x', data: rows.map((row) => row * 1.5), type: 'DOUBLE' },
  {
    name: 'n',
    data: rows.map((row) => (row % 3 ? row * 1e6 : null)),
    type: 'INT32',
    nullable: true,
  },
  { name: 'c', data: rows.map((row) => 'abc'[row % 3]), type: 'STRING' },
];

const types: ColumnSource[] = [
  { name: 'y', data: rows.map((row) => row % 4 > 1), type: 'BOOLEAN' },
  { name: 'big', data: rows.map((row) => BigInt(row) * 10n ** 12n), type: 'INT64' },
  { name: 'f', data: rows.map((row) => row / 8), type: 'FLOAT' },
  { name: 't', data: rows.map((row) => new Date(86_400_000 * row)), type: 'TIMESTAMP' },
];

type Written = readonly [string, ColumnSource[], Partial<ParquetWriteOptions>];

const encoded = (encoding: NonNullable<ColumnSource['encoding']>): ColumnSource[] =>
  table.map((column) => (column.name === 'c' ? { ...column, encoding } : column));

/** The same table, but for the last one. */
const written: readonly Written[] = [
  ['plain', table, { codec: 'UNCOMPRESSED', statistics: false }],
  ['statistics', table, { codec: 'UNCOMPRESSED' }],
  ['snappy', table, { codec: 'SNAPPY' }],
  ['groups', table, { codec: 'UNCOMPRESSED', rowGroupSize: 7, pageSize: 16 }],
  ['delta', encoded('DELTA_BYTE_ARRAY'), { codec: 'UNCOMPRESSED' }],
  ['lengths', encoded('DELTA_LENGTH_BYTE_ARRAY'), { codec: 'UNCOMPRESSED', pageSize: 16 }],
  ['bytes', encoded('PLAIN'), { codec: 'UNCOMPRESSED' }],
  ['types', types, { codec: 'UNCOMPRESSED' }],
];

export const sameTable = written.length - 1;

export function parquetSeeds(): ParquetSeed[] {
  const golden = join(import.meta.dirname, '..', 'golden', 'data', 'typed.parquet');
  const own = written.map(([name, columnData, options]) => {
    return seedOf(name, new Uint8Array(parquetWriteBuffer({ ...options, columnData })));
  });
  return [...own, seedOf('typed', new Uint8Array(readFileSync(golden)))];
}

const tailBytes = 8;

function seedOf(name: string, bytes: Uint8Array): ParquetSeed {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = view.getUint32(bytes.length - tailBytes, true);
  const footer = new ThriftStruct(bytes, bytes.length - tailBytes - length);
  const exact = bytes.slice().buffer;
  const chunks = parquetMetadata(exact).row_groups.flatMap(({ columns }) => columns);
  const pages = chunks.flatMap(({ meta_data: column }) => {
    const begin = Number(column!.dictionary_page_offset || column!.data_page_offset);
    // The first header of the column.
    return new ThriftStruct(bytes, begin).varints;
  });
  return { name, bytes, footer, pages };
}

/** The length in front of the last four bytes becomes that of the footer. */
function withLength(bytes: Uint8Array, length: number): Uint8Array {
  const fixed = bytes.slice();
  new DataView(fixed.buffer).setUint32(fixed.length - tailBytes, length, true);
  return fixed;
}

function withForgedFooter(random: Random, { bytes, footer }: ParquetSeed): Uint8Array {
  const end = bytes.length - tailBytes;
  const start = footer.fields[0];
  if (random.below(4) === 0) {
    // Another type, or another field.
    const at = pick(random, footer.fields);
    const changed = bytes.slice();
    changed[at] = random.below(256);
    return changed;
  }
  const changed = forged(random, bytes, pick(random, footer.varints));
  return withLength(changed, end - start + changed.length - bytes.length);
}

function withDamagedPart(random: Random, seed: ParquetSeed, other: Uint8Array): Uint8Array {
  const start = seed.footer.fields[0];
  const { bytes } = seed;
  const body = bytes.subarray(4, start);
  const footer = bytes.subarray(start, bytes.length - tailBytes);
  const inBody = random.below(2) === 0;
  const newBody = inBody ? mutateBytes(random, body, other) : body;
  const newFooter = inBody ? footer : mutateBytes(random, footer, other);
  const pieces = [bytes.subarray(0, 4), newBody, newFooter, bytes.subarray(-tailBytes)];
  return withLength(Buffer.concat(pieces), newFooter.length);
}

/** A damaged file: most of them keep the parts that readers check first. */
export function damagedParquet(random: Random, seeds: readonly ParquetSeed[]): Uint8Array {
  const seed = pick(random, seeds);
  const other = pick(random, seeds).bytes;
  const way = random.below(64);
  if (way === 0) return seed.bytes;
  if (way < 24) return withForgedFooter(random, seed);
  if (way < 40) return forged(random, seed.bytes, pick(random, seed.pages));
  if (way < 58) return withDamagedPart(random, seed, other);
  return mutateBytes(random, seed.bytes, other);
}
