import { describe, expect, test } from 'vitest';
import { batchOf } from '../../../../src/apps/serve/rows.ts';
import { exampleRow, Scorer } from '../../../../src/apps/serve/scorer.ts';
import { predictionObjects } from '../../../../src/reporting/text/predictions.ts';
import { sampleClasses, sampleModel, sampleRegression } from '../../../support/models.ts';
import { modelKinds, randomModel, randomRows } from '../../../support/random-models.ts';

describe('answers are the lines of dso predict --json', () => {
  test.each(Object.entries(modelKinds))('%s', (_, model) => {
    const { rows, dataset, dense } = randomRows(model.columns, 50);
    const expected = [...predictionObjects(model, dataset)].join('').trimEnd().split('\n');
    const scorer = new Scorer(model);
    const overWire = (row: object): unknown => JSON.parse(JSON.stringify(row));
    expect(rows.map((row) => scorer.answer(overWire(row)))).toEqual(expected);
    const { columns } = model;
    const lists = rows.map((__, row) => [...dense.subarray(row * columns, (row + 1) * columns)]);
    expect(lists.map((list) => scorer.answer(overWire(list)))).toEqual(expected);
  });
});

describe('rows', () => {
  test('by name', () => {
    const answer = JSON.parse(new Scorer(sampleClasses()).answer({ legs: 4, colour: 'blue' }));
    expect(Object.keys(answer.scores)).toEqual(['cat', 'dog', 'fish, "raw"']);
    expect(answer.scores.cat).toBe(0.5 + 0.5);
    expect(answer.label).toBe('cat');
  });

  test.each([
    [5, 'found a number; expected an object, or a list of numbers'],
    ['x', 'found a string; expected an object, or a list of numbers'],
    [null, 'found null; expected an object, or a list of numbers'],
    [[1, '2'], 'value 2 is a string; expected a number'],
    [[1, null], 'value 2 is null; expected a number'],
    [[[1]], 'value 1 is a list; expected a number'],
    [{ indices: [0], values: [true] }, 'value 1 is a boolean; expected a number'],
    [{ indices: [0, 1], values: [1] }, '2 indices with 1 values'],
    [{ indices: ['0'], values: [1] }, 'the index 0; expected a whole number from 0'],
    [{ indices: [-1], values: [1] }, 'the index -1; expected a whole number from 0'],
    [{ indices: [0], values: [1e39] }, 'the value of 0 is 1e+39; expected a number below 3.4e38'],
    [{ age: 3 }, 'the model has no feature names; expected indices and values'],
  ])('%j is refused', (row, message) => {
    expect(() => new Scorer(sampleModel()).answer(row)).toThrow(message);
  });

  test('a mean that is no number any more is refused', () => {
    const loss = { name: 'poisson', parameter: 0 };
    const scorer = new Scorer(sampleRegression({ loss, weights: Float64Array.of(1) }));
    expect(() => scorer.answer([1000])).toThrow('the prediction is e^1000');
    expect(scorer.answer([0])).toBe('{"label":1,"score":0}');
  });
});

test('warnings follow the answer', () => {
  const row = { legs: 4, wings: 2 };
  const { warnings, ...answer } = JSON.parse(new Scorer(sampleClasses()).answer(row));
  expect(warnings).toEqual(['"wings" is not in the training data']);
  const { wings: _, ...rest } = row;
  expect(answer).toEqual(JSON.parse(new Scorer(sampleClasses()).answer(rest)));
  const strict = new Scorer(sampleClasses(), { strict: true });
  expect(() => strict.answer(row)).toThrow('"wings" is not in the training data');
  expect(JSON.parse(strict.answer(rest))).toEqual(answer);
});

test('the example is a row that has no warnings', () => {
  const fields = [
    { name: 'age', kind: 'number' },
    { name: 'city', kind: 'category' },
    { name: 'label', kind: 'label' },
  ] as const;
  const model = randomModel({
    columns: 3,
    featureNames: ['age', 'city=?', 'city=Paris'],
    recipe: { fields },
  });
  const scorer = new Scorer(model, { strict: true });
  const example = exampleRow({ model, scorer, version: 'v', loadedAt: new Date(0) });
  expect(example).toBe('{"age":1,"city":"Paris"}');
  expect(() => scorer.answer(JSON.parse(example))).not.toThrow();
});

test.each([
  [[1, 2], 'row'],
  [{ rows: 3 }, 'row'],
  [{ rows: [1], indices: [0] }, 'row'],
  [{}, 'row'],
  [7, 'row'],
  [[], 'batch'],
  [[[1]], 'batch'],
  [[{}], 'batch'],
  [{ rows: [] }, 'batch'],
])('%j is a %s', (body, kind) => {
  expect(batchOf(body) ? 'batch' : 'row').toBe(kind);
});
