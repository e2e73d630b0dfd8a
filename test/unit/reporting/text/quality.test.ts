import { describe, expect, test } from 'vitest';
import { describeQuality } from '../../../../src/data/quality/quality.ts';
import { qualityText } from '../../../../src/reporting/text/quality.ts';
import { datasetOf } from '../../../support/data.ts';

const rows = [
  [1, 0, 2, 3e7, 2],
  [1, 0, 0, 0, 0],
  [1, 0, 0, 1, 0],
  [1, 0, 0, 1, 0],
];

describe('the report', () => {
  test('shows sizes, labels and findings, features from 1', () => {
    const quality = describeQuality({ ...datasetOf(rows, [1, -1, 1, -1]), name: 'mail.svm' });
    expect(qualityText(quality)).toBe(`data       mail.svm
rows       4
features   5
non-zeros  9 (45.00 % of all entries)
per row    1 to 4, median 2
values     1 to 3e7, all whole numbers

labels, by number of rows:
-1  2  50.00 %
1   2  50.00 %

worth a look:
equal rows         1: 4 = 3
contradictions     1 row equal to an earlier one but for the label
empty features     1: 2
constant features  1: 1 (1)
equal features     1: 5 = 3
scales             from 1 (1) to 4 (3e7); --scale std makes them comparable (the default for tables)`);
  });

  test('uses names, and numbers from 0 where the input does', () => {
    const dataset = datasetOf(rows, [1, -1, 1, -1]);
    const featureNames = ['bias', 'none', 'age', 'pay', 'years'];
    const named = qualityText(describeQuality({ ...dataset, featureNames }));
    expect(named).toContain('equal features     1: years = age');
    expect(named).toContain('constant features  1: bias (1)');
    const numbered = qualityText(describeQuality(dataset), { firstFeature: 0 });
    expect(numbered).toContain('equal features     1: 4 = 2');
  });

  test('says so if nothing looks wrong', () => {
    const quality = describeQuality(datasetOf([[1], [2.5], [0]].slice(0, 2), [1, -1]));
    expect(qualityText(quality)).toMatch(/\n\nnothing that looks wrong$/);
  });

  test('lists empty rows, rows of weight 0 and a single label', () => {
    const dataset = datasetOf([[1], [0]], [1, 1]);
    const parts = [{ ...dataset.parts[0], weights: Float64Array.of(0, 2) }];
    const text = qualityText(describeQuality({ ...dataset, parts }));
    expect(text).toContain('weights    0 to 2, sum 2');
    expect(text).toContain('empty rows  1: row 2');
    expect(text).toContain('weight 0    1 row without effect');
    expect(text).toContain('labels      one label alone');
  });

  test('gives the range of labels that hardly come back', () => {
    const measured = [0.5, 1.5, 4, 2];
    const text = qualityText(describeQuality(datasetOf(rows, measured)));
    expect(text).toContain('labels     0.5 to 4, mean 2, 4 different');
    expect(text).not.toContain('labels, by number of rows');
  });

  test('lists the twenty most frequent labels and counts the others', () => {
    const labels = Array.from({ length: 60 }, (_, row) => row % 25);
    const many = labels.map((label) => [label + 1]);
    const text = qualityText(describeQuality(datasetOf(many, labels)));
    expect(text).toContain('labels     0 to 24, mean');
    expect(text).toContain('\nand 5 more\n');
  });
});
