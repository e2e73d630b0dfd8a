import { describe, expect, test } from 'vitest';
import { readDataset } from '../../../src/data/read/read.ts';
import { readQuery } from '../../../src/data/tables/query.ts';
import { DataError } from '../../../src/errors.ts';
import { RowBuffer } from '../../../src/model/predict/predictor.ts';
import { temporaryFile } from './support/files.ts';
import { writeParquet } from './tables/support.ts';

const both = 'the category "a" of the field "c" and the field "c=a"';
const other = 'the field "c=a" and the category "a" of the field "c"';

/** Names that two sources have, by format. */
const clashes: [string, string, string][] = [
  ['csv', 'label,c,c=a\n1,a,2\n0,b,3\n', other],
  ['tsv', 'label\tc\tc=a\n1\ta\t2\n0\tb\t3\n', other],
  ['csv', 'label,x,x=?\n1,,2\n0,1,3\n', 'the field "x=?" and a missing value of the field "x"'],
  ['csv', 'label,c,c=a\n1,a=b,b\n', 'of the field "c" and the category "b" of the field "c=a"'],
  ['jsonl', '{"label":1,"c":"a"}\n{"label":0,"c=a":2}\n', both],
  ['jsonl', '{"label":1,"x":null,"x=?":2}\n', 'a missing value of the field "x" and the field'],
  [
    'jsonl',
    '{"label":1,"a":{"b":1}}\n{"label":0,"a.b":2}\n',
    'the field "b" inside "a" and the field "a.b"',
  ],
  ['vw', '1 |a b^c\n0 |a^b c\n', 'the field "b^c" inside "a" and the field "c" inside "a^b"'],
  ['jsonl', '{"label":1,"a":[1,2],"a[0]":2}\n', 'inside "a" and the field "a[0]"'],
];

describe('a name that two sources have', () => {
  test.each(clashes)('is rejected in %s: %j', async (format, text, message) => {
    const path = temporaryFile(`data.${format}`, text);
    const reading = readDataset(path);
    await expect(reading).rejects.toThrow(DataError);
    await expect(reading).rejects.toThrow(message);
    // Blocks that threads read by themselves.
    await expect(readDataset(path, { blockSize: 16 })).rejects.toThrow('would be both');
    // Hashes may be shared anyway; the note counts such names, whatever the blocks.
    for (const blockSize of [16, 2 ** 20]) {
      const { notices } = await readDataset(path, { hashBits: 20, blockSize });
      expect(notices.at(-1)).toMatch(/^hashed \d features into .*: 1 of them shares the column/);
    }
  });

  test('is rejected in Parquet', async () => {
    const path = writeParquet([
      { name: 'label', data: [1, 0], type: 'INT32' },
      { name: 'c', data: ['a', 'b'], type: 'STRING' },
      { name: 'c=a', data: [2, 3], type: 'INT32' },
    ]);
    await expect(readDataset(path)).rejects.toThrow(other);
  });

  test('is rejected in the result of a query', async () => {
    const sql = `select 1 as label, 'a' as c, 2 as "c=a"`;
    await expect(readQuery(sql)).rejects.toThrow(other);
    const map = `select 1 as label, map {'b': 2} as a, 3 as "a.b"`;
    await expect(readQuery(map)).rejects.toThrow('the field "b" inside "a"');
  });

  test('is that of a known feature where data is read like other data', async () => {
    const like = await readDataset(temporaryFile('a.jsonl', '{"label":1,"c":"a"}\n'));
    const text = '{"label":1,"c=a":1}\n{"label":1,"c":"a"}\n';
    const dataset = await readDataset(temporaryFile('b.jsonl', text), { like });
    expect(dataset.nonzeros).toBe(2);
  });

  /** What a model knows, and data that gives one of its features twice. */
  const ambiguous: [string, string, string, string][] = [
    ['jsonl', '{"label":1,"c":"a"}\n', '{"label":1,"c":"a","c=a":3}\n', both],
    ['jsonl', '{"label":1,"c=a":1}\n', '{"label":1,"c=a":3,"c":"a"}\n', other],
    ['jsonl', '{"label":1,"x":null}\n', '{"label":1,"x":null,"x=?":2}\n', 'a missing value of'],
    ['jsonl', '{"label":1,"a":{"b":1}}\n', '{"label":1,"a":{"b":1},"a.b":2}\n', 'inside "a"'],
    ['jsonl', '{"label":1,"a":[1]}\n', '{"label":1,"a[0]":2,"a":[1]}\n', 'inside "a"'],
    ['csv', 'label,c\n1,a\n', 'label,c,c=a\n1,a,3\n', other],
    ['vw', '1 |n a\n', '1 |n a | n^a:3\n', 'the field "a" inside "n" and the field "n^a"'],
  ];

  test.each(ambiguous)('is rejected in %s like %j: %j', async (format, known, text, message) => {
    const like = await readDataset(temporaryFile(`known.${format}`, known));
    const path = temporaryFile(`data.${format}`, text);
    await expect(readDataset(path, { like })).rejects.toThrow(message);
    if (format !== 'jsonl') return;
    const { columns, featureNames, recipe } = like;
    const model = { columns, featureNames: featureNames ?? [], ...(recipe && { recipe }) };
    const buffer = new RowBuffer(model);
    expect(() => buffer.read(JSON.parse(text))).toThrow(message);
    // The faulty row leaves nothing behind.
    expect(() => buffer.read(JSON.parse(known))).not.toThrow();
    expect(buffer.count).toBe(1);
  });

  test('is accepted once one of the two, or both, are left out', async () => {
    const csv = temporaryFile('data.csv', clashes[0][1]);
    const categories = await readDataset(csv, { ignore: ['c=a'] });
    expect(categories.featureNames).toEqual(['c=a', 'c=b']);
    const nested = temporaryFile('data.jsonl', '{"label":1,"x":1,"a":{"b":1},"a.b":2}\n');
    const neither = await readDataset(nested, { ignore: ['a.b'] });
    expect(neither.featureNames).toEqual(['x']);
    const outer = await readDataset(nested, { ignore: ['a'] });
    expect(outer.featureNames).toEqual(['x', 'a.b']);
  });

  test('may repeat itself, also inside of "features"', async () => {
    const text = '{"label":1,"features":{"x":1},"c":["a","a"]}\n{"label":0,"x":2,"c":"?"}\n';
    const dataset = await readDataset(temporaryFile('c.jsonl', `${text}{"label":0,"c":null}\n`));
    expect(dataset.featureNames).toEqual(['x', 'c=a', 'c=?']);
  });

  test('is none where only fields have one name, however the text is cut', async () => {
    const text = '{"label":1,"a":{"b":{"c":1}},"d":{"e":"x"}}\n{"label":0,"a.b":2,"d.e":"y"}\n';
    const path = temporaryFile('d.jsonl', text);
    for (const blockSize of [16, 1024]) {
      const { featureNames } = await readDataset(path, { blockSize });
      expect(featureNames).toEqual(['a.b.c', 'd.e=x', 'a.b', 'd.e=y']);
    }
  });
});
