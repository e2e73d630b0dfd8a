import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../src/data/from-arrays.ts';
import {
  type Classes,
  classesFrom,
  classesOf,
  countLabels,
  isSameLabel,
  type Label,
  sumCounts,
  targetsOf,
} from '../../../src/data/labels.ts';
import { DataError, UsageError } from '../../../src/errors.ts';

test.each<[Label, Label, boolean]>([
  [0, '0', true],
  [1, ' +1.0', true],
  ['1', 1, true],
  [0, ' ', false],
  [0, '', false],
  [0, '0x0', false],
  ['NaN', 'other', false],
])('%j is the same as %j: %s', (label, given, same) => {
  expect(isSameLabel(label, given)).toBe(same);
});

function labelled(labels: number[]): Dataset {
  const rows = labels.map(() => ({ indices: [], values: [] }));
  return datasetFromRows({ rows, labels, name: 'train.svm' });
}

/** The same rows in two parts. */
function inParts(first: number[], second: number[]): Dataset {
  const parts = [...labelled(first).parts, ...labelled(second).parts];
  return { ...labelled(first), parts, rows: first.length + second.length };
}

describe('classes', () => {
  test.each([
    [
      [1, -1, 1],
      [-1, 1],
    ],
    [
      [0, 1, 0],
      [0, 1],
    ],
    [
      [2, 1],
      [1, 2],
    ],
    [
      [0.5, -7.25, 0.5],
      [0.5, -7.25],
    ],
  ])('of %j', (labels, classes) => {
    expect(classesOf(labelled(labels))).toEqual(classes);
  });

  test('found in different parts', () => {
    expect(classesOf(inParts([3, 3], [1]))).toEqual([3, 1]);
  });

  test('of whole numbers and of words may be many', () => {
    expect(classesOf(labelled([3, 10, 2, 3]))).toEqual([2, 3, 10]);
    const words = { ...labelled([1, 0, 2, 1]), labelNames: ['pear', 'Apple', 'fig'] };
    expect(classesOf(words)).toEqual(['Apple', 'fig', 'pear']);
  });

  test.each([
    [[1, 1], 'train.svm: all labels are 1; classification needs at least two classes'],
    [
      [3, 1, 2.5, 7],
      'train.svm: labels 1, 2.5, 3, … are not whole numbers; classes are two numbers, whole numbers or words (use a regression loss, as --loss square, for real-valued labels)',
    ],
    [
      Array.from({ length: 100_002 }, (_, row) => row),
      'train.svm: labels 0, 1, 2, … (more than 100000 classes); use a regression loss, as --loss square, for real-valued labels',
    ],
  ])('rejected %#', (labels, message) => {
    expect(() => classesOf(labelled(labels))).toThrow(new DataError(message));
  });
});

describe('the positive class', () => {
  const words = (...texts: string[]) => {
    const labelNames = [...new Set(texts)];
    return { ...labelled(texts.map((text) => labelNames.indexOf(text))), labelNames };
  };

  test.each<[Dataset, readonly Label[]]>([
    [labelled([1, -1, 1, 1]), [-1, 1]],
    [labelled([1, 0, 0]), [0, 1]],
    [labelled([1, 2, 2]), [2, 1]],
    [labelled([1, 1, 2]), [1, 2]],
    [labelled([1, 2]), [1, 2]],
    [words('fraud', 'ok', 'ok'), ['ok', 'fraud']],
    [words('fraud', 'fraud', 'ok'), ['fraud', 'ok']],
    [words('spam', 'ham'), ['ham', 'spam']],
    [words('True', 'False', 'True'), ['False', 'True']],
    [words('no', 'yes', 'yes'), ['no', 'yes']],
    [words('1', '0', '1'), ['0', '1']],
  ])('by name, else the rarer one: %#', (dataset, classes) => {
    expect(classesOf(dataset)).toEqual(classes);
  });

  test.each<[Dataset, Label, readonly Label[]]>([
    [labelled([1, -1, 1]), -1, [1, -1]],
    [labelled([1, -1, 1]), '-1.0', [1, -1]],
    [words('fraud', 'ok', 'ok'), 'ok', ['fraud', 'ok']],
    [words('yes', 'no'), 'no', ['yes', 'no']],
  ])('as asked for: %#', (dataset, positive, classes) => {
    expect(classesOf(dataset, positive)).toEqual(classes);
  });

  test('that the data does not have is refused, and so is one of several', () => {
    const message = 'the positive class is frau; the classes are fraud and ok; did you mean fraud?';
    expect(() => classesOf(words('fraud', 'ok'), 'frau')).toThrow(new UsageError(message));
    expect(() => classesOf(labelled([1, 2, 3]), 1)).toThrow(
      new UsageError('a positive class is for two classes; there are 3'),
    );
  });

  test('rows are counted over all parts, in any order', () => {
    const labels = Array.from({ length: 1000 }, (_, row) => (row * 7) % 5);
    const counts = countLabels(inParts(labels.slice(0, 300), labels.slice(300)));
    expect(counts).toEqual(new Map([0, 1, 2, 3, 4].map((k) => [k, 200])));
    const split = [labels.slice(0, 10), labels.slice(10)].map((some) => [
      ...countLabels(labelled(some)),
    ]);
    expect(sumCounts(split)).toEqual(counts);
  });
});

const classes = (...labels: Label[]) => ({ classes: labels, multiLabel: false });
const signs = (dataset: Dataset, of: Classes, vector = 0) =>
  Array.from(targetsOf(dataset, of).of(vector));

describe('targets', () => {
  test('of two classes are ±1, of regression the labels', () => {
    const dataset = inParts([5, 2], [2, 5, 5]);
    expect(signs(dataset, classes(2, 5))).toEqual([1, -1, -1, 1, 1]);
    const real = targetsOf(dataset, undefined).of(0);
    expect(Array.from(real)).toEqual([5, 2, 2, 5, 5]);
    expect(real.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  test('of several classes tell each from all others', () => {
    const dataset = inParts([1, 2], [3, 2, 1]);
    const three = classes(1, 2, 3);
    expect(signs(dataset, three, 0)).toEqual([1, -1, -1, -1, 1]);
    expect(signs(dataset, three, 1)).toEqual([-1, 1, -1, 1, -1]);
    expect(signs(dataset, three, 2)).toEqual([-1, -1, 1, -1, -1]);
    expect(Array.from(targetsOf(dataset, three).codes ?? [])).toEqual([0, 1, 2, 1, 0]);
  });

  test('of words go by the word, whatever its position in the list of names', () => {
    const dataset = { ...labelled([0, 1, 0]), labelNames: ['spam', 'ham'] };
    expect(signs(dataset, classes('ham', 'spam'))).toEqual([1, -1, 1]);
  });

  test('of rows with several labels', () => {
    const dataset = { ...labelled([0, 1, 2, 0]), labelNames: ['3,1', '', '2'] };
    const all = classesFrom(countLabels(dataset), dataset, { multiLabel: true });
    expect(all).toEqual({ classes: [1, 2, 3], multiLabel: true });
    expect(signs(dataset, all, 0)).toEqual([1, -1, -1, 1]);
    expect(signs(dataset, all, 1)).toEqual([-1, -1, 1, -1]);
    expect(signs(dataset, all, 2)).toEqual([1, -1, -1, 1]);
  });

  test('one class of a test set is enough, an unknown one is rejected', () => {
    expect(signs(labelled([5, 5]), classes(2, 5))).toEqual([1, 1]);
    const message = 'train.svm: row 2 has label 4; expected 2 or 5, as in the training data';
    expect(() => signs(labelled([5, 4]), classes(2, 5))).toThrow(new DataError(message));
  });
});
