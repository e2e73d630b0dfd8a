import { describe, expect, test } from 'vitest';
import { openDataset } from '../../../src/data/binary/stored.ts';
import { ByteColumns } from '../../../src/data/fields/byte-columns.ts';
import { DistinctCount } from '../../../src/data/fields/label-list.ts';
import {
  type ReadOptions,
  readDataset,
  readParts,
  readShard,
} from '../../../src/data/read/read.ts';
import { DataError } from '../../../src/errors.ts';
import { hashedColumn } from '../../../src/math/murmur.ts';
import { stream } from '../../../src/math/random.ts';
import { binaryBytes } from './binary/support.ts';
import { temporaryFile } from './support/files.ts';
import { rowsOf } from './support/flat.ts';
import { labelsOf, namesAndValues } from './support/named.ts';

const read = (text: string, options?: ReadOptions) =>
  readDataset(temporaryFile('table.csv', text), options);

describe('missing values', () => {
  const text = 'a,b,y\n1,u,0\nNA,,1\nnull,N/A,0\n?,NULL,1\nNaN,v,0\n , ?,1\n-9,-9,1\n';

  test('become a feature of their own', async () => {
    const absent = { 'a=?': 1, 'b=?': 1 };
    expect(namesAndValues(await read(text))).toEqual([
      { a: 1, 'b=u': 1 },
      absent,
      absent,
      absent,
      { 'a=?': 1, 'b=v': 1 },
      absent,
      { a: -9, 'b=-9': 1 },
    ]);
  });

  test('or zero, and further texts may stand for them', async () => {
    const dataset = await read(text, { missing: 'zero', missingValues: ['-9'] });
    expect(namesAndValues(dataset)).toEqual([{ a: 1, 'b=u': 1 }, {}, {}, {}, { 'b=v': 1 }, {}, {}]);
    expect(dataset.recipe!.missing).toBe('zero');
  });

  test('in JSON they are null, and the texts that are given', async () => {
    const path = temporaryFile('x.jsonl', '{"y":1,"a":"NA","b":null}\n{"y":0,"a":"none"}\n');
    const dataset = await readDataset(path, { missingValues: ['none'] });
    expect(namesAndValues(dataset)).toEqual([{ 'a=NA': 1, 'b=?': 1 }, { 'a=?': 1 }]);
  });

  test('that were given for other data are the same here, as texts and as numbers', async () => {
    const like = await read('a,y\n1,0\n-999,1\n', { missingValues: ['-999'] });
    expect(like.recipe!.missingValues).toEqual(['-999']);
    const texts: [string, string][] = [
      ['x.csv', 'y,a\n0,-999\n1,2\n'],
      ['x.jsonl', '{"y":0,"a":-999}\n{"y":1,"a":2}\n'],
      ['x.jsonl', '{"y":0,"a":"-999"}\n{"y":1,"a":2}\n'],
    ];
    for (const [name, rows] of texts) {
      const dataset = await readDataset(temporaryFile(name, rows), { like });
      expect(namesAndValues(dataset)).toEqual([{ 'a=?': 1 }, { a: 2 }]);
    }
  });
});

describe('roles of columns', () => {
  test('are found by name, whatever the case, in the order label, target, class, y', async () => {
    expect(labelsOf(await read('y,Target,a\n5,1,2\n6,0,3\n'))).toEqual([1, 0]);
    expect(labelsOf(await read('a,CLASS,y\n2,red,5\n'))).toEqual(['red']);
  });

  test('or given by name or number; what is forced is taken as given', async () => {
    const text = 'zip,y,weight,n\n10,1,3,7\n20,0,4,8\n';
    const dataset = await read(text, { label: 4, categorical: ['zip', 'weight'], ignore: ['y'] });
    expect(labelsOf(dataset)).toEqual([7, 8]);
    expect(namesAndValues(dataset)).toEqual([
      { 'zip=10': 1, 'weight=3': 1 },
      { 'zip=20': 1, 'weight=4': 1 },
    ]);
    expect(dataset.parts[0].weights).toBeUndefined();
  });

  test('in JSON, with the path that leads there', async () => {
    const lines =
      '{"meta":{"id":1,"gold":"u"},"code":7}\n{"meta":{"id":2,"gold":["u","v"]},"code":8}\n';
    const path = temporaryFile('x.jsonl', lines);
    const options = { label: 'meta.gold', ignore: ['meta.id'], categorical: ['code'] };
    const dataset = await readDataset(path, options);
    expect(labelsOf(dataset)).toEqual(['u', 'u,v']);
    expect(namesAndValues(dataset)).toEqual([{ 'code=7': 1 }, { 'code=8': 1 }]);
  });
});

describe('labels', () => {
  test('that are all numbers stay numbers, though they are written differently', async () => {
    const dataset = await read('a,y\n1,1\n2,+1.0\n3,-0\n4,1e0\n5,0\n');
    expect(labelsOf(dataset)).toEqual([1, 1, 0, 1, 0]);
    expect(dataset.labelNames).toBeUndefined();
  });

  test('become texts with the first that is none, also those before and in other blocks', async () => {
    const dataset = await read(`a,y\n${'1,+1.0\n2,0\n'.repeat(50)}3,two\n4,1\n`, { blockSize: 40 });
    expect(dataset.labelNames).toEqual(['1', '0', 'two']);
    expect(labelsOf(dataset).slice(-4)).toEqual(['1', '0', 'two', '1']);
  });

  test('are texts on request, and then may be empty', async () => {
    const dataset = await read('a,y\n1,1\n2,\n', { textLabels: true });
    expect(labelsOf(dataset)).toEqual(['1', '']);
    const path = temporaryFile('x.svm', '1 1:1\n2,3 1:1\n2:1\n');
    expect(labelsOf(await readDataset(path, { textLabels: true }))).toEqual(['1', '2,3', '']);
    await expect(readDataset(path)).rejects.toThrow('x.svm:2: label "2,3" is not a number');
  });

  test('of LIBSVM text are words where the first one is, on any number of blocks', async () => {
    const text = 'spam 1:1\nham 2:1 # no\n-1.50 3:1\n'.repeat(30);
    const path = temporaryFile('x.svm', text);
    for (const options of [{}, { blockSize: 30 }]) {
      const dataset = await readDataset(path, options);
      expect(dataset.labelNames).toEqual(['spam', 'ham', '-1.5']);
      expect(labelsOf(dataset).slice(0, 4)).toEqual(['spam', 'ham', '-1.5', 'spam']);
      expect(dataset.nonzeros).toBe(90);
    }
  });

  test('are rejected by whoever can only take numbers', async () => {
    const path = temporaryFile('x.csv', 'a,y\n1,0\n2,spam\n');
    const rejected = readParts(path, { takePart() {} });
    await expect(rejected).rejects.toThrow(DataError);
    await expect(rejected).rejects.toThrow('x.csv: label "spam" is not a number');
  });
});

describe('like other data', () => {
  const training = 'age,zip,y\n30,10,spam\n40,20,ham\n,10,ham\n';

  test('columns, kinds and labels mean the same; unknown features are counted', async () => {
    const like = await read(training, { categorical: ['zip'] });
    const text = 'y,zip,extra,age\neggs,30,5,1\nham,20,6,2\nspam,,7,NA\n';
    const dataset = await read(text, { like });
    expect(dataset.featureNames).toEqual(like.featureNames);
    expect(dataset.columns).toBe(like.columns);
    expect(dataset.labelNames).toEqual(['spam', 'ham', 'eggs']);
    expect(labelsOf(dataset)).toEqual(['eggs', 'ham', 'spam']);
    expect(namesAndValues(dataset)).toEqual([{ age: 1 }, { age: 2, 'zip=20': 1 }, { 'age=?': 1 }]);
    expect(dataset.recipe).toEqual(like.recipe);
    expect(dataset.notices).toEqual([
      'read as CSV: label column "y", 1 numeric and 1 categorical columns',
      'ignored column "extra", which the training data does not have',
      'ignored 2 values of features that the training data does not have, such as "zip=30"',
    ]);
  });

  test('labels may be absent, and so may columns', async () => {
    const like = await read(training, { categorical: ['zip'] });
    const dataset = await read('age\n7\n', { like });
    expect(namesAndValues(dataset)).toEqual([{ age: 7 }]);
    expect(labelsOf(dataset)).toEqual(['']);
    expect(dataset.notices).toEqual([
      'read as CSV: no label, 1 numeric and 0 categorical columns',
      'no column "zip", which the training data has: taken as missing values',
    ]);
    const vw = await readDataset(temporaryFile('a.vw', '1 | a\n'));
    const scored = await readDataset(temporaryFile('b.vw', '| a b\n'), { like: vw });
    expect(rowsOf(scored)).toEqual([[NaN, [0, 1]]]);
  });

  test('a table is read like objects, and objects like a table', async () => {
    const objects = temporaryFile('x.jsonl', '{"y":1,"a":2,"b":"u"}\n{"y":0,"a":3,"b":"v"}\n');
    const table = 'b,new,a,y\nv,1,5,1\nw,2,6,0\n';
    const like = await readDataset(objects);
    const dataset = await read(table, { like });
    expect(namesAndValues(dataset)).toEqual([{ a: 5, 'b=v': 1 }, { a: 6 }]);
    expect(dataset.notices[1]).toBe('ignored column "new", which the training data does not have');
    const back = await readDataset(objects, { like: await read(table) });
    expect(namesAndValues(back)).toEqual([{ a: 2 }, { a: 3, 'b=v': 1 }]);
    const hashed = await read('a,y\n1,0\n', { hashBits: 10 });
    const few = await readDataset(objects, { like: hashed });
    expect(rowsOf(few)[0]).toEqual([1, [hashedColumn('a', 10), 2]]);
    const free = await readDataset(objects, { hashBits: 10 });
    expect((await read(table, { like: free })).nonzeros).toBe(6);
  });

  test('data without names cannot be compared with names', async () => {
    const like = await readDataset(temporaryFile('x.svm', '1 1:1\n'));
    await expect(read(training, { like })).rejects.toThrow(
      'CSV has names for columns, but the training data had numbers',
    );
  });

  test('names of binary data are matched as well', async () => {
    const like = await read('u,v,y\n1,2,0\n3,4,1\n');
    const rows = await readDataset(temporaryFile('x.svm', '0 1:1 2:2 3:3\n1 3:5\n'));
    const path = temporaryFile('x.dsob', await binaryBytes(rows, { names: 'v\nw\nu\n' }));
    expect((await readDataset(path)).featureNames).toEqual(['v', 'w', 'u']);
    expect(openDataset(path).featureNames).toEqual(['v', 'w', 'u']);
    for (const rank of [0, 1]) {
      const { dataset: share } = await readShard(path, { rank, ranks: 2 });
      expect(share.featureNames).toEqual(['v', 'w', 'u']);
    }
    const dataset = await readDataset(path, { like });
    expect(namesAndValues(dataset)).toEqual([{ u: 3, v: 1 }, { u: 5 }]);
    expect(dataset).toMatchObject({ columns: 2, nonzeros: 3, featureNames: ['u', 'v'] });
    expect(dataset.notices).toEqual([
      'ignored 1 value of features that the training data does not have, such as "w"',
    ]);
  });
});

describe('hashes of names', () => {
  test('are the columns, whatever the other names; features that collide add up', async () => {
    const text = 'a,b,city,y\n1,2,Rome,0\n3,0,Paris,1\n';
    const dataset = await read(text, { hashBits: 18 });
    const column = (name: string) => hashedColumn(name, 18);
    expect(dataset.columns).toBe(2 ** 18);
    expect(dataset.featureNames).toBeUndefined();
    expect(dataset.recipe!.hashBits).toBe(18);
    const sorted = (entries: [number, number][]) =>
      entries.sort((left, right) => left[0] - right[0]);
    expect(rowsOf(dataset)).toEqual([
      [
        0,
        ...sorted([
          [column('a'), 1],
          [column('b'), 2],
          [column('city=Rome'), 1],
        ]),
      ],
      [
        1,
        ...sorted([
          [column('a'), 3],
          [column('city=Paris'), 1],
        ]),
      ],
    ]);
    expect(dataset.notices[1]).toBe(
      'hashed 4 features into 4 of 2^18 columns: none of them share the column of another',
    );
    const few = await read(text, { hashBits: 1 });
    expect(few.notices[1]).toBe(
      'hashed 4 features into 2 of 2^1 columns: 2 of them share the column of another',
    );
    for (const part of few.parts) expect(part.indices.every((index) => index < 2)).toBe(true);
    const sums = rowsOf(few).map(([, ...entries]) =>
      (entries as number[][]).reduce((sum, [, value]) => sum + value, 0),
    );
    expect(sums).toEqual([4, 4]);
  });

  test('stay what they are in other data', async () => {
    const like = await read('a,y\n1,0\n', { hashBits: 10 });
    const dataset = await read('b,y,a\n1,0,2\n', { like });
    expect(rowsOf(dataset)).toEqual([[0, [hashedColumn('a', 10), 2]]]);
    await expect(read('a,y\n1,0\n', { like, hashBits: 11 })).rejects.toThrow(
      'hashes of 11 bits; the model was trained with hashes of 10 bits',
    );
  });

  test('distinct names are counted exactly, or to within a few percent', () => {
    const few = new DistinctCount();
    for (let k = 0; k < 60_000; k += 1) few.add(`name${k % 30_000}`);
    expect(few).toMatchObject({ exact: true, count: 30_000 });
    const many = new DistinctCount();
    for (let k = 0; k < 300_000; k += 1) many.add(`name${k}`);
    expect(many.exact).toBe(false);
    expect(Math.abs(many.count / 300_000 - 1)).toBeLessThan(0.03);
  });
});

test('pieces of bytes keep their numbers while the table grows', () => {
  const random = stream(4, 4);
  const table = new ByteColumns();
  const known = new Map<string, number>();
  for (let round = 0; round < 20_000; round += 1) {
    const realm = random.below(3);
    const text = 'x'.repeat(random.below(4)) + random.below(5000);
    const bytes = Buffer.from(`..${text}..`);
    const key = `${realm} ${text}`;
    expect(table.find(bytes, 2, bytes.length - 2, realm)).toBe(known.get(key) ?? -1);
    if (known.has(key)) continue;
    table.add(bytes, 2, bytes.length - 2, realm, known.size);
    known.set(key, known.size);
  }
  table.clear();
  expect(table.find(Buffer.from('1'), 0, 1, 0)).toBe(-1);
});
