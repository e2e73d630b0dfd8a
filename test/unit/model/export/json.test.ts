import { describe, expect, test } from 'vitest';
import { exportModel, importModel } from '../../../../src/model/export/index.ts';
import { encodeModel } from '../../../../src/model/file.ts';
import { sampleModel } from '../../../support/models.ts';
import { modelKinds, randomModel } from '../../../support/random-models.ts';

const everything = sampleModel({
  weights: Float64Array.of(0.1, -0, 5e-324, -1.7976931348623157e308),
  intercepts: Float64Array.of(-0),
  featureNames: ['a "b"', 'ü\n', '', '=1'],
  penalty: { name: 'l2', l1: 0, l2: 1, low: 0, high: Infinity },
  recipe: { hashBits: 18, fields: [{ name: 'city', kind: 'category' }], missing: 'zero' },
  provenance: { version: '1.2.3', data: 'cafe', options: { lambda: 0.1, quiet: true } },
});

describe.each(
  Object.entries({
    ...modelKinds,
    'a model with everything': everything,
    'a model without columns': sampleModel({ weights: new Float64Array(0) }),
    'a sparse model': randomModel({ columns: 500, classes: [1, 2, 3] }, 0.05),
  }),
)('%s', (_, model) => {
  test('comes back bit for bit', () => {
    const back = importModel(exportModel(model, 'json'));
    expect(Buffer.from(encodeModel(back)).equals(Buffer.from(encodeModel(model)))).toBe(true);
  });
});

test('is JSON with numbers, and sparse where the model is', () => {
  const dense = JSON.parse(exportModel(sampleModel(), 'json'));
  expect(dense).toMatchObject({
    format: 'dso-model-json',
    version: 1,
    task: 'classification',
    classes: [-1, 1],
    weights: [[0.5, -1.25, 0, 2]],
  });
  const weights = new Float64Array(9);
  weights[4] = 2.5;
  const sparse = JSON.parse(exportModel(sampleModel({ weights }), 'json'));
  expect(sparse.weights).toEqual([{ columns: [4], values: [2.5] }]);
});

describe('a damaged text', () => {
  const good = exportModel(sampleModel({ featureNames: ['a', 'b', 'c', 'd'] }), 'json');
  const changed = (from: string | RegExp, to: string): string => {
    expect(good).toMatch(from);
    return good.replace(from, to);
  };

  test.each([
    [good.slice(0, -3), 'not JSON'],
    [changed('"lambda": 0.0001', '"lambda": 0.0001x'), '(line '],
    [changed('dso-model-json', 'other'), 'format is "other"; expected "dso-model-json"'],
    [changed('"version": 1', '"version": 2'), 'version 2 of dso-model-json; expected 1'],
    [changed('"task": "classification"', '"task": "guessing"'), 'task is "guessing"'],
    [changed('[0.5, -1.25, 0, 2]', '[0.5, -1.25, 0]'), 'weights[0]: 3 weights; expected 4'],
    [changed('[0.5, -1.25, 0, 2]', '[0.5, "x", 0, 2]'), 'weights[0]: the weight "x"'],
    [changed('[0.5, -1.25, 0, 2]', '[0.5, 1e999, 0, 2]'), 'weights[0]: the weight null'],
    [changed('[0.5, -1.25, 0, 2]', '3'), 'weights[0]: expected a list'],
    [changed('[0.5, -1.25, 0, 2]', '[], []'), 'expected a list with 1 vectors'],
    [
      changed('[0.5, -1.25, 0, 2]', '{ "columns": [2, 1], "values": [1, 1] }'),
      'weights[0]: column 1 after column 2; expected ascending columns below 4',
    ],
    [
      changed('[0.5, -1.25, 0, 2]', '{ "columns": [4], "values": [1] }'),
      'column 4 after column -1',
    ],
    [
      changed(/"intercepts": \[[^\]]*\]/, '"intercepts": [0, 0]'),
      'intercepts is [0,0]; expected one',
    ],
    [
      changed('"intercepts"', '"calibration": [], "intercepts"'),
      'calibration is []; expected one for',
    ],
    [changed('"d"\n', '4\n'), 'featureNames: expected a list of 4 strings'],
  ])('%#: the message has the position', (text, message) => {
    expect(() => importModel(text, 'm.json')).toThrow(expect.objectContaining({ kind: 'data' }));
    expect(() => importModel(text, 'm.json')).toThrow(message);
    expect(() => importModel(text, 'm.json')).toThrow('m.json');
  });

  test('more weights than memory holds', () => {
    const { weights: _, ...rest } = JSON.parse(exportModel(sampleModel(), 'json'));
    const classes = Array.from({ length: 3000 }, (_item, label) => label);
    const weights = classes.map(() => ({ columns: [], values: [] }));
    const intercepts = classes.map(() => 0);
    const huge = { ...rest, columns: 2 ** 31 - 1, classes, intercepts, weights };
    expect(() => importModel(JSON.stringify(huge), 'm.json')).toThrow(
      'm.json: 2147483647 columns in 3000 vectors are 51539.6 GB of weights',
    );
  });

  test('bytes that are no text', () => {
    expect(() => importModel(Uint8Array.of(0x7b, 0xff), 'm.json')).toThrow('not a text in UTF-8');
  });
});
