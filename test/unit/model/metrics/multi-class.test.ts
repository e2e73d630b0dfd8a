import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../../src/data/dataset.ts';
import { DataError } from '../../../../src/errors.ts';
import {
  evaluate,
  type MulticlassMetrics,
  type MultiLabelMetrics,
} from '../../../../src/model/metrics/evaluate.ts';
import {
  plainClasses,
  sampleDataset,
  sampleModel,
  scoredDataset,
} from '../../../support/models.ts';
import { fc } from '../../../support/property.ts';

/** Four columns, so that a row's entries are its scores. */
const identity = Float64Array.from({ length: 16 }, (_, k) => (k % 5 === 0 ? 1 : 0));
const four = plainClasses([0, 0, 0, 0], { columns: 4, weights: identity });
const logistic = { name: 'logistic', parameter: 0 };

function rowsOf(scores: readonly (readonly number[])[], labels: readonly number[]): Dataset {
  return sampleDataset(
    scores.map((row, index) => ({
      label: labels[index],
      entries: row.map((score, column) => [column, score] as const),
    })),
  );
}

const names = ['c0', 'c1', 'c2', 'c3'];
const score = fc.integer({ min: -16, max: 16 }).map((eighths) => eighths / 8);
const sample = fc.array(
  fc.tuple(fc.tuple(score, score, score, score), fc.integer({ min: 0, max: 3 })),
  { minLength: 1, maxLength: 40 },
);

describe('several classes agree with the definitions', () => {
  test('accuracy, precision, recall, F1, confusion', () => {
    fc.assert(
      fc.property(sample, (rows) => {
        const scores = rows.map(([row]) => row);
        const labels = rows.map(([, label]) => label);
        const found = evaluate(four, {
          ...rowsOf(scores, labels),
          labelNames: names,
        }) as MulticlassMetrics;
        const predicted = scores.map((row) => row.indexOf(Math.max(...row)));
        const count = (keep: (row: number) => boolean) => [...rows.keys()].filter(keep).length;
        const f1s = names.map((name, k) => {
          const support = count((row) => labels[row] === k);
          const called = count((row) => predicted[row] === k);
          const right = count((row) => labels[row] === k && predicted[row] === k);
          const precision = called === 0 ? 0 : right / called;
          const recall = support === 0 ? 0 : right / support;
          const f1 = right === 0 ? 0 : (2 * precision * recall) / (precision + recall);
          expect(found.classes[k]).toEqual({
            class: name,
            support,
            predicted: called,
            precision,
            recall,
            f1: expect.closeTo(f1, 14),
          });
          return { f1, support, met: support + called > 0 };
        });
        const right = count((row) => labels[row] === predicted[row]);
        expect(found.accuracy).toBe(right / rows.length);
        expect(found.error).toBe((rows.length - right) / rows.length);
        const met = f1s.filter((one) => one.met);
        const macro = met.reduce((sum, { f1 }) => sum + f1, 0) / met.length;
        const weighted = f1s.reduce((sum, one) => sum + one.f1 * one.support, 0) / rows.length;
        expect(found.macroF1).toBeCloseTo(macro, 13);
        expect(found.weightedF1).toBeCloseTo(weighted, 13);
        for (const { label, predicted: called, rows: cell } of found.confusion) {
          const [i, j] = [names.indexOf(String(label)), names.indexOf(String(called))];
          expect(cell).toBe(count((row) => labels[row] === i && predicted[row] === j));
        }
        expect(found.confusion.reduce((sum, cell) => sum + cell.rows, 0)).toBe(rows.length);
        expect(found).toMatchObject({ task: 'multi-class', rows: rows.length, logLoss: null });
      }),
    );
  });

  test('macro AUC is the mean over the classes that occur', () => {
    fc.assert(
      fc.property(sample, (rows) => {
        const labels = rows.map(([, label]) => label);
        const dataset = rowsOf(
          rows.map(([row]) => row),
          labels,
        );
        const { auc } = evaluate(four, { ...dataset, labelNames: names }) as MulticlassMetrics;
        const areas = [...new Set(labels)].map((k) => {
          const own = rows.filter(([, label]) => label === k).map(([row]) => row[k]);
          const others = rows.filter(([, label]) => label !== k).map(([row]) => row[k]);
          const right = own.flatMap((high): number[] =>
            others.map((low) => (high > low ? 1 : high === low ? 0.5 : 0)),
          );
          return right.reduce((sum, part) => sum + part, 0) / right.length;
        });
        if (areas.length === 1) expect(auc).toBeNull();
        else {
          const mean = areas.reduce((sum, area) => sum + area, 0) / areas.length;
          expect(auc).toBeCloseTo(mean, 12);
        }
      }),
    );
  });

  test('log loss and Brier score, of shares that sum to 1', () => {
    const scores = [
      [1, -1, 0.5, -2],
      [-3, 2, 0, 1],
    ];
    const labels = [2, 1];
    const shares = scores.map((row) => {
      const each = row.map((u) => 1 / (1 + Math.exp(-u)));
      const sum = each.reduce((total, p) => total + p, 0);
      return each.map((p) => p / sum);
    });
    const dataset = { ...rowsOf(scores, labels), labelNames: names };
    const logLoss = -(Math.log(shares[0][2]) + Math.log(shares[1][1])) / 2;
    const plain = evaluate({ ...four, loss: logistic }, dataset) as MulticlassMetrics;
    expect(plain.logLoss).toBeCloseTo(logLoss, 14);
    expect(evaluate(four, dataset)).not.toHaveProperty('brier');
    const calibration = names.map(() => ({ method: 'platt', slope: -1, offset: 0 }) as const);
    const found = evaluate({ ...four, calibration }, dataset) as MulticlassMetrics;
    const squares = shares.map((row, index) =>
      row.reduce((sum, p, k) => sum + (p - (k === labels[index] ? 1 : 0)) ** 2, 0),
    );
    expect(found.logLoss).toBeCloseTo(logLoss, 14);
    expect(found.brier).toBeCloseTo((squares[0] + squares[1]) / 2, 14);
  });
});

describe('labels find their classes', () => {
  const three = plainClasses([1, 2, -1], { classes: [1, 2, 10] });
  const texts = plainClasses([1, 2, -1], { classes: ['1', '2', '10'] });

  test('numbers by value, texts as written, and each by the other', () => {
    const numbers = scoredDataset([-1, 1, 1], [10, 2, 1]);
    const named = { ...scoredDataset([-1, 1, 1], [2, 0, 1]), labelNames: ['2', '1', '10'] };
    for (const model of [three, texts]) {
      for (const dataset of [numbers, named]) {
        expect(evaluate(model, dataset)).toMatchObject({ accuracy: 2 / 3 });
      }
    }
    const written = { ...named, labelNames: ['2.0', '+1', '1e1'] };
    expect(evaluate(three, written)).toMatchObject({ accuracy: 2 / 3 });
    expect(() => evaluate(texts, written)).toThrow('labels "1e1", "2.0", "+1" (first in row 1)');
  });

  test('two classes may have texts', () => {
    const model = sampleModel({ weights: Float64Array.of(1), classes: ['ham', 'spam'] });
    const dataset = { ...scoredDataset([-1, 2, 1], [1, 0, 1]), labelNames: ['spam', 'ham'] };
    expect(evaluate(model, dataset)).toMatchObject({
      task: 'classification',
      confusion: { truePositive: 1, falsePositive: 1, trueNegative: 1, falseNegative: 0 },
    });
  });

  test('unknown ones are an error that names them', () => {
    const dataset = { ...scoredDataset([1, 1], [0, 1]), labelNames: ['c1', 'cat'] };
    expect(() => evaluate(plainClasses([1, 1, 1]), dataset)).toThrow(DataError);
    expect(() => evaluate(plainClasses([1, 1, 1]), dataset)).toThrow(
      'sample.svm: the model does not know label "cat" (first in row 2); ' +
        'its classes are "c0", "c1", "c2"',
    );
    expect(() => evaluate(plainClasses(new Array(9).fill(1)), dataset)).toThrow(
      'its classes are "c0", "c1", "c2", "c3", "c4", … (9 in all)',
    );
  });
});

describe('multi-label', () => {
  const model = plainClasses([0, 0, 0, 0], {
    columns: 4,
    weights: identity,
    classes: ['a', 'b', 'c', 'd'],
    multiLabel: true,
  });

  test('agrees with the definitions', () => {
    const truths = ['', 'a', 'b,a', 'c,d', 'a,b,c,d'];
    const rowsAndSets = fc.array(
      fc.tuple(fc.tuple(score, score, score, score), fc.integer({ min: 0, max: 4 })),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(
      fc.property(rowsAndSets, (rows) => {
        const dataset = rowsOf(
          rows.map(([row]) => row),
          rows.map(([, label]) => label),
        );
        const found = evaluate(model, { ...dataset, labelNames: truths }) as MultiLabelMetrics;
        const has = rows.map(([, label]) =>
          ['a', 'b', 'c', 'd'].map((k) => truths[label].includes(k)),
        );
        const called = rows.map(([row]) => row.map((u) => u > 0));
        const tally = { both: 0, has: 0, called: 0, wrong: 0 };
        const f1s = [0, 1, 2, 3].map((k) => {
          const both = rows.filter((_, i) => has[i][k] && called[i][k]).length;
          const support = rows.filter((_, i) => has[i][k]).length;
          const predicted = rows.filter((_, i) => called[i][k]).length;
          tally.both += both;
          tally.has += support;
          tally.called += predicted;
          tally.wrong += rows.filter((_, i) => has[i][k] !== called[i][k]).length;
          expect(found.classes[k]).toMatchObject({ support, predicted });
          return support + predicted === 0 ? 0 : (2 * both) / (support + predicted);
        });
        const all = tally.has + tally.called;
        expect(found.microF1).toBeCloseTo(all === 0 ? 0 : (2 * tally.both) / all, 14);
        expect(found.macroF1).toBeCloseTo((f1s[0] + f1s[1] + f1s[2] + f1s[3]) / 4, 14);
        expect(found.hammingLoss).toBe(tally.wrong / (4 * rows.length));
        const exact = rows.filter((_, i) => has[i].every((yes, k) => yes === called[i][k])).length;
        expect(found.subsetAccuracy).toBe(exact / rows.length);
      }),
    );
  });

  test('numbers name one class each; unknown ones are named', () => {
    const numbered = { ...model, classes: [1, 2, 3, 4] };
    const dataset = rowsOf([[1, -1, -1, -1]], [1]);
    expect(evaluate(numbered, dataset)).toMatchObject({ subsetAccuracy: 1, hammingLoss: 0 });
    const unknown = { ...rowsOf([[1, 0, 0, 0]], [0]), labelNames: ['a, z'] };
    expect(() => evaluate(model, unknown)).toThrow('does not know label "z" (first in row 1)');
  });
});
