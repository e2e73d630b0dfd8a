import { expect, test } from 'vitest';
import { BinaryLabels } from '../../../../src/train/stream/row-stream.ts';

test('the first label is +1, the other one −1; a model has them in order', () => {
  const pair = new BinaryLabels();
  expect([3, -1].map((label, row) => pair.targetOf(label, row + 1))).toEqual([1, -1]);
  expect(pair.classes).toEqual([-1, 3]);
  expect(pair.isReversed).toBe(false);
});

test('the class that came first may be the negative one', () => {
  const pair = new BinaryLabels();
  for (const [row, label] of ['ham', 'spam'].entries()) pair.targetOf(label, row + 1);
  expect(pair.classes).toEqual(['ham', 'spam']);
  expect(pair.isReversed).toBe(true);
});

test('the rarer class of the first 1000 rows is positive, and stays so', () => {
  const pair = new BinaryLabels();
  const learn = (label: string, rows: number) => {
    for (let row = 0; row < rows; row += 1) pair.targetOf(label, row + 1);
  };
  learn('ok', 1);
  learn('fraud', 2);
  expect(pair.classes).toEqual(['fraud', 'ok']);
  learn('ok', 900);
  expect(pair.classes).toEqual(['ok', 'fraud']);
  expect(pair.isReversed).toBe(true);
  learn('fraud', 2000);
  expect(pair.classes).toEqual(['ok', 'fraud']);
});

test('the positive class may be asked for', () => {
  const pair = new BinaryLabels(0);
  for (const [row, label] of [1, 0, 1].entries()) pair.targetOf(label, row + 1);
  expect(pair.classes).toEqual([1, 0]);
  expect(pair.isReversed).toBe(true);
  const other = new BinaryLabels('fruad');
  other.targetOf('ok', 1);
  expect(() => other.targetOf('fraud', 2)).toThrow('the positive class is fruad; the classes are');
});

test('a number that meets a text is one', () => {
  const pair = new BinaryLabels();
  expect(pair.targetOf(10, 1)).toBe(1);
  expect(pair.targetOf('9', 2)).toBe(-1);
  expect(pair.targetOf('10', 3)).toBe(1);
  expect(pair.classes).toEqual(['10', '9']);
  expect(pair.isReversed).toBe(true);
});

test('a third label is refused with its row', () => {
  const pair = new BinaryLabels();
  pair.targetOf(0, 1);
  expect(pair.problem).toBe('all labels are 0; classification needs two classes');
  pair.targetOf(1, 2);
  expect(() => pair.targetOf(2, 7)).toThrow('row 7 has label 2, the third after 0 and 1');
  expect(() => pair.targetOf('a,\nb', 8)).toThrow('row 8 has label "a,\\nb", the third after 0');
});
