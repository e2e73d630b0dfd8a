import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { UsageError } from '../../../src/errors.ts';
import { encodeModel } from '../../../src/model/file.ts';
import { type ClassificationMetrics, evaluate } from '../../../src/model/metrics/evaluate.ts';
import { predict } from '../../../src/model/predict/predict.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { describeModel } from '../../../src/reporting/text/model.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { startFromModel } from '../../../src/train/warm-start.ts';
import { zipfDataset } from '../../support/data.ts';

const logistic = { loss: losses.logistic(), intercept: true, threads: 1 } as const;

/** Rows of two words, every `period`th of which is the rare one, up to what the data says. */
function wordsOf(first: string, rare: string, period: number): Dataset {
  const data = zipfDataset({ rows: 200, columns: 30, perRow: 6 });
  let row = 0;
  const parts = data.parts.map((part) => ({
    ...part,
    labels: part.labels.map((label) => Number(label > 0 && row++ % period === 0)),
  }));
  return { ...data, parts, labelNames: [first, rare] };
}

const data = wordsOf('ok', 'fraud', 2);
const trained = (dataset: Dataset, options: TrainOptions = {}) =>
  train(dataset, { ...logistic, ...options });

test('is the rarer one of all rows, and in the report', async () => {
  const { model, report } = await trained(data);
  expect(model.classes).toEqual(['ok', 'fraud']);
  expect(report.positive).toBe('fraud');
  const held = await trained(data, { holdout: 0.3, threads: 2 });
  expect(held.report.test).toMatchObject({ positive: 'fraud' });
});

test('may be the other one: the same labels, scores of the other sign', async () => {
  const { model } = await trained(data, { tolerance: 1e-9 });
  const other = await trained(data, { tolerance: 1e-9, positive: 'ok' });
  expect(other.model.classes).toEqual(['fraud', 'ok']);
  expect(predict(other.model, data)).toEqual(predict(model, data));
  const [scores, turned] = [model, other.model].map((one) =>
    predict(one, data, { output: 'scores' }),
  );
  for (const [row, score] of scores.entries()) expect(turned[row]).toBeCloseTo(-score, 3);
});

test('is stored in the model, with the option that asked for it', async () => {
  const { model } = await trained(data, { positive: 'ok' });
  expect(model.provenance?.options.positive).toBe('ok');
  const again = await trained(data, { positive: 'ok', threads: 2 });
  expect(encodeModel(again.model)).toEqual(encodeModel(model));
});

describe('a warm start', () => {
  // Here the other word is rarer.
  const later = wordsOf('fraud', 'ok', 2);

  test('keeps that of the model', async () => {
    const { model } = await trained(data);
    expect((await trained(later)).model.classes).toEqual(['fraud', 'ok']);
    const start = startFromModel(model, later);
    expect(start.positive).toBe('fraud');
    expect(start.weights).toEqual(model.weights);
    const { model: next } = await trained(later, { start });
    expect(next.classes).toEqual(['ok', 'fraud']);
  });

  test('turns the weights where the other one is asked for', async () => {
    const { model } = await trained(data);
    const start = startFromModel(model, data, { positive: 'ok' });
    expect(start.positive).toBe('ok');
    expect(start.weights).toEqual(model.weights.map((weight) => 0 - weight));
    expect(start.intercepts).toEqual(model.intercepts.map((value) => 0 - value));
    const { model: next } = await trained(data, { start, positive: 'ok' });
    expect(next.classes).toEqual(['fraud', 'ok']);
    expect(next.certificate.epochs).toBeLessThan(5);
  });
});

describe('a threshold', () => {
  test('is stored as it is given', async () => {
    const { model, report } = await trained(data, { threshold: 0.25, holdout: 0.3 });
    expect(model.threshold).toBe(0.25);
    expect(model.provenance?.options.threshold).toBe(0.25);
    expect(report.test).toMatchObject({ threshold: 0.25 });
  });

  test('is chosen on rows held out in turn, alike on any number of threads', async () => {
    const options = { thresholdFor: 'recall=0.9' } as const;
    const [one, two] = [
      await trained(data, options),
      await trained(data, { ...options, threads: 2 }),
    ];
    expect(encodeModel(two.model)).toEqual(encodeModel(one.model));
    const { threshold } = one.model;
    expect(one.report.threshold).toBe(threshold);
    const shown = Number(/^threshold +(\S+)$/m.exec(describeModel(one.model))?.[1]);
    expect(shown).toBeCloseTo(threshold!, 5);
    expect(threshold).toBeGreaterThan(0);
    expect(threshold).toBeLessThan(1);
    expect(one.model.provenance?.options['threshold-for']).toBe('recall=0.9');
    const plain = await trained(data);
    expect(one.model.weights).toEqual(plain.model.weights);
    const { recall } = evaluate(one.model, data) as ClassificationMetrics;
    const before = evaluate(plain.model, data) as ClassificationMetrics;
    expect(recall).toBeGreaterThan(before.recall);
  });

  test('that cannot be reached leaves the default, with a warning', async () => {
    const warnings: string[] = [];
    const onNotice = (message: string, isWarning?: boolean) => {
      if (isWarning) warnings.push(message);
    };
    const noise = wordsOf('ok', 'rare', 7);
    const { model } = await trained(noise, { thresholdFor: 'precision=1', lambda: 100, onNotice });
    expect(model.threshold).toBeUndefined();
    expect(warnings).toEqual([
      'no threshold reaches precision=1 on the rows held out: the default stays',
    ]);
  });

  test('of a probability is left out where the calibration is lost', async () => {
    const warnings: string[] = [];
    const onNotice = (message: string, isWarning?: boolean) => {
      if (isWarning) warnings.push(message);
    };
    const given = { threshold: 0.9, calibrate: { method: 'platt' }, onNotice, time: 1e-9 } as const;
    const lost = await trained(data, { ...given, loss: losses.hinge() });
    expect(lost.model).not.toHaveProperty('calibration');
    expect(lost.model).not.toHaveProperty('threshold');
    expect(warnings).toContain(
      'no threshold: 0.9 is one of a calibrated probability, and there is none',
    );
    expect((await trained(data, given)).model.threshold).toBe(0.9);
  });

  test('does not depend on rows of weight 0 where it is chosen', async () => {
    // Every other row counts nothing; what it holds is of no matter.
    const chosenWith = async (factor: number) => {
      const parts = data.parts.map((part) => {
        const values = part.values.slice();
        for (let row = 1; row < part.labels.length; row += 2) {
          const own = values.subarray(part.rowOffsets[row], part.rowOffsets[row + 1]);
          own.set(own.map((value) => factor * value));
        }
        return {
          ...part,
          values,
          weights: Float64Array.from(part.labels, (_, row) => 1 - (row % 2)),
        };
      });
      const { model } = await trained({ ...data, parts }, { thresholdFor: 'f1', tolerance: 1e-9 });
      return model.threshold;
    };
    expect(await chosenWith(-3)).toBeCloseTo((await chosenWith(1))!, 6);
  });

  test('is for two classes', async () => {
    const three = { ...data, labelNames: undefined } as unknown as Dataset;
    const options = { loss: losses.square(), threshold: 1 };
    await expect(trained(three, options)).rejects.toThrow('a threshold is for two classes');
    const both = { threshold: 1, thresholdFor: 'f1' } as const;
    await expect(trained(data, both)).rejects.toThrow('give threshold or thresholdFor, not both');
  });
});

test('is for classification', async () => {
  const numbers = { ...data, labelNames: undefined } as unknown as Dataset;
  await expect(trained(numbers, { loss: losses.square(), positive: 1 })).rejects.toThrow(
    new UsageError('a positive class is for classification; the square loss is not'),
  );
});
