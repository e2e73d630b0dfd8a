import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'tsdown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeModel } from '../../../../src/model/file.ts';
import type { Model } from '../../../../src/model/model.ts';
import { predict } from '../../../../src/model/predict/predict.ts';
import type { Row } from '../../../../src/model/predict/predictor.ts';
import { modelKinds, randomModel, randomRows } from '../../../support/random-models.ts';

/** What a page would load: bytes of the minified module. */
const sizeLimit = 17_700;

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dso-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let code = '';

beforeAll(async () => {
  const { predict: configuration } = await import('../../../../tsdown.config.ts');
  await build({
    ...configuration,
    config: false,
    cwd: root,
    outDir: folder,
    dts: false,
    logLevel: 'error',
  });
  code = readFileSync(join(folder, 'predict.js'), 'utf8');
});

test('is one file, imports nothing, and is about 17 kB', () => {
  expect(readdirSync(folder)).toEqual(['predict.js']);
  expect(code).not.toMatch(/\bimport\b|\brequire\b|node:|\bprocess\b|\bBuffer\b/);
  expect(Buffer.byteLength(code)).toBeLessThan(sizeLimit);
});

/** The module as it runs where there is the language and nothing else but texts in UTF-8. */
function run(expression: string, given: Readonly<Record<string, unknown>>): unknown {
  const context = createContext({ TextEncoder, TextDecoder, ...given });
  const names = code.match(/export\{(.*)\};?\s*$/)![1];
  const exported = names.replace(/([\w$]+) as (\w+)/g, '$2: $1');
  const script = code.replace(/export\{.*\};?\s*$/, `globalThis.dso = {${exported}};`);
  runInContext(script, context);
  return JSON.parse(runInContext(`JSON.stringify(${expression})`, context) as string);
}

function inBareContext(model: Model, rows: readonly Row[], method: string): (number | string)[] {
  const bytes = [...encodeModel(model)];
  return run(
    `JSON.parse(rows).map((row) => dso.loadModel(Uint8Array.from(bytes)).${method}(row)).flat()`,
    { bytes, rows: JSON.stringify(rows) },
  ) as (number | string)[];
}

test.each(Object.entries(modelKinds))('%s in a context without Node', (_, model) => {
  const { rows, dataset } = randomRows(model.columns, 8);
  expect(inBareContext(model, rows, 'predict')).toEqual([...predict(model, dataset)]);
  const scores = predict(model, dataset, { output: 'scores' });
  expect(inBareContext(model, rows, 'scores')).toEqual([...scores]);
});

test('hashed names in a context without Node', () => {
  const model = randomModel({ columns: 64, recipe: { hashBits: 6 } });
  const [named] = inBareContext(model, [{ age: 2 }], 'score');
  const [unnamed] = inBareContext(model, [{}], 'score');
  expect(named).not.toBe(unnamed);
});
