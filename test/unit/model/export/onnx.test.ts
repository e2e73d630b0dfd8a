import * as onnxruntime from 'onnxruntime-web';
import { describe, expect, test } from 'vitest';
import { exportModel } from '../../../../src/model/export/index.ts';
import type { Model } from '../../../../src/model/model.ts';
import { givesProbabilities, predict } from '../../../../src/model/predict/predict.ts';
import { sampleModel } from '../../../support/models.ts';
import { modelKinds, randomModel, randomRows } from '../../../support/random-models.ts';

type Values = ArrayLike<number | bigint | string>;

/** What onnxruntime makes of the exported model. */
async function run(model: Model, rows: Float32Array): Promise<Record<string, Values>> {
  const session = await onnxruntime.InferenceSession.create(exportModel(model, 'onnx'));
  const count = rows.length / model.columns;
  const x = new onnxruntime.Tensor('float32', rows, [count, model.columns]);
  const outputs = await session.run({ x });
  await session.release();
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { data }]) => [name, data as Values]),
  );
}

/** Largest difference, relative to the largest of the expected numbers or 1. */
function difference(found: Values, expected: ArrayLike<number>): number {
  expect(found).toHaveLength(expected.length);
  const scale = Math.max(1, ...Array.from(expected, Math.abs));
  return (
    Math.max(...Array.from(expected, (value, i) => Math.abs(Number(found[i]) - value))) / scale
  );
}

/** ONNX gives a number per class; of two classes our score and probability are those of one. */
function byClass(model: Model, values: Float64Array, other: (value: number) => number): number[] {
  const two = model.classes?.length === 2 && !model.multiLabel;
  return [...values].flatMap((value) => (two ? [other(value), value] : [value]));
}

describe.each(Object.entries(modelKinds))('%s', (_, model) => {
  const { dataset, dense } = randomRows(model.columns, 40);

  test('gives our scores and predictions in onnxruntime, to 1e-6', async () => {
    const found = await run(model, dense);
    const labels = predict(model, dataset);
    if (model.classes === undefined) {
      expect(difference(found.prediction, labels as Float64Array)).toBeLessThan(1e-6);
      return;
    }
    const scores = predict(model, dataset, { output: 'scores' });
    const expected = byClass(model, scores, (score) => -score);
    expect(difference(found.scores, expected)).toBeLessThan(1e-6);
    if (model.multiLabel) expect(found).not.toHaveProperty('label');
    else expect(Array.from(found.label, String)).toEqual(Array.from(labels, String));
  });

  if (givesProbabilities(model))
    test('gives our probabilities, to 1e-6', async () => {
      const { probabilities } = await run(model, dense);
      const expected = predict(model, dataset, { output: 'probabilities' });
      // A steep piece of an isotonic curve multiplies the error of the score.
      const steep = model.calibration?.some(({ method }) => method === 'isotonic') ? 1e-5 : 1e-6;
      expect(
        difference(
          probabilities,
          byClass(model, expected, (p) => 1 - p),
        ),
      ).toBeLessThan(steep);
    });
});

test('shares probabilities out where all of them are tiny', async () => {
  const model = randomModel({
    classes: [1, 2, 3],
    loss: { name: 'logistic', parameter: 0 },
    columns: 1,
    weights: Float64Array.of(-60, -61, -62),
    intercepts: new Float64Array(3),
  });
  const { probabilities } = await run(model, Float32Array.of(1));
  const rest = 1 + Math.exp(-1) + Math.exp(-2);
  expect(
    difference(probabilities, [1 / rest, Math.exp(-1) / rest, Math.exp(-2) / rest]),
  ).toBeLessThan(1e-6);
});

test('labels are int64 where they are whole numbers, otherwise texts', async () => {
  const row = new Float32Array(4);
  expect((await run(sampleModel(), row)).label[0]).toBe(-1n);
  expect((await run(sampleModel({ classes: [0.5, 1] }), row)).label[0]).toBe('0.5');
  expect((await run(sampleModel({ classes: ['no', 'yes'] }), row)).label[0]).toBe('no');
});

test('holds provenance, certificate and names as metadata', () => {
  const text = Buffer.from(
    exportModel(
      sampleModel({
        featureNames: ['age', 'city=Paris', 'c', 'd'],
        provenance: { version: '9.8.7', data: 'cafe', options: { lambda: 1e-4 } },
      }),
      'onnx',
    ),
  ).toString('latin1');
  for (const expected of [
    'dso.gap',
    '0.00023',
    '9.8.7',
    'cafe',
    '{"lambda":0.0001}',
    '"city=Paris"',
  ]) {
    expect(text).toContain(expected);
  }
});

test('leaves out names that would make the metadata huge', () => {
  const columns = 2000;
  const featureNames = Array.from({ length: columns }, (_, column) => `${column}`.padEnd(600, 'x'));
  const model = sampleModel({ columns, featureNames, weights: new Float64Array(columns) });
  expect(exportModel(model, 'onnx').length).toBeLessThan(columns * 8 + 2000);
});

test('refuses what does not fit: 2 GB, 32-bit floats', () => {
  const huge = sampleModel({ columns: 2 ** 28 });
  expect(() => exportModel(huge, 'onnx')).toThrow(/2147483648 bytes of weights.*ends at 2 GB/);
  const large = sampleModel({ weights: Float64Array.of(1, -1e39, 0, 0) });
  expect(() => exportModel(large, 'onnx')).toThrow(/-1e\+39 does not fit 32-bit floats|1e\+39/);
});
