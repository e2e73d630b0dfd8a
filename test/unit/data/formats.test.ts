import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReadOptions, readDataset } from '../../../src/data/read/read.ts';
import { hasFirstLine } from '../../../src/data/text/formats.ts';
import { fc } from '../../support/property.ts';
import {
  csvOf,
  jsonLinesOf,
  namedRows,
  type SampleTable,
  sampleTable,
  type TableShape,
  vowpalOf,
} from '../../support/tables.ts';
import { temporaryFile, temporaryFolder } from './support/files.ts';
import { flat } from './support/flat.ts';
import { labelsOf, namesAndValues, weightsOf } from './support/named.ts';
import { WorkerRunner } from './support/worker-runner.ts';

let runner: WorkerRunner;
beforeAll(() => {
  runner = new WorkerRunner(3);
});
afterAll(() => runner.close());

const golden = (name: string) =>
  fileURLToPath(new URL(`../../golden/data/${name}`, import.meta.url));

interface Format {
  readonly name: string;
  readonly file: string;
  readonly options?: ReadOptions;
  readonly shape?: Partial<TableShape>;
  write(table: SampleTable): string;
  /** What the writer calls the features. */
  rename?(name: string, position: number, names: readonly string[]): string;
}

const formats: readonly Format[] = [
  { name: 'CSV', file: 'table.csv', shape: { awkward: true }, write: (table) => csvOf(table) },
  {
    name: 'CSV with semicolons and CR LF',
    file: 'table.csv',
    shape: { awkward: true },
    write: (table) => csvOf(table, ';', '\r\n'),
  },
  {
    name: 'TSV',
    file: 'table.tsv',
    shape: { awkward: true },
    write: (table) => csvOf(table, '\t'),
  },
  { name: 'JSON lines', file: 'table.jsonl', shape: { awkward: true }, write: jsonLinesOf },
  {
    name: 'Vowpal Wabbit',
    file: 'table.vw',
    shape: { textLabels: false },
    write: vowpalOf,
    rename: (name, position, names) =>
      `${position < names.length >> 1 ? '' : 'b^'}${name.replace('=', '_')}`,
  },
];

describe.each(formats)(
  '$name: what was written comes back',
  ({ file, options, write, ...format }) => {
    test('values to the bit, names, labels and weights, however the text is cut', async () => {
      const shapes = fc.record({
        rows: fc.integer({ min: 1, max: 60 }),
        numeric: fc.integer({ min: 0, max: 4 }),
        categorical: fc.integer({ min: 1, max: 3 }),
        textLabels: fc.boolean(),
      });
      const cuts = fc.constantFrom(undefined, 64, 200, 1000);
      await fc.assert(
        fc.asyncProperty(
          shapes,
          fc.nat(10_000),
          cuts,
          fc.boolean(),
          async (drawn, seed, blockSize, threads) => {
            const table = sampleTable({ ...drawn, ...format.shape }, seed);
            const path = temporaryFile(file, write(table));
            const dataset = await readDataset(path, {
              ...options,
              ...(blockSize && { blockSize }),
              ...(threads && { runner }),
            });
            const { rename = (name: string) => name } = format;
            const rows = namedRows(table).map((row) => {
              const names = Object.keys(row);
              return Object.fromEntries(
                names.map((name, k) => [rename(name, k, names), row[name]]),
              );
            });
            expect(namesAndValues(dataset)).toEqual(rows);
            expect(weightsOf(dataset)).toEqual(table.weights);
            const isText = table.labels.some((label) => typeof label === 'string');
            const labels = isText ? table.labels.map((label) => `${label}`) : table.labels;
            expect(labelsOf(dataset)).toEqual(labels);
            expect(dataset.columns).toBe(dataset.featureNames!.length);
          },
        ),
        { numRuns: 40 },
      );
    });

    test('columns have the same numbers on any number of threads, compressed or not', async () => {
      const table = sampleTable({ rows: 400, numeric: 3, categorical: 4, ...format.shape }, 7);
      const text = write(table);
      const folder = temporaryFolder();
      const paths = ['', '.gz', '.zst'].map((ending) => join(folder, `${file}${ending}`));
      writeFileSync(paths[0], text);
      writeFileSync(paths[1], gzipSync(text));
      writeFileSync(paths[2], zstdCompressSync(text));
      const whole = await readDataset(paths[0], options);
      for (const path of paths) {
        const cut = await readDataset(path, { ...options, runner, blockSize: 500 });
        expect(flat(cut)).toEqual(flat(whole));
        expect(cut.featureNames).toEqual(whole.featureNames);
        expect(cut.labelNames).toEqual(whole.labelNames);
        expect(cut.recipe).toEqual(whole.recipe);
      }
      expect(runner.counts['parse-bytes']).toBeGreaterThan(3);
    });

    test('two files are one behind the other', async () => {
      const table = sampleTable({ rows: 90, numeric: 2, categorical: 2, ...format.shape }, 3);
      const part = (from: number, to: number) =>
        write({
          ...table,
          cells: table.cells.slice(from, to),
          labels: table.labels.slice(from, to),
          weights: table.weights.slice(from, to),
        });
      const folder = temporaryFolder();
      // The writers vary with the number of the row, but not in what they mean.
      writeFileSync(join(folder, `a-${file}`), part(0, 40));
      writeFileSync(join(folder, `b-${file}`), part(40, 90));
      const whole = await readDataset(temporaryFile(file, write(table)), options);
      const both = await readDataset(join(folder, `?-${file}`), options);
      expect(namesAndValues(both)).toEqual(namesAndValues(whole));
      expect(both.featureNames).toEqual(whole.featureNames);
      expect(labelsOf(both)).toEqual(labelsOf(whole));
    });
  },
);

describe('golden files', () => {
  test('people.csv: quotes, categories, missing values, labels that are words, weights', async () => {
    const dataset = await readDataset(golden('people.csv'), { ignore: ['name'] });
    expect(dataset.featureNames).toEqual([
      'age',
      'income',
      'city=Paris',
      'city=Princeton',
      'income=?',
      'city=London',
      'age=?',
      'city=Zürich',
    ]);
    expect(namesAndValues(dataset)).toEqual([
      { age: 66, 'city=Paris': 1, income: 15000 },
      { age: 76, 'city=Princeton': 1, 'income=?': 1 },
      { age: 36, 'city=London': 1, income: 8000.25 },
      { 'age=?': 1, 'city=Zürich': 1, income: -1 },
    ]);
    expect(labelsOf(dataset)).toEqual(['yes', 'no', 'yes', 'maybe']);
    expect(dataset.labelNames).toEqual(['yes', 'no', 'maybe']);
    expect(weightsOf(dataset)).toEqual([1, 2, 0.5, 1]);
    expect(dataset.notices).toEqual([
      'read as CSV: label column "label", weight column "weight", 2 numeric and 1 categorical columns',
    ]);
    expect(dataset.recipe).toEqual({
      fields: [
        { name: 'name', kind: 'ignored' },
        { name: 'age', kind: 'number' },
        { name: 'city', kind: 'category' },
        { name: 'income', kind: 'number' },
        { name: 'label', kind: 'label' },
        { name: 'weight', kind: 'weight' },
      ],
    });
  });

  test('people.csv: names in quotes are categories like others', async () => {
    const { featureNames } = await readDataset(golden('people.csv'));
    expect(featureNames).toContain('name=Curie, Marie');
    expect(featureNames).toContain('name=Einstein "Albert"');
    expect(featureNames).toContain('name=?');
  });

  test('kinds.tsv: tabs, CR LF, labels that are numbers', async () => {
    const dataset = await readDataset(golden('kinds.tsv'));
    expect(namesAndValues(dataset)).toEqual([
      { x1: 0.5, 'kind=red': 1 },
      { 'x1=?': 1, 'kind=blue': 1 },
      { x1: 2, 'kind=red': 1 },
    ]);
    expect(labelsOf(dataset)).toEqual([1, -1, 1]);
    expect(dataset.labelNames).toBeUndefined();
    expect(dataset.parts[0].weights).toBeUndefined();
  });

  test('mail.jsonl: lists, objects, null, booleans, separate values', async () => {
    const dataset = await readDataset(golden('mail.jsonl'));
    expect(namesAndValues(dataset)).toEqual([
      { 'words=win': 2, 'words=now': 1, length: 120, 'from.country=NL': 1 },
      { length: 45.5, 'from.known': 1, 'from.country=?': 1 },
      { length: 7, score: 0.25, 'embedding[0]': 0.5, 'embedding[2]': -2 },
    ]);
    expect(labelsOf(dataset)).toEqual(['spam', 'ham', 'ham']);
    expect(dataset.featureNames).toContain('embedding[1]');
    expect(dataset.notices).toEqual(['read as JSON lines: label "label"']);
  });

  test('words.vw: namespaces, scales, importance, tags, repeats', async () => {
    const dataset = await readDataset(golden('words.vw'));
    expect(namesAndValues(dataset)).toEqual([
      { 'text^a': 2, 'text^b': 1, 'user^age': 30, 'user^member': 1 },
      { a: 3 },
      { 'text^b': Math.fround(-1e-3), 'user^17': 1 },
    ]);
    expect(labelsOf(dataset)).toEqual([1, -1, 0.5]);
    expect(weightsOf(dataset)).toEqual([2.5, 1, 1]);
  });

  test('topics.svm: labels that are texts', async () => {
    const dataset = await readDataset(golden('topics.svm'));
    expect(labelsOf(dataset)).toEqual(['3,1', 'news', '', '2']);
    expect(dataset.columns).toBe(4);
    expect(dataset.nonzeros).toBe(6);
  });
});

describe('the format', () => {
  const texts: [string, string, string][] = [
    ['csv', 'a,y\n1,0\n2,1\n', 'read as CSV'],
    ['tabs', 'a\ty\n1\t0\n', 'read as CSV'],
    ['json', ' {"y": 1, "a": 2}\n', 'read as JSON lines'],
    ['vw', '1 0.5 tag|n a b:2\n', 'read as Vowpal Wabbit text'],
    ['vw without a label in front', "1 'x | a\n", 'read as Vowpal Wabbit text'],
  ];

  test.each(texts)('is seen in the first line: %s', async (_, text, notice) => {
    for (const content of [text, `\ufeff${text}`]) {
      const dataset = await readDataset(temporaryFile('data', content));
      expect(dataset.notices[0]).toContain(notice);
      expect(dataset.featureNames![0]).toMatch(/^(n\^)?a$/);
    }
  });

  test.each(['+1 1:2 3:4\n', '1,3 2:1\n', '# a, b\n\n-1 qid:3 1:2\n', '1\n', '2:1\n'])(
    'is LIBSVM: %j',
    async (text) => {
      const options = { textLabels: true };
      expect(
        (await readDataset(temporaryFile('data', text), options)).featureNames,
      ).toBeUndefined();
    },
  );

  test('can be forced, and so can the delimiter', async () => {
    const path = temporaryFile('table.txt', 'a|y\n1|0\n2|1\n');
    const dataset = await readDataset(path, { format: 'csv', delimiter: '|' });
    expect(namesAndValues(dataset)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test('without a header columns are numbered', async () => {
    const path = temporaryFile('table.csv', '1,x,3\n0,y,4\n');
    const dataset = await readDataset(path, { header: false, label: 1 });
    expect(namesAndValues(dataset)).toEqual([
      { 'c2=x': 1, c3: 3 },
      { 'c2=y': 1, c3: 4 },
    ]);
  });

  test('empty files among others, blank lines and a missing last line end do no harm', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.csv'), '');
    writeFileSync(join(folder, 'b.csv'), '\n\na,y\r\n\r\n1,0\r\n\n2,1');
    const dataset = await readDataset(join(folder, '*.csv'));
    expect(namesAndValues(dataset)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test('blank lines in front of the header, more than a block of them', async () => {
    const text = `\ufeff${'\r\n'.repeat(2000)}a,y\n1,0\n2,1\n`;
    const path = temporaryFile('x.csv', text);
    for (const blockSize of [64, 1 << 20]) {
      const dataset = await readDataset(path, { blockSize });
      expect(namesAndValues(dataset)).toEqual([{ a: 1 }, { a: 2 }]);
      expect(labelsOf(dataset)).toEqual([0, 1]);
    }
  });

  test('long runs of digits that are no number take no longer than other texts', async () => {
    // A quadratic search would take minutes.
    const digits = `${'1'.repeat(300_000)}x`;
    const csv = await readDataset(temporaryFile('x.csv', `a,y\n${digits},0\n2,${digits}\n`));
    expect(csv.featureNames).toEqual([`a=${digits}`, 'a=2']);
    expect(csv.labelNames).toEqual(['0', digits]);
    const label = digits.slice(-60_000);
    const svm = await readDataset(temporaryFile('x.svm', `${label} 1:1\n-1 1:2\n`));
    expect(svm.labelNames).toEqual([label, '-1']);
  });

  test('numbers next to the middle of two float32 are the same in all formats', async () => {
    // The middle itself, in its shortest form, which is above it.
    const middle = '1.0000000596046448';
    const files: [string, string][] = [
      ['x.csv', `a,y\n${middle},0\n`],
      ['x.csv', `a,y\n ${middle},0\n`],
      ['x.jsonl', `{"a": ${middle}, "y": 0}\n`],
      ['x.vw', `0 | a:${middle}\n`],
    ];
    for (const [name, text] of files) {
      const { parts } = await readDataset(temporaryFile(name, text));
      expect(parts[0].values[0]).toBe(Math.fround(Number(middle)));
    }
  });

  test('quotes mean nothing where values are not separated', async () => {
    const words = await readDataset(temporaryFile('x.vw', '1 | 5" a\n0 | 7" a\n1 | a\n'), {
      blockSize: 16,
    });
    expect(words.featureNames).toEqual(['5"', 'a', '7"']);
    const lines = '{"y":1,"a":"5\\""}\n'.repeat(3);
    const objects = await readDataset(temporaryFile('x.jsonl', lines), { blockSize: 16 });
    expect(objects).toMatchObject({ rows: 3, featureNames: ['a=5"'] });
  });

  test('kinds are those of the first thousand records, however the text is cut', async () => {
    const lines = Array.from({ length: 1000 }, (_, k) => `${k},1`).join('\n');
    const early = temporaryFile('early.csv', `a,y\n${lines.replace('\n999,', '\nx,')}\n5,0\n`);
    const dataset = await readDataset(early, { blockSize: 64 });
    expect(dataset.featureNames).toContain('a=x');
    const late = temporaryFile('late.csv', `a,y\n${lines}\nx,0\n`);
    await expect(readDataset(late, { blockSize: 64 })).rejects.toThrow('late.csv:1002: column "a"');
  });
});

test('golden files are committed with the line ends that the tests speak of', () => {
  expect(readFileSync(golden('kinds.tsv'), 'utf8').match(/\r\n/g)).toHaveLength(4);
});

test('a first line is whole only with its own line end', () => {
  expect(hasFirstLine(Buffer.from('# a comment\n\n-1'))).toBe(false);
  expect(hasFirstLine(Buffer.from('# a comment\n\n-1 1:1\n'))).toBe(true);
  expect(hasFirstLine(Buffer.from('\ufeff-1 1:1'))).toBe(false);
});

test('a label that another option names as well is still the label of JSON lines', async () => {
  const path = temporaryFile('data.jsonl', '{"x":1,"weight":2,"y":3}\n');
  const data = await readDataset(path, { ignore: ['x'], label: 'x', categorical: ['c'] });
  expect(data.recipe?.fields?.at(-1)).toEqual({ name: 'x', kind: 'label' });
  // Not a table, in which fields that the data has no features of are left out.
  const again = await readDataset(path, { like: data, labelled: false });
  expect(again.nonzeros).toBe(1);
});

test('JSON lines without a feature can be scored, whatever options name', async () => {
  const path = temporaryFile('data.jsonl', '{"y":8}\n');
  const options = { missing: 'error', categorical: ['x'] } as const;
  const like = await readDataset(path, options);
  const again = await readDataset(path, { ...options, like, labelled: false });
  expect(again.nonzeros).toBe(0);
});

test('a column of numbers called x= is no empty category of x', async () => {
  const path = temporaryFile('data.csv', 'target,x,x=\n1,,\n2,s,\n');
  const like = await readDataset(path);
  const again = await readDataset(path, { like, labelled: false });
  expect(flat(again)).toEqual(flat(like));
});
