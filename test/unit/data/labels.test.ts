import { describe, expect, test } from 'vitest';
import { datasetFromRows } from '../../../src/data/arrays.ts';
import type { Dataset } from '../../../src/data/dataset.ts';
import { classesOf, targets } from '../../../src/data/labels.ts';
import { DataError } from '../../../src/errors.ts';

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
      [-7.25, 0.5],
    ],
  ])('of %j', (labels, classes) => {
    expect(classesOf(labelled(labels))).toEqual(classes);
  });

  test('found in different parts', () => {
    expect(classesOf(inParts([3, 3], [1]))).toEqual([1, 3]);
  });

  test.each([
    [[1, 1], 'train.svm: all labels are 1; binary classification wants exactly two'],
    [
      [3, 1, 2],
      'train.svm: labels 1, 2, 3 (3 classes); binary classification wants exactly two ' +
        '(use a regression loss for real-valued labels)',
    ],
    [
      Array.from({ length: 40 }, (_, row) => (row % 20) + 1),
      'train.svm: labels 1, 2, 3, … (20 classes); binary classification wants exactly two ' +
        '(use a regression loss for real-valued labels)',
    ],
    [
      Array.from({ length: 2000 }, (_, row) => row / 8),
      'train.svm: labels 0, 0.125, 0.25, … (more than 1000 classes); binary classification ' +
        'wants exactly two (use a regression loss for real-valued labels)',
    ],
  ])('refused %#', (labels, message) => {
    expect(() => classesOf(labelled(labels))).toThrow(new DataError(message));
  });
});

describe('targets', () => {
  test('of classification are ±1, of regression the labels', () => {
    const dataset = inParts([5, 2], [2, 5, 5]);
    expect(Array.from(targets(dataset, 'classification', [2, 5]))).toEqual([1, -1, -1, 1, 1]);
    expect(Array.from(targets(dataset, 'classification'))).toEqual([1, -1, -1, 1, 1]);
    expect(Array.from(targets(dataset, 'regression'))).toEqual([5, 2, 2, 5, 5]);
    expect(targets(dataset, 'regression').buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  test('one class of a test set is enough, a third is refused', () => {
    expect(Array.from(targets(labelled([5, 5]), 'classification', [2, 5]))).toEqual([1, 1]);
    const message = 'train.svm: row 2 has label 4; expected 2 or 5, as in the training data';
    expect(() => targets(labelled([5, 4]), 'classification', [2, 5])).toThrow(
      new DataError(message),
    );
  });
});
