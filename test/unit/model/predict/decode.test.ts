import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { decodeModel, encodeModel } from '../../../../src/model/file.ts';
import { predict } from '../../../../src/model/predict/predict.ts';
import { sha256 } from '../../../../src/model/predict/sha256.ts';
import { loadModel } from '../../../../src/predict.ts';
import { sampleModel } from '../../../support/models.ts';
import { randomModel, randomRows } from '../../../support/random-models.ts';

const folder = new URL('../golden/', import.meta.url);

describe('model files of every version', () => {
  test.each(readdirSync(folder))('%s', (name) => {
    const bytes = readFileSync(new URL(name, folder));
    const model = decodeModel(bytes, name);
    const indices = Array.from({ length: model.columns }, (_, column) => column);
    const row = { indices, values: indices.map((column) => column + 0.5) };
    const expected = predict(model, datasetFromRows({ rows: [row], labels: [0] }), {
      output: 'scores',
    });
    expect(loadModel(bytes).scores(row)).toEqual([...expected]);
    expect(loadModel(bytes).classes).toEqual(model.classes);
  });
});

test('reads sparse weights of several vectors, names, and an ArrayBuffer', () => {
  const featureNames = Array.from({ length: 400 }, (_, column) => `n"${column}\n`);
  const model = randomModel({ columns: 400, classes: [1, 2, 3], featureNames }, 0.05);
  const bytes = encodeModel(model);
  const buffer = Uint8Array.from(bytes).buffer;
  const { rows, dataset } = randomRows(400, 5);
  const expected = [...predict(model, dataset, { output: 'scores' })];
  expect(rows.flatMap((row) => loadModel(buffer).scores(row))).toEqual(expected);
  const { indices, values } = rows[1];
  const named = Object.fromEntries(
    Array.from(indices, (column, entry) => [`n"${column}\n`, values[entry]]),
  );
  expect(loadModel(bytes).scores(named)).toEqual(expected.slice(3, 6));
});

describe('a damaged file', () => {
  const bytes = encodeModel(sampleModel({ featureNames: ['a', 'b', 'c', 'd'] }));

  test('one changed bit anywhere, or any missing byte, is an error', () => {
    for (let offset = 0; offset < bytes.length; offset++) {
      const damaged = Uint8Array.from(bytes);
      damaged[offset] ^= 1;
      expect(() => loadModel(damaged), `byte ${offset}`).toThrow(
        expect.objectContaining({ kind: 'data' }),
      );
      expect(() => loadModel(bytes.subarray(0, offset)), `${offset} bytes`).toThrow();
    }
  });

  test('says what is wrong', () => {
    const text = Buffer.from(bytes).toString('latin1');
    const load = (changed: string) => loadModel(Buffer.from(changed, 'latin1'));
    expect(() => load('hello')).toThrow('not a dso model: it begins with "hello"');
    expect(() => load(text.replace('dso-model 2', 'dso-model 3'))).toThrow(
      'model format 3; this dso reads 1 to 2',
    );
    expect(() => load(`${text}x`)).toThrow('bytes follow its end');
    expect(() => load(text.slice(0, -1))).toThrow('truncated model: feature names');
  });

  test('verify: false spares the checksums', () => {
    const changed = Buffer.from(bytes).toString('latin1').replace('"seed": 1', '"seed": 2');
    const other = Buffer.from(changed, 'latin1');
    expect(() => loadModel(other)).toThrow(/checksum of the header/);
    expect(loadModel(other, { verify: false }).columns).toBe(4);
  });
});

test.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000])('SHA-256 of %i bytes', (length) => {
  const bytes = Uint8Array.from({ length }, (_, offset) => (offset * 37 + 11) & 0xff);
  expect(sha256(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'));
});
