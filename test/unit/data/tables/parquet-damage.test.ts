import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ColumnSource } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { readDataset } from '../../../../src/data/read/read.ts';
import { Decoder } from '../../../../src/data/tables/parquet.ts';
import { checkPages } from '../../../../src/data/tables/parquet-pages.ts';
import { RequestThread, threadEntry } from '../../../../src/engine/thread.ts';
import { DataError } from '../../../../src/errors.ts';
import { readDataset as readOnThreads } from '../../../../src/train/read.ts';
import { temporaryFile, temporaryFolder } from '../support/files.ts';
import { golden, writeParquet } from './support.ts';

const rows = 40;
const numbers = Array.from({ length: rows }, (_, row) => row);
const columns: ColumnSource[] = [
  { name: 'label', data: numbers.map((row) => row % 2), type: 'INT32' },
  { name: 'x', data: numbers.map((row) => row * 1.5), type: 'DOUBLE' },
  { name: 'c', data: numbers.map((row) => (row % 5 === 0 ? null : 'ab'[row % 2])), type: 'STRING' },
];

/** Reads the file without each of its bytes in turn; how many of the files are rejected. */
async function rejectedDeletions(whole: Uint8Array): Promise<number> {
  const path = join(temporaryFolder(), 'shorter.parquet');
  let rejected = 0;
  for (let byte = 0; byte < whole.length; byte += 1) {
    writeFileSync(path, Buffer.concat([whole.subarray(0, byte), whole.subarray(byte + 1)]));
    const outcome = await readDataset(path).catch((error: unknown) => error);
    if (!(outcome instanceof Error)) continue;
    expect(outcome).toBeInstanceOf(DataError);
    rejected += 1;
  }
  return rejected;
}

describe('a file without one of its bytes', () => {
  test.each(['SNAPPY', 'UNCOMPRESSED'] as const)('is read or rejected: %s', async (codec) => {
    const whole = readFileSync(writeParquet(columns, { codec }));
    expect(await rejectedDeletions(whole)).toBeGreaterThan(0.9 * whole.length);
  });

  test('with lists, maps and dictionaries, written by DuckDB, is read or rejected', async () => {
    const whole = readFileSync(golden);
    expect(await rejectedDeletions(whole)).toBeGreaterThan(0.5 * whole.length);
  });

  test('is rejected in a thread as in the calling one', async () => {
    const path = writeParquet(columns);
    const bytes = readFileSync(path);
    const there = await readOnThreads(path);
    expect(there).toEqual(await readDataset(path));
    // Bytes of the header of the first page.
    writeFileSync(path, Buffer.concat([bytes.subarray(0, 6), bytes.subarray(7)]));
    const message = /^\S+: damaged or unsupported Parquet in rows 1 to 40 \(row group 1\): column/;
    await expect(readOnThreads(path)).rejects.toThrow(message);
    await expect(readOnThreads(path)).rejects.toBeInstanceOf(DataError);
    await expect(readDataset(path)).rejects.toThrow(message);
  });
});

/** A number as a varint of the compact protocol, after zigzag. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value >= 0 ? 2 * value : -2 * value - 1;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

/** A struct of integers by field. */
function struct(fields: Readonly<Record<number, number>>): number[] {
  let last = 0;
  const bytes = Object.entries(fields).flatMap(([field, value]) => {
    const delta = Number(field) - last;
    last = Number(field);
    return [16 * delta + 5, ...varint(value)];
  });
  return [...bytes, 0];
}

const page = Uint8Array.from(numbers);

interface PageHeader {
  readonly size?: number;
  readonly checksum?: number;
  readonly values?: number;
}

/** A column of one page. */
function chunkOf({ size = rows, checksum, values = rows }: PageHeader): Uint8Array {
  const own = struct({ 1: 0, 2: rows, 3: size, ...(checksum !== undefined && { 4: checksum }) });
  const inner = struct({ 1: values, 2: 0, 3: 3, 4: 3 });
  const behind = checksum === undefined ? 2 : 1;
  return Uint8Array.from([...own.slice(0, -1), 16 * behind + 12, ...inner, 0, ...page]);
}

describe('pages', () => {
  const column = { path_in_schema: ['x'], num_values: BigInt(rows) } as Parameters<
    typeof checkPages
  >[1];
  const check = (header: PageHeader) => () => checkPages(chunkOf(header), column, () => {});

  test('of the sizes that their headers have are accepted', () => {
    expect(check({})).not.toThrow();
  });

  test.each([
    [{ size: -1 }, 'its header gives its size as -1; expected a whole number from 0'],
    [{ size: 41 }, '41 bytes long; the column has 40 more'],
    [{ values: -7 }, 'its header gives its number of values as -7; expected'],
    [{ values: 39 }, 'pages of 39 values together; expected 40'],
  ])('with other sizes are rejected: %j', (header, message) => {
    expect(check(header)).toThrow(message);
  });

  test('without a size are rejected', () => {
    const chunk = Uint8Array.from([...struct({ 1: 0, 2: rows }), ...page]);
    expect(() => checkPages(chunk, column, () => {})).toThrow(
      'its header has no size; expected a whole number from 0 to',
    );
  });

  test('have the checksum of their header, if it has one', () => {
    // As a signed number, which the header has.
    const checksum = crc32(page) | 0;
    expect(check({ checksum })).not.toThrow();
    expect(check({ checksum: checksum ^ 1 })).toThrow(
      'column "x": page 1: its checksum is not that of its bytes',
    );
  });
});

test('a footer with damages is refused in words, not in those of the engine', async () => {
  const bytes = readFileSync(golden);
  const path = temporaryFile('damaged.parquet', bytes);
  const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  const faults = new Set<string>();
  for (let at = footer; at < bytes.length - 8; at += 3) {
    for (const value of [0, 0x15, 0xff]) {
      const forged = Buffer.from(bytes);
      forged[at] = value;
      writeFileSync(path, forged);
      const error = await readDataset(path).catch((caught: unknown) => caught);
      const message = error instanceof Error ? error.message.replace(path, 'PATH') : '';
      if (message.startsWith('PATH: damaged or unsupported')) faults.add(message);
    }
  }
  expect(faults.size).toBeGreaterThan(3);
  for (const fault of faults) {
    expect(fault).not.toMatch(/undefined|Cannot |is not |BigInt|Invalid|nothing|NaN|\[object/);
  }
  expect([...faults].join('\n')).toContain(
    'in its footer: a field or a value that is missing, or of another type or size; expected what',
  );
});

test('a column that the schema does not have is found before any is decoded', async () => {
  const bytes = readFileSync(golden);
  const path = temporaryFile('names.parquet', bytes);
  const messages: string[] = [];
  // The name of the items of a list, in the schema or in the row group.
  for (let at = bytes.indexOf('element'); at >= 0; at = bytes.indexOf('element', at + 1)) {
    const forged = Buffer.from(bytes);
    forged[at] = 0x45;
    writeFileSync(path, forged);
    const error = await readDataset(path).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(DataError);
    messages.push((error as Error).message.replace(path, 'PATH'));
  }
  expect(messages).toContain(
    'PATH: damaged or unsupported Parquet in its footer: row group 1 has column "tags.list.element" where the schema has column "tags.list.Element"',
  );
});

describe('a page that takes long', () => {
  /** A file whose levels are a run of 2³⁰ values, which takes seconds and gigabytes to decode. */
  function longRun(): string {
    const data = numbers.map((row) => (row % 3 === 0 ? null : row));
    const bytes = readFileSync(
      writeParquet([{ name: 'label', data, type: 'INT32' }], { codec: 'UNCOMPRESSED' }),
    );
    const levels = bytes.indexOf(Buffer.from([0x0b, 0xb6, 0x6d, 0xdb, 0xb6, 0x6d]));
    expect(levels).toBeGreaterThan(0);
    bytes.set([0x80, 0x80, 0x80, 0x80, 0x08, 1], levels);
    return temporaryFile('long-run.parquet', bytes);
  }

  const start = () => new RequestThread(threadEntry('worker'), {});

  test('is given up without progress, and the row group is named', async () => {
    const decoder = new Decoder(start());
    try {
      const table = await decoder.open(longRun());
      decoder.patience = { intervals: 1, interval: 20 };
      const batch = table.batches([0])[Symbol.asyncIterator]().next();
      await expect(batch).rejects.toThrow(/long-run.parquet: row group 1: no progress for 0.04 s/);
      await expect(batch).rejects.toBeInstanceOf(DataError);
    } finally {
      await decoder.close();
    }
  });

  test('can be ended while it is decoded', async () => {
    const decoder = new Decoder(start());
    const table = await decoder.open(longRun());
    const batch = table.batches([0])[Symbol.asyncIterator]().next();
    batch.catch(() => {});
    await decoder.close();
    await expect(batch).rejects.toThrow('a worker thread ended');
  });
});
