import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readDataset } from '../../../../src/data/read/read.ts';
import { readQuery } from '../../../../src/data/tables/query.ts';
import { DataError, UsageError } from '../../../../src/errors.ts';
import { stream } from '../../../../src/math/random.ts';
import { temporaryFile, temporaryFolder } from '../support/files.ts';
import { golden, namedRows, writeParquet } from './support.ts';

describe('rows that DuckDB finds', () => {
  test('in a Parquet file are those that our own reader finds', async () => {
    const ours = await readDataset(golden);
    const theirs = await readQuery(`select * from '${golden}'`);
    const { name, notices, ...same } = ours;
    expect(theirs).toEqual({
      ...same,
      name: 'query',
      notices: [notices[0].replace('Parquet', 'SQL')],
    });
  });

  test('in a large Parquet file are in the order of the file', async () => {
    const random = stream(3, 9);
    const column = (name: string) => ({
      name,
      data: Float64Array.from({ length: 150_000 }, () => random.normal()),
      type: 'DOUBLE' as const,
    });
    const path = writeParquet([column('label'), column('x'), column('z')], {
      rowGroupSize: 20_000,
    });
    const ours = await readDataset(path);
    const theirs = await readQuery(`select * from '${path}'`);
    expect(theirs.parts).toEqual(ours.parts);
  });

  test('in a CSV file are those that our own reader finds', async () => {
    const lines = ['label,age,city,pay', 'spam,30,Paris,0.1', 'ham,41.5,Rome,', 'spam,,"a,b",-2e3'];
    const path = temporaryFile('people.csv', `${lines.join('\n')}\n`);
    const ours = await readDataset(path);
    const theirs = await readQuery(`select * from '${path}'`);
    expect(namedRows(theirs)).toEqual(namedRows(ours));
    expect(theirs.featureNames).toEqual(ours.featureNames);
    expect(theirs.recipe).toEqual(ours.recipe);
  });

  test('may be computed, of any type that numbers and texts can be', async () => {
    const dataset = await readQuery(`select
      1 as label,
      7::utinyint as tiny, -8::bigint as big, 2::hugeint as huge, true as yes,
      0.3::decimal(9, 2) as price, 1.5::float as half,
      date '1970-01-11' as day, timestamp '1970-01-02 12:00:00' as time,
      timestamptz '1970-01-02 12:00:00+00' as zoned, timestamp_s '1970-01-03 00:00:00' as seconds,
      timestamp_ms '1970-01-03 00:00:00' as millis, timestamp_ns '1970-01-03 00:00:00' as nanos,
      time '06:00:00' as clock,
      'x'::enum('x', 'y') as kind, uuid '00000000-0000-0000-0000-000000000001' as id,
      ['a', 'b'] as tags, [0.5, null]::double[] as vector, [1, 2]::integer[2] as pair,
      map {'u': 2, 'v': null} as words, map {'w': 4.5} as features, null::varchar as nothing`);
    expect(namedRows(dataset)).toEqual([
      {
        label: 1,
        features: {
          big: -8,
          clock: 0.25,
          day: 10,
          half: 1.5,
          huge: 2,
          'id=00000000-0000-0000-0000-000000000001': 1,
          'kind=x': 1,
          millis: 2,
          nanos: 2,
          'nothing=?': 1,
          'pair[0]': 1,
          'pair[1]': 2,
          price: Math.fround(0.3),
          seconds: 2,
          'tags=a': 1,
          'tags=b': 1,
          time: 1.5,
          tiny: 7,
          'vector[0]': 0.5,
          'vector[1]=?': 1,
          w: 4.5,
          'words.u': 2,
          'words.v=?': 1,
          yes: 1,
          zoned: 1.5,
        },
      },
    ]);
  });

  test('come in the same order every time, also without an order by', async () => {
    const sql = `select range % 977 as label, sum(range / 3.0) as x
      from range(200000) group by all`;
    const first = await readQuery(sql);
    expect(first.rows).toBe(977);
    expect((await readQuery(sql)).parts).toEqual(first.parts);
  });

  test('have several labels where the label is a list', async () => {
    const dataset = await readQuery(
      `select * from (values (['a', 'b'], 1), ([], 2)) as t(label, x)`,
    );
    expect(dataset.labelNames).toEqual(['a,b', '']);
  });

  test('may need statements in front of the query', async () => {
    const dataset = await readQuery(
      `create table t as select 1 as label, 2 as x; set variable k = 3;
       select *, getvariable('k') as k from t`,
    );
    expect(namedRows(dataset)).toEqual([{ label: 1, features: { k: 3, x: 2 } }]);
  });

  test('take the options of other tables', async () => {
    const dataset = await readQuery('select 1 as a, 2 as b, 3 as c', {
      label: 'b',
      weight: 'c',
      categorical: ['a'],
    });
    expect(namedRows(dataset)).toEqual([{ label: 2, weight: 3, features: { 'a=1': 1 } }]);
  });

  test('may call numbers missing', async () => {
    const dataset = await readQuery('select 1 as label, -999 as a, -999::bigint as b, 5.5 as c', {
      missingValues: ['-999'],
    });
    expect(namedRows(dataset)).toEqual([{ label: 1, features: { 'a=?': 1, 'b=?': 1, c: 5.5 } }]);
  });
});

describe('what is rejected', () => {
  const usage: [string, string][] = [
    ['', 'query: empty; expected a select'],
    ['selec 1', 'query: Parser Error: syntax error at or near "selec"'],
    ['select z from (select 1 as a)', 'query: Binder Error: Referenced column "z" not found'],
    ['select * from nothing', 'query: Catalog Error: Table with name nothing does not exist!'],
    ["copy (select 1) to 'x.csv'", 'query: ends with a statement of type COPY; expected a select'],
    ["copy (select 1) to 'x.csv'; select 1", 'query: a statement of type COPY; expected a select'],
  ];
  test.each(usage)('%j', async (sql, message) => {
    const outcome = await readQuery(sql).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(UsageError);
    expect((outcome as Error).message).toContain(message);
    expect((outcome as Error).message).not.toContain('\n');
  });

  const data: [string, string][] = [
    ["select * from 'none-*.parquet'", 'query: IO Error: No files found that match the pattern'],
    ["select 'x'::integer as label", 'query: Conversion Error: Could not convert string'],
    ["select {'a': 1} as s, 1 as label", 'query: column "s" is of type STRUCT("a" INTEGER), which'],
    ['select 1 as label, 1e300 as x', 'query: row 1: column "x": "1e+300" is too large'],
    [
      "select 1 as label, date 'infinity' as x",
      'query: row 1: column "x": "Infinity" is too large',
    ],
    ["select 1 as label, ['infinity']::double[] as x", 'query: row 1: feature "x[0]" is Infinity'],
    ['select 1 as label limit 0', 'query: no rows; expected at least one'],
    ['select 1 as a, 2 as b', 'the columns are a, b'],
    ['select 1 as label, 2 as label', 'query: two columns are called "label"'],
  ];
  test.each(data)('%j', async (sql, message) => {
    const outcome = await readQuery(sql).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(DataError);
    expect((outcome as Error).message).toContain(message);
  });

  test('a fault behind many rows, with its row', async () => {
    const sql =
      'select 1 as label, case when range = 5000 then 1e300 else range end as x from range(9000)';
    await expect(readQuery(sql)).rejects.toThrow('query: row 5001: column "x"');
  });
});

test('without DuckDB the message says how to install it', () => {
  // A copy of the sources outside of the project finds no packages.
  const folder = temporaryFolder();
  cpSync(fileURLToPath(new URL('../../../../src', import.meta.url)), join(folder, 'src'), {
    recursive: true,
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const script = `
    import { readQuery } from ${JSON.stringify(pathToFileURL(join(folder, 'src/data/tables/query.ts')))};
    await readQuery('select 1').catch((error) => console.log(error.name, error.message));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stdout).toBe(
    'UsageError SQL is answered by DuckDB, which is not installed here (npm install @duckdb/node-api)\n',
  );
});
