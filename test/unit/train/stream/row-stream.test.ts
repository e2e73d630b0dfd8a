import { describe, expect, test } from 'vitest';
import { RowStream, type StreamOptions } from '../../../../src/train/stream/row-stream.ts';
import { piecesOf } from '../../../support/slow-chunks.ts';

interface Found {
  readonly rows: readonly unknown[];
  readonly names: readonly string[] | undefined;
  readonly columns: number;
  readonly error?: string;
}

async function read(text: string, size: number, options: StreamOptions = {}): Promise<Found> {
  const stream = new RowStream('rows', options);
  const rows: unknown[] = [];
  const end = (error?: string) => ({
    rows,
    names: stream.featureNames,
    columns: stream.columns,
    ...(error !== undefined && { error }),
  });
  try {
    for await (const block of stream.blocks(piecesOf(text, size))) {
      const { rowOffsets, labels, indices, values, weights, labelTexts } = block;
      for (let row = 0; row < labels.length; row++) {
        const [from, to] = [rowOffsets[row], rowOffsets[row + 1]];
        const label = labelTexts ? labelTexts[labels[row]] : labels[row];
        rows.push([
          label,
          weights?.[row] ?? 1,
          Array.from(indices.subarray(from, to)),
          Array.from(values.subarray(from, to)),
        ]);
      }
    }
    return end();
  } catch (error) {
    return end((error as Error).message);
  }
}

const texts: Readonly<Record<string, [string, StreamOptions]>> = {
  LIBSVM: ['# numbers\n+1 1:0.5 7:2\n\n-1 2:1\n+1\n-1 9:3', {}],
  'LIBSVM with words': ['spam 1:1\nham 2:1\nspam 3:1\n', {}],
  CSV: ['\ufeffage,city,label\n30,"Paris, or\nRome",yes\n31,Berlin,no\n\n,Oslo,yes\n', {}],
  'CSV without names': ['1,2.5,x\n-1,2,y\n', { header: false, label: '1' }],
  TSV: ['label\ta\n1\t2\n0\t3\n', { format: 'tsv' }],
  'CSV, hashed': ['label,city,weight\n1,Paris,2\n0,Rome,0.5\n', { hashBits: 4 }],
  'JSON lines': ['{"label": "a", "x": 1, "tags": ["p", "q"]}\n{"label": "b", "y": {"z": 2}}\n', {}],
  'Vowpal Wabbit': ["1 2 'tag |n a:2 b |m c\n-1 |n b:0.5 d\n1 |x\n", {}],
};

test.each(['CSV', 'JSON lines'])('%s: the recipe has the missing values', async (name) => {
  const stream = new RowStream('rows', { missing: 'zero', missingValues: ['NA', '-999'] });
  for await (const _ of stream.blocks(piecesOf(texts[name][0], 64)));
  expect(stream.recipe).toMatchObject({ missing: 'zero', missingValues: ['NA', '-999'] });
});

describe('rows are the same wherever the text is cut', () => {
  test.each(Object.entries(texts))('%s', async (_, [text, options]) => {
    const whole = await read(text, 1 << 20, options);
    expect(whole.error).toBeUndefined();
    expect(whole.rows.length).toBeGreaterThan(1);
    for (const size of [1, 2, 3, 7, 16]) expect(await read(text, size, options)).toEqual(whole);
  });
});

test('names of columns are numbered as they are met', async () => {
  const { rows, names } = await read(...([texts.CSV[0], 5] as const));
  expect(names).toEqual(['age', 'city=Paris, or\nRome', 'city=Berlin', 'age=?', 'city=Oslo']);
  expect(rows[2]).toEqual(['yes', 1, [3, 4], [1, 1]]);
});

test('a row does not wait for the one behind it', async () => {
  const stream = new RowStream('rows', {});
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  async function* slowly() {
    yield Buffer.from('1 1:2\n-1 ');
    await gate;
    yield Buffer.from('2:1\n');
  }
  const blocks = stream.blocks(slowly());
  expect((await blocks.next()).value?.labels).toEqual(Float64Array.of(1));
  release();
  expect((await blocks.next()).value?.labels).toEqual(Float64Array.of(-1));
  expect((await blocks.next()).done).toBe(true);
});

describe('rows in front of a line that cannot be read count, however the text was cut', () => {
  test.each([
    ['1 1:1\n-1 2:1\n1 x:1\n-1 1:1\n', 2, 'rows:3: feature index "x"'],
    ['label,a\n1,2\n0,3\n1,4,5\n', 2, 'rows:4: '],
    ['label,a\n1,2\n0,"x\ny"\n', 1, 'rows:3: '],
    ['{"label":1,"a":2}\n{"label":0}\n{"label":\n', 2, 'rows:3: not JSON'],
    ['1 |a b\n-1 |a c\nx y z\n', 2, 'rows:3: '],
  ])('%j', async (text, count, message) => {
    for (const size of [1, 4, 1000]) {
      const { rows, error } = await read(text, size);
      expect(rows).toHaveLength(count);
      expect(error).toContain(message);
    }
  });
});

test.each([
  ['parquet', /rows: parquet is not read line by line/],
  ['dsob', /rows: dsob is not read line by line/],
] as const)('%s is refused', async (format, message) => {
  expect((await read('PAR1\n', 100, { format })).error).toMatch(message);
});

test('nothing at all has no rows', async () => {
  expect(await read('', 10)).toEqual({ rows: [], names: undefined, columns: 0 });
  expect((await read('label,a\n', 10)).rows).toEqual([]);
});

describe('a line that is too long', () => {
  const long = `1 ${'3:1 '.repeat(100)}\n`;
  const message = 'the line is longer than 300 bytes; expected a line end before that';

  test.each([1, 7, 64])('is named, with the text in pieces of %i bytes', async (size) => {
    const found = await read(`1 3:1\n-1 4:1\n${long}`, size, { longestLine: 300 });
    expect(found.rows).toHaveLength(2);
    expect(found.error).toBe(`rows:3: ${message}`);
  });

  test('takes time in proportion to its length', async () => {
    let joined = 0;
    const { concat } = Buffer;
    Buffer.concat = (list, ...rest) => {
      joined += list.reduce((sum, { length }) => sum + length, 0);
      return concat.call(Buffer, list, ...rest);
    };
    try {
      const text = `1 3:1\n-1 ${' '.repeat(1 << 20)}4:1\n`;
      expect((await read(text, 256)).rows).toHaveLength(2);
      expect(joined).toBeLessThan(4 * text.length);
    } finally {
      Buffer.concat = concat;
    }
  });
});
