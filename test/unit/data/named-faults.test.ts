import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReadOptions, readDataset, readShard } from '../../../src/data/read/read.ts';
import { DataError, UsageError } from '../../../src/errors.ts';
import { temporaryFile, temporaryFolder } from './support/files.ts';
import { WorkerRunner } from './support/worker-runner.ts';

let runner: WorkerRunner;
beforeAll(() => {
  runner = new WorkerRunner(2);
});
afterAll(() => runner.close());

/** The message, which must be the same however the text is cut and on any number of threads. */
async function errorMessage(
  name: string,
  text: string | Uint8Array,
  options: ReadOptions = {},
  kind: typeof DataError | typeof UsageError = DataError,
): Promise<string> {
  const path = temporaryFile(name, text);
  const messages = [];
  for (const more of [{}, { blockSize: 32 }, { blockSize: 32, runner }]) {
    const error = await readDataset(path, { ...options, ...more }).catch((caught) => caught);
    expect(error).toBeInstanceOf(kind);
    messages.push((error as Error).message.replaceAll(path, name));
  }
  expect(new Set(messages).size).toBe(1);
  return messages[0];
}

describe('CSV', () => {
  const faults: [string, string, ReadOptions, string][] = [
    ['too few fields', 'a,b,y\n1,2,0\n1,0\n', {}, 'x.csv:3: 2 fields; the header has 3'],
    ['too many fields', 'a,b,y\n1,2,0\n\n1,2,3,4\n', {}, 'x.csv:4: 4 fields; the header has 3'],
    ['one field', 'a,y\n1,0\n7\n', {}, 'x.csv:3: 1 field; the header has 2'],
    [
      'a word among numbers, behind the sample',
      `a,y\n${'1,0\n'.repeat(1000)}abc,0\n`,
      {},
      'x.csv:1002: column "a": "abc" is not a number, as the values before are ' +
        '(--categorical a makes categories of all, --missing-values abc calls it missing)',
    ],
    [
      'a number that float32 cannot hold',
      'a,y\n1,0\n1e39,1\n',
      {},
      'x.csv:3: column "a": "1e39" is too large; expected a number below 3.4e38',
    ],
    ['no label', 'a,y\n1,0\n2,\n', {}, 'x.csv:3: no label in column "y"; expected one'],
    [
      'a weight below 0',
      'a,y,weight\n1,0,1\n2,1,-1\n',
      {},
      'x.csv:3: weight "-1" in column "weight"; expected a number of at least 0',
    ],
    [
      'no weight',
      'a,y,weight\n1,0,1\n2,1,\n',
      {},
      'x.csv:3: weight "" in column "weight"; expected a number of at least 0',
    ],
    [
      'a missing value where none may be',
      'a,b,y\n1,u,0\n2,NA,1\n',
      { missing: 'error' },
      'x.csv:3: column "b" has no value; expected one (--missing indicator and --missing zero accept them)',
    ],
    [
      'a quote that is never closed',
      'a,y\n1,0\n"2,1\n3,1\n',
      {},
      'x.csv:3: a quote that is never closed',
    ],
    [
      'text behind a quote',
      'a,y\n1,0\n"2"3,1\n',
      {},
      'x.csv:3: text behind a closing quote; expected the end of the value',
    ],
    [
      'a quote in the middle',
      'a,y\nu,0\n5",1\nv",0\n',
      {},
      'x.csv:3: a quote inside a value that does not start with one; ' +
        'expected the value in quotes, and its own quotes twice',
    ],
    [
      'the line behind a value of two lines',
      'a,y\n"u\nv",0\nw\n',
      {},
      'x.csv:4: 1 field; the header has 2',
    ],
    [
      'no column that could be the label',
      'a,b\n1,2\n',
      {},
      'x.csv:1: no column called label, target, class or y (name it with --label COLUMN); ' +
        'the columns are a, b',
    ],
    ['two columns of one name', '\na,a,y\n1,2,0\n', {}, 'x.csv:2: two columns are called "a"'],
    [
      'a quote that is never closed in the header',
      `"a,y\n${'1,0\n'.repeat(2000)}`,
      {},
      'x.csv:1: a quote that is never closed',
    ],
    [
      'a label beyond all numbers',
      'a,y\n1,0\n2,1e999\n',
      {},
      'x.csv:3: label "1e999" in column "y" is too large; expected a number below 1.8e308',
    ],
    [
      'no label in data that is like other data, where all rows need one',
      'y,a\n1,0\n,2\n',
      { like: { featureNames: ['a'] }, labelled: true },
      'x.csv:3: no label in column "y"; expected one',
    ],
    [
      'no column of labels there',
      'a,b\n1,0\n',
      {
        like: { featureNames: ['a'], recipe: { fields: [{ name: 'sold', kind: 'label' }] } },
        labelled: true,
      },
      'x.csv:1: no column "sold", which has the labels of the training data ' +
        '(name it with --label COLUMN); the columns are a, b',
    ],
    ['nothing', '', {}, 'x.csv: no rows; expected at least one'],
    ['a header alone', 'a,y\n', {}, 'x.csv: no rows; expected at least one'],
  ];

  test.each(faults)('%s', async (_, text, options, message) => {
    expect(await errorMessage('x.csv', text, options)).toBe(message);
  });

  test('another encoding', async () => {
    const text = Buffer.from('a,y\nu,0\nZ\u00fcrich,1\n', 'latin1');
    expect(await errorMessage('x.csv', text)).toBe(
      'x.csv:3: not UTF-8 text; expected that encoding (iconv makes it)',
    );
  });

  test.each<[ReadOptions, string]>([
    [{ label: 'z' }, '--label z: no such column in x.csv:1; the columns are a, y'],
    [{ label: 3 }, '--label 3: no such column in x.csv:1; the columns are a, y'],
    [{ ignore: ['b'] }, '--ignore b: no such column in x.csv:1; the columns are a, y'],
    [{ weight: 'y' }, 'column "y" is both label and weight'],
    [{ hashBits: 40 }, 'hashes of 40 bits; expected a whole number from 1 to 30'],
    [{ delimiter: 'ab' }, 'delimiter "ab"; expected one character, no quote'],
  ])('options that do not fit: %j', async (options, message) => {
    expect(await errorMessage('x.csv', 'a,y\n1,0\n', options, UsageError)).toBe(message);
  });

  test('another header in another file', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.csv'), 'a,y\n1,0\n');
    writeFileSync(join(folder, 'b.csv'), 'b,y\n1,0\n');
    await expect(readDataset(join(folder, '*.csv'))).rejects.toThrow(
      `b.csv:1: its columns are not those of ${folder}/a.csv:1; expected the same in all files`,
    );
  });
});

describe('JSON lines', () => {
  const good = '{"label": 1, "a": 2}\n';
  const expected = 'expected an object like {"label": 1, "age": 30}';
  const faults: [string, string, string][] = [
    ['no JSON', `${good}{"label": 1,\n`, `x.jsonl:2: not JSON; ${expected}`],
    ['no JSON at the start', `{a}\n${good}`, `x.jsonl:1: not JSON; ${expected}`],
    ['an array', `${good}\n[1, 2]\n`, `x.jsonl:3: a JSON array; ${expected}`],
    ['a value', `${good}17\n`, `x.jsonl:2: the JSON value "17"; ${expected}`],
    ['no label', `${good}{"a": 1}\n`, 'x.jsonl:2: no label "label"; expected one in every line'],
    [
      'null for a label',
      `${good}{"label": null}\n`,
      'x.jsonl:2: no label "label"; expected one in every line',
    ],
    [
      'an object for a label',
      `${good}{"label": {}}\n`,
      'x.jsonl:2: the label "label" is an object; expected a number or a text',
    ],
    [
      'an empty label',
      `${good}{"label": ""}\n`,
      'x.jsonl:2: no label "label"; expected one in every line',
    ],
    [
      'an object among labels',
      `${good}{"label": ["u", {}]}\n`,
      'x.jsonl:2: the label "label" is an object; expected a number or a text',
    ],
    [
      'a deep list for a label',
      `${good}{"label": ${'['.repeat(1e5)}${']'.repeat(1e5)}}\n`,
      'x.jsonl:2: the label "label" is a list in a list; expected a number or a text',
    ],
    [
      'a label beyond all numbers',
      `${good}{"label": 1e999}\n`,
      'x.jsonl:2: the label "label", "Infinity", is too large; expected a number below 1.8e308',
    ],
    [
      'two labels at different positions',
      `${good}{"label": 1, "features": {"label": 2}}\n`,
      'x.jsonl:2: two values of the label "label"; expected one',
    ],
    [
      'two weights at different positions',
      `{"label": 1, "weight": 1}\n{"label": 1, "weight": 1, "features": {"weight": 2}}\n`,
      'x.jsonl:2: two values of the weight "weight"; expected one',
    ],
    [
      'a deep list for a weight',
      `{"label": 1, "weight": 1}\n{"label": 1, "weight": ${'['.repeat(1e5)}${']'.repeat(1e5)}}\n`,
      'x.jsonl:2: weight […] of "weight"; expected a number of at least 0',
    ],
    [
      'half of a character',
      `${good}{"label": 1, "\\ud800": 1}\n`,
      'x.jsonl:2: "\\ud800" is half of a character of two \\u escapes; expected both',
    ],
    [
      'half of a character in a category',
      `${good}{"label": 1, "b": "\\udc00"}\n`,
      'x.jsonl:2: "\\udc00" is half of a character of two \\u escapes; expected both',
    ],
    [
      'a word for a weight',
      `{"label": 1, "weight": 1}\n{"label": 1, "weight": "2"}\n`,
      'x.jsonl:2: weight "\\"2\\"" of "weight"; expected a number of at least 0',
    ],
    [
      'a number that float32 cannot hold',
      `${good}{"label": 1, "a": {"b": 1e39}}\n`,
      'x.jsonl:2: "a.b": 1e+39 is too large; expected a number below 3.4e38',
    ],
    [
      'no key that could be the label',
      '{"a": 1, "b": 2}\n',
      'x.jsonl: no key called label, target, class or y (name it with --label KEY); the keys are a, b',
    ],
    [
      'deep objects',
      `${good}{"label": 1, "a": ${'{"b":'.repeat(50)}1${'}'.repeat(50)}}\n`,
      'x.jsonl:2: nested deeper than 32 levels',
    ],
    [
      'deep lists',
      `${good}{"label": 1, "a": ${'['.repeat(50)}1${']'.repeat(50)}}\n`,
      'x.jsonl:2: nested deeper than 32 levels',
    ],
  ];

  test.each(faults)('%s', async (_, text, message) => {
    expect(await errorMessage('x.jsonl', text)).toBe(message);
  });

  test('whole numbers that are not exact make no categories', async () => {
    const text = `${good}{"label": 1, "a": 9007199254740993}\n`;
    expect(await errorMessage('x.jsonl', text, { categorical: ['a'] })).toBe(
      'x.jsonl:2: "a": 9007199254740992 has more than 53 bits; expected a text for a category',
    );
    const { featureNames } = await readDataset(temporaryFile('x.jsonl', text));
    expect(featureNames).toEqual(['a']);
  });
});

test('labels of LIBSVM text that are not UTF-8', async () => {
  const text = Buffer.from('u 1:1\n\u00e9 1:2\n\u00e8 1:3\n', 'latin1');
  expect(await errorMessage('x.svm', text)).toBe(
    'x.svm:2: not UTF-8 text; expected that encoding (iconv makes it)',
  );
});

describe('Vowpal Wabbit', () => {
  const good = '1 | a b:2\n';
  const expected = 'expected a line like "1 | age:30 city"';
  const faults: [string, string, string][] = [
    ['no bar', `${good}1 a b\n`, `x.vw:2: no "|" in the line; ${expected}`],
    ['no label', `${good}| a\n`, `x.vw:2: no label; ${expected}`],
    [
      'a tag for a label',
      `${good}1| a\n`,
      `x.vw:2: no label: "1" touches the bar, which makes it a tag; ${expected}`,
    ],
    [
      'a word for a label',
      `${good}spam | a\n`,
      `x.vw:2: label "spam" is not a number; ${expected}`,
    ],
    [
      'an importance below 0',
      `${good}1 -2 | a\n`,
      'x.vw:2: importance "-2"; expected a number of at least 0',
    ],
    [
      'a base',
      `${good}1 1 0.5 | a\n`,
      'x.vw:2: base "0.5": scores have no initial value here; expected none, or 0',
    ],
    ['too many words', `${good}1 1 0 7 | a\n`, `x.vw:2: "7" in front of "|"; ${expected}`],
    [
      'a word for a value',
      `${good}1 | a:x\n`,
      'x.vw:2: value "x" of feature "a" is not a number below 3.4e38; expected a feature like age:30',
    ],
    [
      'a word for a scale',
      `${good}1 |n:x a\n`,
      'x.vw:2: value "x" of namespace "n" is not a number below 3.4e38; expected a feature like age:30',
    ],
    ['no name', `${good}1 | :3\n`, 'x.vw:2: ":3" has no name'],
    [
      'a product that float32 cannot hold',
      `${good}1 |n:1e30 a:1e30\n`,
      'x.vw:2: the value of feature "a" times its scale is more than 3.4e38',
    ],
  ];

  test.each(faults)('%s', async (_, text, message) => {
    expect(await errorMessage('x.vw', text)).toBe(message);
  });
});

describe('several files and processes', () => {
  test('files with names and files with numbers do not mix, nor do formats', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.csv'), 'a,y\n1,0\n');
    writeFileSync(join(folder, 'b.svm'), '1 1:1\n');
    writeFileSync(join(folder, 'c.vw'), '1 | a\n');
    const read = (...names: string[]) => readDataset(names.map((name) => join(folder, name)));
    await expect(read('a.csv', 'b.svm')).rejects.toThrow(
      `b.svm: its columns have numbers, those of ${folder}/a.csv names; expected files of one kind`,
    );
    await expect(read('b.svm', 'a.csv')).rejects.toThrow(
      `a.csv: its columns have names, those of ${folder}/b.svm numbers; expected files of one kind`,
    );
    await expect(read('a.csv', 'c.vw')).rejects.toThrow(
      `c.vw: Vowpal Wabbit text, but ${folder}/a.csv is CSV; expected files of one format`,
    );
  });

  test('several processes reject names, and labels that are texts', async () => {
    const csv = temporaryFile('x.csv', 'a,y\n1,0\n2,1\n');
    const share = { rank: 0, ranks: 2 };
    await expect(readShard(csv, share)).rejects.toThrow(UsageError);
    await expect(readShard(csv, share)).rejects.toThrow('convert it first (dso convert');
    const text = temporaryFile('x.svm', 'spam 1:1\nham 2:1\n');
    await expect(readShard(text, share)).rejects.toThrow('labels that are no numbers');
    const { dataset } = await readShard(csv, { rank: 0, ranks: 1 });
    expect(dataset.featureNames).toEqual(['a']);
  });
});

describe('the first fault is told, however the text is cut', () => {
  const padding = 'abcdefghijklmnopqrstuvwxyz';

  test('in front of one that is looked for first', async () => {
    const text = Buffer.from(`1 | ${padding}\nno bar ${padding}\n1 | \xff\n`, 'latin1');
    expect(await errorMessage('x.vw', text)).toMatch(/^x\.vw:2: no "\|"/);
    const json = Buffer.from(`{"label":1,"a":"${padding}"}\nno JSON\n{"label":"\xff"}\n`, 'latin1');
    expect(await errorMessage('x.jsonl', json)).toMatch(/^x\.jsonl:2: not JSON/);
  });

  test('in front of a line that cannot be read', async () => {
    const clash = `{"label":1,"a":{"b":1}}\n{"label":0,"a.b":2}\n{"label":1,"c":"${padding}"}\nno JSON\n`;
    expect(await errorMessage('x.jsonl', clash)).toContain('the feature "a.b" would be both');
    const sum = `1 |a ${padding}\n1 |a x:3e38 x:3e38\n1 |a ${padding}\nno bar\n`;
    expect(await errorMessage('x.vw', sum)).toContain('row 2: the values of one feature add up');
  });

  test('in front of a clash of names', async () => {
    const text = `1 |a x:3e38 x:3e38\n1 |a b^c:1 ${padding}\n1 |a^b c\n`;
    expect(await errorMessage('x.vw', text)).toContain('row 1: the values of one feature add up');
  });

  test('in CSV, whose numbers are read in place', async () => {
    const text = `label,x,y\n1,0.5,"a\nb"\n0,2,${padding}\n1,3e39,c\n0,1\n`;
    expect(await errorMessage('x.csv', text)).toMatch(/^x\.csv:5: column "x": "3e39" is too large/);
  });
});

test('names in messages and notes show what a terminal would obey', async () => {
  const message = await errorMessage('x.csv', 'a\u001b[31m,b\u202e\n1,2\n');
  expect(message).toContain(String.raw`the columns are a\u001b[31m, b\u202e`);
  const path = temporaryFile('x.csv', 'y\u009b,label\n1,2\n');
  const { notices } = await readDataset(path, { label: 1 });
  expect(notices[0]).toContain(String.raw`label column "y\u009b"`);
});

test('a number for a key of JSON is a fault of the options that names the file', async () => {
  const options = [{ label: 1 }, { weight: 2 }];
  for (const one of options) {
    const message = await errorMessage('x.jsonl', '{"label":1}\n', one, UsageError);
    expect(message).toMatch(/^x\.jsonl: (label 1|weight 2): keys of JSON have no numbers/);
  }
});
