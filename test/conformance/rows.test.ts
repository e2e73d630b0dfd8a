import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { HostNames } from '../../src/apps/host-header.ts';
import { Metrics } from '../../src/apps/serve/metrics.ts';
import { Scorer } from '../../src/apps/serve/scorer.ts';
import { ScoringServer } from '../../src/apps/serve/server.ts';
import type { Dataset } from '../../src/data/dataset.ts';
import type { NamedRow } from '../../src/data/fields/row-encoder.ts';
import type { ReadOptions } from '../../src/data/read/pieces.ts';
import { readDataset } from '../../src/data/read/read.ts';
import { exportModel } from '../../src/model/export/index.ts';
import { encodeModel } from '../../src/model/file.ts';
import type { Model } from '../../src/model/model.ts';
import { predict } from '../../src/model/predict/predict.ts';
import { loadModel } from '../../src/predict.ts';
import { post } from '../support/http.ts';
import { randomModel } from '../support/random-models.ts';

type Value = number | string | null | undefined;
type Record = { readonly [name: string]: Value };

const folder = mkdtempSync(join(tmpdir(), 'dso-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

function written(ending: string, text: string): string {
  const path = join(folder, `rows-${files++}.${ending}`);
  writeFileSync(path, text);
  return path;
}

/** Rows in a text format; `undefined` is an absent value, which a table has for whole columns. */
const writers = {
  csv: (rows: readonly Record[]) => tableText(rows, ','),
  tsv: (rows: readonly Record[]) => tableText(rows, '\t'),
  jsonl: (rows: readonly Record[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
} as const;

function tableText(rows: readonly Record[], delimiter: string): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => names.map((name) => `${row[name] ?? ''}`).join(delimiter));
  return `${[names.join(delimiter), ...lines].join('\n')}\n`;
}

/** A model with random weights for the columns that the data has. */
async function modelOf(ending: string, text: string, options: ReadOptions): Promise<Model> {
  const dataset = await readDataset(written(ending, text), options);
  return modelOfData(dataset);
}

function modelOfData({ columns, featureNames, recipe }: Dataset): Model {
  const names = { ...(featureNames && { featureNames }), ...(recipe && { recipe }) };
  return randomModel({ columns, ...names });
}

/** As `dso predict` reads and scores a file. */
async function predicted(model: Model, ending: string, text: string): Promise<number[]> {
  const { featureNames, recipe } = model;
  const like = { ...(featureNames && { featureNames }), ...(recipe && { recipe }) };
  const dataset = await readDataset(written(ending, text), { like });
  return [...predict(model, dataset, { output: 'scores' })];
}

async function served(model: Model, rows: readonly NamedRow[]): Promise<number[]> {
  const loaded = { model, scorer: new Scorer(model), version: 'v', loadedAt: new Date(0) };
  const server = new ScoringServer({
    name: 'm.model',
    limits: { bytes: 1e6, bodies: 1e9, timeout: 10_000, rows: 100, answer: 1e6 },
    hosts: new HostNames('127.0.0.1'),
    metrics: new Metrics(),
    current: () => loaded,
    onFailure: (error) => expect.fail(String(error)),
  });
  const { port } = await server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.stop());
  const { text } = await post(`http://127.0.0.1:${port}/predict`, { rows });
  const { predictions } = JSON.parse(text) as { predictions: { score: number }[] };
  return predictions.map(({ score }) => score);
}

async function exported(model: Model, rows: readonly NamedRow[]): Promise<number[]> {
  const path = written('ts', Buffer.from(exportModel(model, 'typescript')).toString());
  const module = (await import(pathToFileURL(path).href)) as {
    scores(row: NamedRow): number[];
  };
  return rows.flatMap((row) => module.scores(row));
}

/** Every way to score named rows; all of them must agree to the last bit. */
async function expectScores(
  model: Model,
  rows: readonly Record[],
  expected: readonly number[],
): Promise<void> {
  const named = rows as readonly NamedRow[];
  const sent = JSON.parse(JSON.stringify(rows)) as readonly NamedRow[];
  const predictor = loadModel(encodeModel(model));
  expect(
    named.map((row) => predictor.score(row)),
    'Predictor',
  ).toEqual(expected);
  expect(await served(model, sent), 'serve').toEqual(expected);
  expect(await exported(model, sent), 'export').toEqual(expected);
  expect(await predicted(model, 'jsonl', writers.jsonl(rows)), 'JSON lines').toEqual(expected);
}

const training: readonly Record[] = [
  { age: 31, city: 'Paris', zip: 7, note: 'NA', label: 1 },
  { age: -999, city: 'Rome', zip: 8, note: 'x', label: -1 },
  { age: 12.5, city: 'NA', zip: 7, note: 'y', label: 1 },
  { age: null, city: null, zip: null, note: null, label: -1 },
];
const rows: readonly Record[] = [
  { age: 31, city: 'Paris', zip: 7, note: 'x' },
  { age: -999, city: 'NA', zip: 9, note: 'NA' },
  { age: 0.1, city: 'Oslo', zip: 8, note: '' },
  { age: null, city: null, zip: null, note: null },
];
const settings: Readonly<globalThis.Record<string, ReadOptions>> = {
  plain: {},
  'a text is missing': { missingValues: ['NA', 'x'] },
  'a number is missing, spelled in another way': { missingValues: ['-999.0', '8.0'] },
  'categories that look like numbers': { categorical: ['zip'], missingValues: ['8'] },
  'a field left out': { ignore: ['note'] },
  'missing is 0': { missing: 'zero', missingValues: ['NA'] },
  hashed: { hashBits: 10 },
  'hashed, categories, a field left out': {
    hashBits: 10,
    categorical: ['zip'],
    ignore: ['note'],
    missingValues: ['NA'],
  },
};
const cases = Object.entries(settings);

describe.each(['csv', 'tsv'] as const)('a model of %s', (format) => {
  test.each(cases)('%s: all readers give the scores of the table', async (_, options) => {
    const model = await modelOf(format, writers[format](training), options);
    const expected = await predicted(model, format, writers[format](rows));
    expect(new Set(expected).size).toBeGreaterThan(2);
    await expectScores(model, rows, expected);
    const texts = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, `${value ?? ''}`])),
    );
    await expectScores(model, texts, expected);
  });

  test.each(cases)('%s: an absent field is a missing value', async (_, options) => {
    const model = await modelOf(format, writers[format](training), options);
    for (const name of ['age', 'city', 'zip', 'note']) {
      const missing = rows.map((row) => ({ ...row, [name]: null }));
      const absent = rows.map(({ [name]: _value, ...row }) => row);
      const expected = await predicted(model, format, writers[format](missing));
      expect(await predicted(model, format, writers[format](absent)), name).toEqual(expected);
      await expectScores(model, absent, expected);
    }
  });
});

describe('a model of JSON lines', () => {
  test.each(cases)('%s: all readers give the scores of predict', async (_, options) => {
    const model = await modelOf('jsonl', writers.jsonl(training), options);
    const expected = await predicted(model, 'jsonl', writers.jsonl(rows));
    expect(new Set(expected).size).toBeGreaterThan(2);
    await expectScores(model, rows, expected);
  });

  test.each(cases)('%s: an absent key is 0, as in training', async (_, options) => {
    const model = await modelOf('jsonl', writers.jsonl(training), options);
    const [intercept] = model.intercepts;
    await expectScores(model, [{}], [intercept]);
    const whole = { age: 31, city: 'Paris', zip: 7 };
    const [without] = await predicted(model, 'jsonl', writers.jsonl([{ ...whole, age: 0 }]));
    await expectScores(model, [{ city: 'Paris', zip: 7 }], [without]);
    await expectScores(model, [{ ...whole, age: undefined }], [without]);
  });

  test('is trained as the encoder reads: its own rows have the features of the data', async () => {
    const text = writers.jsonl(training);
    const dataset = await readDataset(written('jsonl', text), { missingValues: ['NA', '-999.0'] });
    const model = modelOfData(dataset);
    const expected = [...predict(model, dataset, { output: 'scores' })];
    await expectScores(model, training, expected);
  });
});

describe('a model of Vowpal Wabbit text', () => {
  test.each([{}, { hashBits: 10 }])('%j: features by name', async (options) => {
    const text = '1 |f age:31 city\n-1 |f age:12.5 rome |g x:0.1\n';
    const model = await modelOf('vw', text, options);
    const expected = await predicted(model, 'vw', text);
    const named = [
      { 'f^age': 31, 'f^city': 1, label: 1 },
      { 'f^age': 12.5, 'f^rome': 1, 'g^x': 0.1 },
    ].map(({ label: _, ...row }: globalThis.Record<string, number>) => row);
    await expectScores(model, named, expected);
  });
});

test('a model of LIBSVM text: columns by number', async () => {
  const text = '1 1:31 3:0.1\n-1 2:12.5\n';
  const model = await modelOf('svm', text, {});
  const expected = await predicted(model, 'svm', text);
  const sparse = [
    { indices: [0, 2], values: [31, 0.1] },
    { indices: [1], values: [12.5] },
  ];
  const predictor = loadModel(encodeModel(model));
  expect(sparse.map((row) => predictor.score(row))).toEqual(expected);
  expect(await served(model, sparse)).toEqual(expected);
  expect(await exported(model, sparse)).toEqual(expected);
});
