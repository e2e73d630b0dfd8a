import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NamedRow } from '../../../../src/data/fields/row-encoder.ts';
import { collectGarbage } from '../../../../src/engine/arena.ts';
import { DataError } from '../../../../src/errors.ts';
import { encodeModel } from '../../../../src/model/file.ts';
import type { Model } from '../../../../src/model/model.ts';
import { givesProbabilities, predict } from '../../../../src/model/predict/predict.ts';
import type { Row } from '../../../../src/model/predict/predictor.ts';
import { Predictor } from '../../../../src/model/predict/predictor.ts';
import { loadModel } from '../../../../src/predict.ts';
import { readDataset } from '../../../../src/train/read.ts';
import { sampleModel, sampleRegression } from '../../../support/models.ts';
import { modelKinds, randomModel, randomRows } from '../../../support/random-models.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** Of two classes ours is the probability of one of them. */
function byClass(model: Model, row: number, all: Float64Array): number[] {
  const { length } = model.intercepts;
  const values = [...all.subarray(row * length, (row + 1) * length)];
  return length > 1 || model.multiLabel ? values : [1 - values[0], values[0]];
}

describe.each(Object.entries(modelKinds))('%s', (_, model) => {
  const predictor = loadModel(encodeModel(model));
  const { rows, dense, dataset } = randomRows(model.columns, 30);

  test('scores and predicts as the library does, to the last bit', () => {
    const scores = predict(model, dataset, { output: 'scores' });
    const labels = predict(model, dataset);
    expect(rows.flatMap((row) => predictor.scores(row))).toEqual([...scores]);
    expect(rows.map((row) => predictor.predict(row))).toEqual([...labels]);
    if (model.intercepts.length === 1) {
      expect(rows.map((row) => predictor.score(row))).toEqual([...scores]);
    } else expect(() => predictor.score(rows[0])).toThrow(/call scores/);
    for (const [row, label] of labels.entries()) {
      const list = dense.subarray(row * model.columns, (row + 1) * model.columns);
      expect(predictor.predict(list)).toBe(label);
      expect(predictor.predict([...list])).toBe(label);
    }
  });

  test('gives the same probabilities, or says why not', () => {
    expect(predictor.givesProbabilities).toBe(givesProbabilities(model));
    if (!predictor.givesProbabilities) {
      expect(() => predictor.probabilities(rows[1])).toThrow(
        /logistic loss, or a calibrated model/,
      );
      return;
    }
    const all = predict(model, dataset, { output: 'probabilities' });
    for (const [index, row] of rows.entries()) {
      expect(predictor.probabilities(row)).toEqual(byClass(model, index, all));
    }
  });
});

test('describes the model', () => {
  const predictor = new Predictor(sampleModel({ classes: ['ham', 'spam'] }));
  expect(predictor.task).toBe('classification');
  expect(predictor.classes).toEqual(['ham', 'spam']);
  expect(predictor.columns).toBe(4);
  expect(new Predictor(sampleRegression()).classes).toBeUndefined();
});

test('columns in any order, repeats added up, unknown ones left out', () => {
  const predictor = new Predictor(sampleModel());
  expect(predictor.score({ indices: [3, 99, 0, 3], values: [1, 5, 2, 0.5] })).toBe(4);
  expect(predictor.score([1, 1, 1, 1, 1, 1])).toBe(1.25);
  expect(predictor.score({ indices: [], values: [] })).toBe(0);
  const indices = Array.from({ length: 500 }, (_, entry) => (entry * 7) % 500);
  const long = new Predictor(randomModel({ columns: 500 }));
  const sorted = indices.toSorted((a, b) => a - b);
  expect(long.score({ indices, values: indices.map((i) => i / 7) })).toBe(
    long.score({ indices: sorted, values: sorted.map((i) => i / 7) }),
  );
});

test.each<[Row, RegExp]>([
  [[1, NaN], /value of 1 is NaN/],
  [[1, Infinity], /value of 1 is Infinity/],
  [[1e39], /below 3\.4e38/],
  [{ indices: [0.5], values: [1] }, /index 0\.5/],
  [{ indices: [-1], values: [1] }, /index -1/],
  [{ indices: [1], values: [] }, /1 indices with 0 values/],
  [{ 0: '1', length: 1 }, /no feature names/],
  [{ age: 3 }, /no feature names/],
])('a row that is none: %#', (row, message) => {
  expect(() => new Predictor(sampleModel()).score(row)).toThrow(message);
});

test('a score or prediction that overflows is an error', () => {
  const large = new Predictor(sampleModel({ weights: Float64Array.of(1e300, 0, 0, 0) }));
  expect(() => large.score([1e30])).toThrow(/overflow/);
  const poisson = sampleRegression({ loss: { name: 'poisson', parameter: 0 } });
  expect(() => new Predictor(poisson).predict([2000])).toThrow(/e\^1000, too large/);
});

describe('named rows', () => {
  const records: readonly { age: number | null; city: string | null; size: number }[] = [
    { age: 31, city: 'Paris', size: 1.5 },
    { size: -2, city: 'Zürich', age: 40 },
    { age: null, city: null, size: 0.1 },
    { age: 7, city: 'Oslo', size: 3 },
  ];
  const featureNames = ['age', 'size', 'city=Paris', 'city=?', 'age=?', 'city=Zürich'];
  const fields = [
    { name: 'age', kind: 'number' },
    { name: 'size', kind: 'number' },
    { name: 'city', kind: 'category' },
    { name: 'label', kind: 'label' },
  ] as const;

  async function scoresOf(model: Model, file: string, text: string): Promise<number[]> {
    const path = join(temporaryFolder(), file);
    writeFileSync(path, text);
    const { featureNames: names, recipe } = model;
    const like = { ...(names && { featureNames: names }), ...(recipe && { recipe }) };
    const dataset = await readDataset(path, { like, threads: 1 });
    return [...predict(model, dataset, { output: 'scores' })];
  }

  const tables = {
    named: randomModel({ columns: 6, featureNames, recipe: { fields } }),
    'named, missing is 0': randomModel({
      columns: 6,
      featureNames,
      recipe: { fields, missing: 'zero' },
    }),
    hashed: randomModel({ columns: 256, recipe: { hashBits: 8, fields } }),
    'hashed to collide': randomModel({ columns: 2, recipe: { hashBits: 1, fields } }),
  };

  test.each(Object.entries(tables))('a table, %s: as if read from CSV', async (_, model) => {
    const predictor = loadModel(encodeModel(model));
    const lines = records.map(({ age, city, size }) => `${age ?? ''},${city ?? 'NA'},${size},x\n`);
    const expected = await scoresOf(model, 'rows.csv', `age,city,size,colour\n${lines.join('')}`);
    expect(records.map((row) => predictor.score({ ...row, colour: 'x' }))).toEqual(expected);
    const texts = records.map(({ age, city, size }) => ({
      size: `${size}`,
      age: age === null ? '' : ` ${age} `,
      city: city ?? '?',
    }));
    expect(texts.map((row) => predictor.score(row))).toEqual(expected);
  });

  const objects = {
    named: randomModel({
      columns: 8,
      featureNames: [...featureNames.slice(0, 6), 'tags=a', 'place.height'],
      recipe: { fields: [{ name: 'label', kind: 'label' }] },
    }),
    hashed: randomModel({
      columns: 512,
      recipe: { hashBits: 9, fields: [{ name: 'label', kind: 'label' }] },
    }),
  };

  test.each(Object.entries(objects))(
    'objects, %s: as if read from JSON lines',
    async (_, model) => {
      const predictor = loadModel(encodeModel(model));
      const rows: readonly NamedRow[] = [
        ...records,
        { label: 1, tags: ['a', 'b', 3, null], place: { height: 3, name: 'x' }, on: true },
        { features: { age: 3, size: [1, 2] }, city: '' },
        { features: { features: { age: 3 }, size: 2 }, '': { features: { age: 5 }, size: 4 } },
      ];
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      expect(rows.map((row) => predictor.score(row))).toEqual(
        await scoresOf(model, 'rows.jsonl', text),
      );
    },
  );

  test('names of features can be used directly', () => {
    const predictor = new Predictor(tables.named);
    expect(predictor.score({ 'city=Paris': 1 })).toBe(predictor.score({ city: 'Paris' }));
  });

  test('a missing value, where none may be', () => {
    const recipe = { fields, missing: 'error' } as const;
    const predictor = new Predictor({ ...tables.named, recipe });
    expect(() => predictor.score({ age: null })).toThrow('"age" has no value; expected one');
  });

  test('a text in a field of numbers', () => {
    expect(() => new Predictor(tables.named).score({ age: 'old' })).toThrow(
      '"age": "old" is not a number',
    );
  });

  test('long names that never come again are not cached', () => {
    const predictor = new Predictor(objects.hashed);
    const used = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = used();
    const long = 'x'.repeat(2e6);
    for (let row = 0; row < 40; row++) predictor.score({ city: `${row}${long}` });
    expect(used() - before).toBeLessThan(40e6);
  });

  test.each([null, undefined, 5, 'age'])('%j is no row', (row) => {
    const predictor = new Predictor(tables.named);
    expect(() => predictor.score(row as never)).toThrow(
      `the row is ${JSON.stringify(row)}; expected an object`,
    );
  });

  test('objects that never end', () => {
    let deep: NamedRow = {};
    for (let level = 0; level < 50; level++) deep = { deep };
    expect(() => new Predictor(tables.named).score(deep)).toThrow(/nested deeper than 32/);
    let features: NamedRow = {};
    for (let level = 0; level < 20_000; level++) features = { features };
    expect(() => new Predictor(tables.named).score(features)).toThrow(/nested deeper than 32/);
  });
});

describe('what a model cannot use', () => {
  const fields = [
    { name: 'age', kind: 'number' },
    { name: 'size', kind: 'number' },
    { name: 'city', kind: 'category' },
    { name: 'id', kind: 'ignored' },
    { name: 'label', kind: 'label' },
  ] as const;
  const featureNames = ['age', 'size', 'city=Paris', 'city=Oslo', 'age=?'];
  const table = randomModel({ columns: 5, featureNames, recipe: { fields } });
  const objects = randomModel({
    columns: 6,
    featureNames: [...featureNames, 'place.height'],
    recipe: { fields: fields.slice(-1) },
  });
  const hashed = randomModel({ columns: 256, recipe: { hashBits: 8, fields } });
  const sparse = randomModel({ columns: 3 });
  const whole = { age: 3, size: 1, city: 'Oslo', id: 7, label: 'x' };
  const unknown = (name: string) => `"${name}" is not in the training data`;
  const never = (name: string) =>
    `"${name}" has no value, which never happened in the training data`;

  const cases: [string, Model, Row, readonly string[]][] = [
    ['a whole row of a table', table, whole, []],
    ['a missing value that was a feature', table, { ...whole, age: null }, []],
    ['an absent one', table, { size: 1, city: 'Oslo' }, []],
    ['an unknown field', table, { ...whole, agee: 3 }, [unknown('agee')]],
    ['an unknown text', table, { ...whole, town: 'Oslo' }, [unknown('town')]],
    ['unknown parts', table, { ...whole, a: { b: 1 } }, [unknown('a.b')]],
    ['a feature by its name', table, { age: 3, size: 1, 'city=Paris': 1 }, []],
    ['a value that was never missing', table, { ...whole, size: null }, [never('size')]],
    ['a field that was never absent', table, { age: 3, city: 'Oslo' }, [never('size')]],
    [
      'an unknown category',
      table,
      { ...whole, city: 'Rome' },
      ['"city": "Rome" is not in the training data'],
    ],
    ['an object', objects, { age: 3, city: 'Oslo', place: { height: 2 }, label: 1 }, []],
    ['an object without most keys', objects, { size: 2 }, []],
    ['an unknown key', objects, { age: 3, place: { width: 2 } }, [unknown('place.width')]],
    ['an unknown text of words', objects, { city: ['Oslo', 'Rome'] }, []],
    ['null, which was a feature', objects, { age: null }, []],
    ['null, which never was', objects, { size: null, city: null }, [never('size'), never('city')]],
    ['null of an unknown key', objects, { x: null }, [unknown('x')]],
    ['an unknown field of a hashed table', hashed, { ...whole, agee: 3 }, [unknown('agee')]],
    [
      'an index',
      sparse,
      { indices: [1, 3], values: [1, 2] },
      ['the index 3: the model has 3 columns'],
    ],
    ['zeros behind the columns', sparse, [1, 2, 3, 0, 0], []],
    ['a list that is too short', sparse, [1, 2], ['the list has 2 of 3 values']],
  ];

  test.each(cases)('%s', (_, model, row, warnings) => {
    const predictor = new Predictor(model);
    const score = predictor.score(row);
    expect(predictor.warnings).toEqual(warnings);
    const strict = new Predictor(model, { strict: true });
    if (warnings.length === 0) expect(strict.score(row)).toBe(score);
    else expect(() => strict.score(row)).toThrow(new DataError(warnings.join('; ')));
    // The next row has its own.
    predictor.score({ indices: [0], values: [1] });
    expect(predictor.warnings).toEqual([]);
  });

  test('many warnings are cut short', () => {
    const row = Object.fromEntries(Array.from({ length: 25 }, (_, k) => [`x${k}`, 1]));
    const predictor = new Predictor(objects);
    predictor.score(row);
    expect(predictor.warnings).toHaveLength(11);
    expect(predictor.warnings.at(-1)).toBe('and 15 more of this kind');
  });

  const faults: [Model, NamedRow, string][] = [
    [table, { age: 'old' }, '"age": "old" is not a number; expected a number'],
    [table, { age: [1, 2] }, '"age": found a list; expected a number'],
    [table, { age: { x: 1 } }, '"age": found an object; expected a number'],
    [table, { city: { x: 1 } }, '"city": found an object; expected a text'],
    [objects, { age: 'old' }, '"age": found "old"; expected a number'],
    [objects, { city: 5 }, '"city": found the number 5; expected a text'],
  ];

  test.each(faults)('%# a wrong type is refused: %s', (model, row, message) => {
    expect(() => new Predictor(model).score(row)).toThrow(new DataError(message));
  });
});
