import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  type ExportFormat,
  exportFormats,
  exportModel,
} from '../../../../src/model/export/index.ts';
import { typescriptModule } from '../../../../src/model/export/typescript.ts';
import type { Model } from '../../../../src/model/model.ts';
import { sampleModel } from '../../../support/models.ts';

/*
 * Files that each format had when it was last changed on purpose. DSO_UPDATE_GOLDEN=1 writes them
 * anew; read the difference before it is committed.
 */
const update = process.env.DSO_UPDATE_GOLDEN === '1';
const folder = fileURLToPath(new URL('../../../golden/export/', import.meta.url));

/** Endings under which no tool takes the files for code of this project. */
const endings: Readonly<Record<ExportFormat, string>> = {
  onnx: 'onnx',
  liblinear: 'liblinear',
  'vw-readable': 'vw.txt',
  json: 'json.txt',
  pmml: 'pmml',
  csv: 'csv',
  typescript: 'ts.txt',
};

/** Two classes with texts for labels, names of features, calibrated. */
const table = sampleModel({
  classes: ['no', 'yes, "often"'],
  intercepts: Float64Array.of(-0.375),
  featureNames: ['age', 'city=Paris', 'city=?', 'note="a, b" <&>'],
  recipe: {
    fields: [
      { name: 'age', kind: 'number' },
      { name: 'city', kind: 'category' },
      { name: 'note', kind: 'category' },
      { name: 'bought', kind: 'label' },
    ],
  },
  calibration: [{ method: 'platt', slope: -1.5, offset: 0.25 }],
  provenance: { version: '0.1.0', data: 'c0ffee', options: { calibrate: 'platt', lambda: 1e-4 } },
});

/** Three classes with numbers for labels, few weights, no names. */
const digits = sampleModel({
  classes: [1, 2, 10],
  loss: { name: 'logistic', parameter: 0 },
  columns: 6,
  weights: Float64Array.of(0, 1.5, 0, 0, 0, 0, -0.1, 0, 0, 0, 1e-7, 0, 0, 0, 2, 0, 0, 1e21),
  intercepts: Float64Array.of(0.5, 0, -3),
});

const cases: readonly (readonly [string, Model, ExportFormat])[] = [
  ...exportFormats.map((format) => ['digits', digits, format] as const),
  ...exportFormats
    .filter((format) => format !== 'liblinear')
    .map((format) => ['table', table, format] as const),
];

describe('golden files', () => {
  test.each(cases)('%s as %3$s', (name, model, format) => {
    // The predictor in the module is the code of dso/predict, which has tests of its own.
    const found =
      format === 'typescript'
        ? Buffer.from([...typescriptModule(model, '/* dso/predict */')].join(''))
        : Buffer.from(exportModel(model, format));
    const path = `${folder}${name}.${endings[format]}`;
    if (update) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, found);
    }
    if (format === 'onnx') expect(found.equals(readFileSync(path))).toBe(true);
    else expect(found.toString()).toBe(readFileSync(path, 'utf8'));
  });
});
