/** A table with the default options gives what the same pipeline of scikit-learn gives. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type ClassificationMetrics, evaluate } from '../../src/model/metrics/evaluate.ts';
import { predict } from '../../src/model/predict/predict.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { readDataset } from '../../src/train/read.ts';
import { train } from '../../src/train/train.ts';

const reference = JSON.parse(readFileSync(new URL('table.json', import.meta.url), 'utf8')) as {
  readonly provenance: string;
  readonly rate: number;
  readonly error: number;
  readonly auc: number;
  readonly averagePrecision: number;
  readonly logLoss: number;
  readonly brier: number;
  readonly probabilities: readonly number[];
};

test(`the defaults for tables agree with ${reference.provenance.split(',')[0]}`, async () => {
  const table = await readDataset(fileURLToPath(new URL('table.csv', import.meta.url)));
  const options = { loss: losses.logistic(), tolerance: 1e-11, threads: 1 };
  const { model } = await train(table, options);
  expect(model.provenance?.options).toMatchObject({ intercept: true, scale: 'std' });
  expect(model.classes).toEqual(['stayed', 'left']);
  const probabilities = predict(model, table, { output: 'probabilities' });
  for (const [row, expected] of reference.probabilities.entries()) {
    expect(probabilities[row]).toBeCloseTo(expected, 5);
  }
  const found = evaluate(model, table) as ClassificationMetrics;
  expect(found.positive).toBe('left');
  expect(found.error).toBeCloseTo(reference.error, 12);
  expect(found.auc).toBeCloseTo(reference.auc, 4);
  expect(found.auprc).toBeCloseTo(reference.averagePrecision, 3);
  expect(found.logLoss).toBeCloseTo(reference.logLoss, 6);
  expect(found.brier).toBeCloseTo(reference.brier, 6);
});
