import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { ColumnSource } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { readDataset, readParts } from '../../../../src/data/read/read.ts';
import { DataError } from '../../../../src/errors.ts';
import { stream } from '../../../../src/math/random.ts';
import { fc } from '../../../support/property.ts';
import { temporaryFile, temporaryFolder } from '../support/files.ts';
import { golden, type NamedRow, namedRows, writeParquet } from './support.ts';

type Cell = number | bigint | boolean | string | null;

interface MadeColumn {
  readonly name: string;
  readonly type: ColumnSource['type'];
  readonly data: readonly Cell[];
}

const small = { noNaN: true, noDefaultInfinity: true, max: 1e30, min: -1e30 };
const cells = {
  DOUBLE: fc.double(small),
  FLOAT: fc.float({ noNaN: true, noDefaultInfinity: true }),
  INT32: fc.integer(),
  INT64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  BOOLEAN: fc.boolean(),
  STRING: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('NA', '', '?', '7')),
} satisfies Record<string, fc.Arbitrary<Cell>>;
const types = Object.keys(cells) as (keyof typeof cells)[];

/** Tables of a label and some columns of any type, with missing values. */
const tables = fc.integer({ min: 1, max: 40 }).chain((rows) => {
  const column = fc.constantFrom(...types).chain((type) => {
    const cell = fc.option<Cell>(cells[type] as fc.Arbitrary<Cell>, { freq: 6 });
    const data = fc.array(cell, { minLength: rows, maxLength: rows });
    return fc.record({ type: fc.constant(type), data });
  });
  return fc.record({
    labels: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: rows, maxLength: rows }),
    columns: fc.array(column, { minLength: 1, maxLength: 5 }),
    rowGroupSize: fc.integer({ min: 1, max: 45 }),
  });
});

/** What the documentation says becomes of the values. */
function expectedRows(labels: readonly number[], columns: readonly MadeColumn[]): NamedRow[] {
  return labels.map((label, row) => {
    const entries = columns.flatMap(({ name, data }): [string, number][] => {
      const cell = data[row];
      if (cell === null) return [[`${name}=?`, 1]];
      if (typeof cell === 'string') return [[`${name}=${cell}`, 1]];
      const value = Math.fround(Number(cell));
      return value === 0 ? [] : [[name, value]];
    });
    entries.sort(([left], [right]) => (left < right ? -1 : 1));
    return { label, features: Object.fromEntries(entries) };
  });
}

describe('Parquet that was written', () => {
  test('reads back to the same bits: any types, missing values, row groups', async () => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ labels, columns, rowGroupSize }) => {
        const made = columns.map((column, position) => ({ ...column, name: `column ${position}` }));
        const written = made.map(({ name, type, data }) => ({ name, type, data: [...data] }));
        const path = writeParquet([{ name: 'label', data: labels, type: 'INT32' }, ...written], {
          rowGroupSize,
        });
        const dataset = await readDataset(path);
        expect(dataset.rows).toBe(labels.length);
        expect(namedRows(dataset)).toEqual(expectedRows(labels, made));
      }),
      { numRuns: 60 },
    );
  });

  const compressors = {
    GZIP: (bytes: Uint8Array) => gzipSync(bytes),
    ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes),
  };
  test.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD'] as const)('with codec %s', async (codec) => {
    const random = stream(7, 3);
    const data = Float64Array.from({ length: 3000 }, () => random.below(50) / 8);
    const label = Array.from(data, (_, row) => row % 2);
    const path = writeParquet(
      [
        { name: 'label', data: label, type: 'INT32' },
        { name: 'x', data, type: 'DOUBLE' },
      ],
      { codec, compressors, pageSize: 2000 },
    );
    const rows = namedRows(await readDataset(path));
    expect(rows.map(({ features }) => features.x ?? 0)).toEqual([...data]);
  });

  test('in several files by pattern, with columns in another order', async () => {
    const folder = temporaryFolder();
    const label: ColumnSource = { name: 'label', data: ['a', 'b'], type: 'STRING' };
    const age: ColumnSource = { name: 'age', data: [1, 2], type: 'DOUBLE' };
    writeParquet([label, age], {}, join(folder, 'part-10.parquet'));
    writeParquet([{ ...age, data: [3, 4] }, label], {}, join(folder, 'part-2.parquet'));
    const dataset = await readDataset(join(folder, 'part-*.parquet'));
    expect(namedRows(dataset).map(({ features }) => features.age)).toEqual([3, 4, 1, 2]);
    expect(dataset.labelNames).toEqual(['a', 'b']);
  });
});

describe('the golden file, written by DuckDB', () => {
  test('has numbers, texts, dates, decimals, lists, maps and nulls', async () => {
    const dataset = await readDataset(golden);
    const expected: unknown = JSON.parse(readFileSync(`${golden}.json`, 'utf8'));
    expect(namedRows(dataset)).toEqual(expected);
    expect(dataset.notices).toEqual([
      'read as Parquet: label column "label", weight column "weight", 9 numeric and 3 categorical columns',
    ]);
  });

  test('fields are chosen as in other formats', async () => {
    const dataset = await readDataset(golden, {
      label: 'city',
      weight: 'age',
      categorical: ['score', 'identity'],
      ignore: ['label', 'weight', 'words', 'vector', 'tags', 'born', 'seen', 'woke', 'kind'],
      missing: 'zero',
      textLabels: true,
    });
    expect(namedRows(dataset)).toEqual([
      {
        label: 'Paris',
        weight: 30,
        features: { 'score=0.3': 1, 'identity=9007199254740993': 1, member: 1 },
      },
      { label: 'Rome', weight: 41, features: { 'identity=9007199254740992': 1, member: 1 } },
      { label: '', weight: 0, features: { 'score=-12.75': 1, 'identity=-1': 1, member: 1 } },
    ]);
    expect(dataset.recipe?.fields).toContainEqual({ name: 'identity', kind: 'category' });
  });

  test('means the same as other data if asked to', async () => {
    const like = await readDataset(golden);
    const path = writeParquet([
      { name: 'score', data: [2.5], type: 'DOUBLE' },
      { name: 'city', data: ['Berlin'], type: 'STRING' },
      { name: 'colour', data: ['red'], type: 'STRING' },
    ]);
    const dataset = await readDataset(path, { like });
    expect(dataset.featureNames).toEqual(like.featureNames);
    const absent = ['seen=?', 'born=?', 'woke=?', 'words=?', 'tags=?', 'vector=?'];
    expect(namedRows(dataset)[0].features).toEqual({
      score: 2.5,
      ...Object.fromEntries(absent.map((name) => [name, 1])),
    });
    expect(dataset.notices.join('\n')).toContain('ignored column "colour"');
  });

  test('has hashes for names if asked to', async () => {
    const dataset = await readDataset(golden, { hashBits: 10 });
    expect(dataset.columns).toBe(1024);
    expect(dataset.recipe?.hashBits).toBe(10);
    expect(dataset).not.toHaveProperty('featureNames');
  });

  test('reads or is rejected, whichever byte is wrong', async () => {
    const whole = readFileSync(golden);
    const random = stream(11, 5);
    const path = join(temporaryFolder(), 'flipped.parquet');
    for (let round = 0; round < 300; round += 1) {
      const bytes = Uint8Array.from(whole);
      bytes[random.below(bytes.length)] ^= 1 + random.below(255);
      writeFileSync(path, bytes);
      const outcome = await readDataset(path).catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(DataError);
    }
  });

  test('cut anywhere is rejected', async () => {
    const whole = readFileSync(golden);
    for (const length of [1, 4, 11, 100, whole.length - 1]) {
      const path = temporaryFile('cut.parquet', whole.subarray(0, length));
      await expect(readDataset(path)).rejects.toThrow(DataError);
    }
  });
});

describe('what is rejected', () => {
  const label: ColumnSource = { name: 'label', data: [1, 0, 1], type: 'INT32' };

  async function errorMessage(path: string, options = {}): Promise<string> {
    const outcome = await readDataset(path, options).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(DataError);
    return (outcome as DataError).message.replaceAll(path, 'FILE');
  }

  test('what is no Parquet file', async () => {
    const text = temporaryFile('text.parquet', '+1 1:0.5 2:1 3:2\n');
    expect(await errorMessage(text)).toBe('FILE: not a Parquet file: it does not begin with PAR1');
    expect(await errorMessage(temporaryFile('none.parquet', ''))).toBe(
      'FILE: empty; expected a Parquet file',
    );
    const locked = temporaryFile('locked.parquet', 'PARE then something else');
    expect(await errorMessage(locked)).toContain('encrypted');
    expect(await errorMessage(join(temporaryFolder(), 'absent.parquet'))).toBe(
      'FILE: no such file',
    );
  });

  test('a file that ends too soon', async () => {
    const path = writeParquet([label]);
    writeFileSync(path, readFileSync(path).subarray(0, -20));
    expect(await errorMessage(path)).toBe(
      'FILE: truncated: it begins as a Parquet file, but does not end as one',
    );
  });

  test('a footer that makes no sense', async () => {
    const bytes = Buffer.concat([
      Buffer.from('PAR1'),
      Buffer.alloc(40, 0xff),
      Buffer.from([40, 0, 0, 0]),
      Buffer.from('PAR1'),
    ]);
    const message = await errorMessage(temporaryFile('footer.parquet', bytes));
    expect(message).toMatch(/^FILE: damaged or unsupported Parquet in its footer: /);
  });

  test('a missing label, with the columns there are', async () => {
    const path = writeParquet([
      { name: 'age', data: [1], type: 'INT32' },
      { name: 'pay', data: [1], type: 'INT32' },
    ]);
    expect(await errorMessage(path)).toContain('the columns are age, pay');
    await expect(readDataset(path, { label: 'rage' })).rejects.toThrow(
      '--label rage: no such column in',
    );
  });

  test('a type of which nothing can be made, unless it is left out', async () => {
    const things = [{ a: 1 }, { a: 2 }, { a: 3 }];
    const path = writeParquet([label, { name: 'thing', data: things, type: 'JSON' }]);
    expect(await errorMessage(path)).toBe(
      'FILE: column "thing" is of type BYTE_ARRAY (JSON), which cannot be a feature ' +
        '(--ignore thing leaves it out)',
    );
    expect((await readDataset(path, { ignore: ['thing'] })).rows).toBe(3);
  });

  test('a value that is no finite number, with its row', async () => {
    const data = [1, 2, Number.POSITIVE_INFINITY];
    const path = writeParquet([label, { name: 'x', data, type: 'DOUBLE' }], {
      rowGroupSize: 2,
    });
    expect(await errorMessage(path)).toContain('FILE: row 3: column "x": "Infinity" is too large');
  });

  test('missing values if asked to', async () => {
    const path = writeParquet([label, { name: 'x', data: [1, null, 3], type: 'DOUBLE' }]);
    expect(await errorMessage(path, { missing: 'error' })).toContain(
      'row 2: column "x" has no value',
    );
  });

  test('a negative weight and a missing label, with their rows', async () => {
    const weights: ColumnSource = { name: 'weight', data: [1, 1, -1], type: 'DOUBLE' };
    expect(await errorMessage(writeParquet([label, weights]))).toContain(
      'row 3: weight "-1" in column "weight"',
    );
    const labels: ColumnSource = { name: 'label', data: [1, null, 1], type: 'INT32' };
    expect(await errorMessage(writeParquet([labels]))).toContain('row 2: no label in column');
  });

  test('files that do not fit together', async () => {
    const folder = temporaryFolder();
    const first = writeParquet(
      [label, { name: 'x', data: [1, 2, 3], type: 'INT32' }],
      {},
      join(folder, 'a.parquet'),
    );
    const other = writeParquet([label], {}, join(folder, 'b.parquet'));
    await expect(readDataset([first, other])).rejects.toThrow(
      `${other}: no column "x"; expected those of ${first}`,
    );
    const texts: ColumnSource = { name: 'x', data: ['1', '2', '3'], type: 'STRING' };
    writeParquet([label, texts], {}, other);
    await expect(readDataset([first, other])).rejects.toThrow(
      `${other}: column "x" is of type BYTE_ARRAY (UTF8); expected INT32, as in ${first}`,
    );
  });

  test('what the caller cannot have of it', async () => {
    const like = await readDataset(temporaryFile('numbers.svm', '1 1:1\n'));
    const path = writeParquet([label]);
    expect(await errorMessage(path, { like })).toContain('the training data had numbers');
    const takePart = () => {};
    await expect(readParts(path, { takePart, float64: 'all' })).rejects.toThrow('float64 values');
    const texts = writeParquet([{ ...label, data: ['a', 'b', 'c'], type: 'STRING' }]);
    await expect(readParts(texts, { takePart })).rejects.toThrow(`${texts}: label "a" is not a n`);
  });

  test('no rows, and standard input', async () => {
    const path = writeParquet([{ name: 'label', data: [], type: 'INT32' }]);
    expect(await errorMessage(path)).toBe('FILE: no rows; expected at least one');
    await expect(readDataset('-', { format: 'parquet' })).rejects.toThrow(
      'Parquet from standard input',
    );
  });

  test('pages that were cut out of the middle', async () => {
    const data = Float64Array.from({ length: 1000 }, (_, row) => row);
    const path = writeParquet([
      { name: 'label', data, type: 'DOUBLE', nullable: false },
      { name: 'x', data, type: 'DOUBLE', nullable: false },
    ]);
    const bytes = readFileSync(path);
    bytes.fill(0, 4, 2000);
    writeFileSync(path, bytes);
    expect(await errorMessage(path)).toMatch(
      /Parquet in rows 1 to 1000 \(row group 1\): column "label": page 1: /,
    );
  });
});
