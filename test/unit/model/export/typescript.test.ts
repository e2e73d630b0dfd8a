import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NamedRow } from '../../../../src/data/fields/row-encoder.ts';
import { exportModel } from '../../../../src/model/export/index.ts';
import type { Model } from '../../../../src/model/model.ts';
import { givesProbabilities, predict } from '../../../../src/model/predict/predict.ts';
import type { Row } from '../../../../src/model/predict/predictor.ts';
import { Predictor } from '../../../../src/model/predict/predictor.ts';
import { sampleModel } from '../../../support/models.ts';
import { modelKinds, randomModel, randomRows } from '../../../support/random-models.ts';

/** What a written module exports. */
interface Written {
  readonly columns: number;
  scores(row: Row): number[];
  predict(row: Row): number | string;
  probabilities?(row: Row): number[];
}

const logistic = { name: 'logistic', parameter: 0 };
const fields = [
  { name: 'age', kind: 'number' },
  { name: 'city', kind: 'category' },
  { name: 'bought', kind: 'label' },
] as const;
const featureNames = ['age', 'city=Paris', 'city=?', 'age=?', 'city="Zürich"'];

const named: Readonly<Record<string, Model>> = {
  'names of a table': randomModel({ columns: 5, featureNames, recipe: { fields } }),
  'names of JSON lines': randomModel({ columns: 5, featureNames }),
  'names, missing is 0': randomModel({
    columns: 5,
    featureNames,
    recipe: { fields, missing: 'zero' },
  }),
  'hashes of a table': randomModel({ columns: 1024, recipe: { hashBits: 10, fields } }, 0.9),
  'hashes of JSON lines': randomModel({
    columns: 64,
    recipe: { hashBits: 6, missing: 'indicator' },
    unitRows: true,
  }),
};

const kinds: Readonly<Record<string, Model>> = {
  ...modelKinds,
  ...named,
  'many weights': randomModel({ columns: 3000, loss: logistic }),
  'many weights, sparse': randomModel({ columns: 9000, classes: ['a', 'b', 'c'] }, 0.2),
  'minus zero and extremes': sampleModel({
    weights: Float64Array.of(-0, 5e-324, 1e300, 0.1),
  }),
};
const names = Object.keys(kinds);
const folder = mkdtempSync(join(tmpdir(), 'dso-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The settings that a strict project may have; no declarations but those of the language. */
const settings = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitReturns: true,
    noPropertyAccessFromIndexSignature: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    target: 'es2022',
    lib: ['es2022'],
    types: [],
    module: 'esnext',
    moduleResolution: 'bundler',
    outDir: 'out',
  },
  include: ['*.ts'],
};

beforeAll(() => {
  for (const [index, name] of names.entries()) {
    writeFileSync(join(folder, `m${index}.ts`), exportModel(kinds[name], 'typescript'));
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const compiler = join(dirname(manifest), 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder]);
  expect(status, stdout.toString()).toBe(0);
});

async function written(name: string): Promise<Written> {
  const path = join(folder, 'out', `m${names.indexOf(name)}.js`);
  return (await import(pathToFileURL(path).href)) as Written;
}

describe.each(Object.entries(kinds))('%s', (name, model) => {
  const { rows, dataset } = randomRows(model.columns, 30);

  test('compiles, and has our scores, predictions and probabilities to the last bit', async () => {
    const module = await written(name);
    expect(rows.flatMap((row) => module.scores(row))).toEqual([
      ...predict(model, dataset, { output: 'scores' }),
    ]);
    expect(rows.map((row) => module.predict(row))).toEqual([...predict(model, dataset)]);
    const predictor = new Predictor(model);
    if (!givesProbabilities(model)) expect(module.probabilities).toBeUndefined();
    else {
      for (const row of rows) {
        expect(module.probabilities!(row)).toEqual(predictor.probabilities(row));
      }
    }
  });
});

describe.each(Object.entries(named))('%s', (name, model) => {
  const cases: readonly NamedRow[] = [
    {},
    { age: 31, city: 'Paris' },
    { city: 'Paris', age: '31.5' },
    { age: null, city: 'NA' },
    { age: true, city: '' },
    { age: 1e-30, city: '"Zürich"', bought: 1, colour: 'red', '日本 \u{1f600}': 2 },
    { 'city=Paris': 2, age: 0, height: 180 },
  ];

  test('reads named rows as the predictor does', async () => {
    const module = await written(name);
    const predictor = new Predictor(model);
    for (const row of cases) {
      if (row.age === '31.5' && model.recipe?.fields === undefined) continue;
      expect(module.scores(row)).toEqual(predictor.scores(row));
    }
  });

  test('refuses what is no number', async () => {
    const module = await written(name);
    expect(() => module.scores({ age: Infinity })).toThrow(/expected a number/);
    expect(() => module.scores([NaN])).toThrow(/expected a number/);
    expect(() => module.scores({ indices: [1, 2], values: [1] })).toThrow(/2 indices with 1/);
  });
});

test('sparse rows in any order, repeats added up', async () => {
  const module = await written('an SVM');
  const predictor = new Predictor(kinds['an SVM']);
  const row = { indices: [5, 2, 5, 900, 0], values: [0.1, 0.2, 0.3, 9, 1e-50] };
  expect(module.scores(row)).toEqual(predictor.scores(row));
});

test('exponentials over the whole range', async () => {
  const module = await written('poisson regression');
  const model = kinds['poisson regression'];
  const predictor = new Predictor(model);
  const [weight] = model.weights;
  for (let score = -760; score < 709; score += 7.3) {
    const row = [(score - model.intercepts[0]) / weight];
    expect(module.predict(row)).toBe(predictor.predict(row));
  }
  expect(() => module.predict([(720 - model.intercepts[0]) / weight])).toThrow(/too large/);
});

test('imports nothing and holds no name of a model outside base64, labels and comments', () => {
  const text = exportModel(
    sampleModel({ featureNames: ['`; throw 1; `', '*/ throw 2', 'c', 'd'], recipe: {} }),
    'typescript',
  );
  expect(text).not.toMatch(/\bimport\b|\brequire\b|node:|throw [12]/);
});

test('what a model file says in a comment does not become code', () => {
  for (const end of ['\n', '\r', '\u2028', '\u2029']) {
    const name = `x${end}throw 1;`;
    const text = exportModel(
      sampleModel({
        loss: { name, parameter: 0 },
        penalty: { name, l1: 0, l2: 1 },
        provenance: { version: name, data: name, options: {} },
      }),
      'typescript',
    );
    const lines = text.split(/[\n\r\u2028\u2029]/).filter((line) => line.includes('throw 1;'));
    expect(lines.map((line) => line.slice(0, 3))).toEqual(['// ', '// ']);
  }
});
