import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { daysOf } from '../../../src/data/fields/options.ts';
import type { ReadOptions } from '../../../src/data/read/pieces.ts';
import { readDataset } from '../../../src/data/read/read.ts';
import { DataError, UsageError } from '../../../src/errors.ts';
import { decodeModel, encodeModel } from '../../../src/model/file.ts';
import { predict } from '../../../src/model/predict/predict.ts';
import { Predictor } from '../../../src/model/predict/predictor.ts';
import { randomModel } from '../../support/random-models.ts';
import { temporaryFile } from './support/files.ts';

test.each([
  ['1970-01-01', 0],
  ['1970-01-02T12:00', 1.5],
  ['2024-02-29', 19782],
  ['1969-12-31', -1],
  ['2000-01-01 06:00:00Z', 10957.25],
  ['2000-01-01T06:00:00.000+06:00', 10957],
  ['2000-01-01T00:00:00-0600', 10957.25],
  ['2023-02-29', NaN],
  ['2023-13-01', NaN],
  ['2023-1-1', NaN],
  ['20230101', NaN],
  ['2023-01-01T25:00', NaN],
  ['2023-01-01T24:00', 19359],
  ['2023-01-01T24:59', NaN],
  ['2023-01-01T24:00:01', NaN],
  ['2023-01-01T10:00+14:00', 19357.833333333332],
  ['2023-01-01T00:00+14:01', NaN],
  ['2023-01-01T00:00-99:00', NaN],
  ['2023-01-01T00:00+01:60', NaN],
  ['yesterday', NaN],
])('%s is day %f', (text, days) => {
  expect(daysOf(text)).toBe(days);
});

/** Rows enough for columns to be called identifiers. */
function table(columns: Readonly<Record<string, (row: number) => string | number>>, rows = 30) {
  const names = Object.keys(columns);
  const lines = Array.from({ length: rows }, (_, row) =>
    [...names.map((name) => columns[name](row)), row % 2].join(','),
  );
  return temporaryFile('t.csv', `${[...names, 'label'].join(',')}\n${lines.join('\n')}\n`);
}

const plan = (row: number) => ['basic', 'plus'][row % 2];
const fieldsOf = ({ recipe }: Dataset) =>
  Object.fromEntries((recipe?.fields ?? []).map(({ name, ...rest }) => [name, rest]));
const read = (path: string, options: ReadOptions = {}) => readDataset(path, options);

describe('identifiers', () => {
  const columns = {
    id: (row: number) => 100 + row,
    mail: (row: number) => `user-${row}`,
    age: (row: number) => 20 + ((row * 7) % 30),
    size: (row: number) => row + 0.5,
    plan,
  };

  test('are left out, with a note', async () => {
    const data = await read(table(columns));
    expect(data.featureNames).toEqual(['age', 'size', 'plan=basic', 'plan=plus']);
    expect(fieldsOf(data)).toMatchObject({
      id: { kind: 'ignored', identifier: true },
      mail: { kind: 'ignored', identifier: true },
      age: { kind: 'number' },
    });
    expect(data.notices).toContain(
      'left out columns "id", "mail", which differ in every row (--keep id,mail)',
    );
  });

  test('are the same however the text is cut', async () => {
    const path = table(columns);
    const whole = await read(path);
    const cut = await read(path, { blockSize: 16 });
    expect(cut.featureNames).toEqual(whole.featureNames);
    expect(cut.nonzeros).toBe(whole.nonzeros);
  });

  test('are kept where that is asked for', async () => {
    const data = await read(table(columns), { keep: ['id'] });
    expect(data.featureNames?.slice(0, 3)).toEqual(['id', 'age', 'size']);
    expect(fieldsOf(data)).toMatchObject({ mail: { kind: 'ignored' }, id: { kind: 'number' } });
    const texts = await read(table(columns), { categorical: ['mail'] });
    expect(texts.featureNames).toContain('mail=user-7');
    await expect(read(table(columns), { keep: ['none'] })).rejects.toThrow(UsageError);
  });

  test.each<[string, Record<string, (row: number) => string | number>, number]>([
    ['that repeats', { id: (row) => Math.max(1, row) }, 30],
    ['that has a gap', { id: (row) => (row === 4 ? '' : row) }, 30],
    ['of few rows', { id: (row) => row }, 19],
    ['of numbers that ascend by more than 1', { id: (row) => 1700000000 + 3 * row }, 30],
    ['of years', { id: (row) => 1990 + row + Number(row > 25) }, 30],
    ['of numbers in no order', { id: (row) => (row * 7) % 31 }, 30],
  ])('a column %s is none', async (_, own, rows) => {
    const data = await read(table({ ...own, plan }, rows));
    expect(data.featureNames).toContain('id');
  });

  test('the only feature is kept', async () => {
    const data = await read(table({ text: (row) => `words ${row}` }));
    expect(data.columns).toBe(30);
  });
});

describe('dates', () => {
  const day = (row: number) => `2024-03-${String(1 + (row % 28)).padStart(2, '0')}`;

  test('become days, as the model says to whoever reads rows for it', async () => {
    const path = table({ since: (row) => (row === 3 ? 'NA' : day(row)), plan });
    const data = await read(path);
    expect(data.featureNames).toEqual(['since', 'plan=basic', 'plan=plus', 'since=?']);
    expect(data.parts[0].values[0]).toBe(19783);
    expect(data.notices).toContain('column "since": dates, as days since 1970-01-01');
    const { featureNames, recipe, columns } = data;
    const model = randomModel({
      columns,
      ...(featureNames && { featureNames }),
      ...(recipe && { recipe }),
    });
    const own = decodeModel(encodeModel(model), 'm');
    expect(own.recipe).toEqual(recipe);
    const again = await read(path, { like: own });
    const scores = predict(own, again, { output: 'scores' });
    expect([...scores]).toEqual([...predict(own, data, { output: 'scores' })]);
    const predictor = new Predictor(own);
    const rows = Array.from({ length: 30 }, (_, row) => ({
      since: row === 3 ? null : day(row),
      plan: plan(row),
    }));
    expect(rows.map((row) => predictor.score(row))).toEqual([...scores]);
    expect(predictor.score({ since: 19783, plan: 'basic' })).toBe(scores[0]);
    expect(() => predictor.score({ since: 'March' })).toThrow(
      new DataError('"since": "March" is not a date; expected one like 2024-12-31'),
    );
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const objects = await read(temporaryFile('t.jsonl', lines), { like: own });
    expect([...predict(own, objects, { output: 'scores' })]).toEqual([...scores]);
  });

  test('a later value that is none is an error that says so', async () => {
    const path = table({ since: (row) => (row === 1100 ? 'soon' : day(row)), plan }, 1200);
    await expect(read(path)).rejects.toThrow(
      'column "since": "soon" is not a date, as the values before are; expected one like 2024-12-31',
    );
  });

  test('the text of a number is no date, in training and after it', async () => {
    const mixed = table({ since: (row) => (row === 1100 ? '20240105' : day(row)), plan }, 1200);
    await expect(read(mixed)).rejects.toThrow(
      'column "since": "20240105" is not a date, as the values before are; expected one like 2024-12-31',
    );
    const data = await read(table({ since: day, plan }));
    const { featureNames, recipe, columns } = data;
    const names = { ...(featureNames && { featureNames }), ...(recipe && { recipe }) };
    const own = randomModel({ columns, ...names });
    const later = table({ since: (row) => (row === 2 ? '20240105' : day(row)), plan });
    await expect(read(later, { like: own })).rejects.toThrow(
      /t\.csv:4: column "since": "20240105"/,
    );
    const predictor = new Predictor(own);
    expect(() => predictor.score({ since: '20240105', plan: 'plus' })).toThrow(
      '"since": "20240105" is not a date; expected one like 2024-12-31',
    );
    predictor.score({ since: null, plan: 'plus' });
    expect(predictor.warnings).toEqual([
      '"since" has no value, which never happened in the training data: taken for 1970-01-01',
    ]);
    expect(predictor.score({ since: 19783, plan: 'plus' })).toBe(
      predictor.score({ since: '2024-03-01', plan: 'plus' }),
    );
  });

  test('may be categories', async () => {
    const data = await read(table({ since: day, plan }), { categorical: ['since'] });
    expect(data.featureNames).toContain('since=2024-03-01');
  });
});
