import { describe, expect, test } from 'vitest';
import { assignFolds } from '../../../../src/train/calibrate.ts';
import { fc } from '../../../support/property.ts';

/** How many rows of each class each fold has. */
function countsOf(fold: Int32Array, codes: Int32Array | undefined, folds: number): number[][] {
  const counts = Array.from({ length: folds }, () => Array<number>(8).fill(0));
  for (const [row, which] of fold.entries()) counts[which][codes?.[row] ?? 0] += 1;
  return counts;
}

const spreadOf = (values: readonly number[]) => Math.max(...values) - Math.min(...values);

describe('assignFolds', () => {
  test('folds differ by one row at most, and by one row of any class', () => {
    const cases = fc.record({
      codes: fc.array(fc.nat({ max: 7 }), { minLength: 2, maxLength: 60 }),
      folds: fc.integer({ min: 2, max: 12 }),
      seed: fc.nat(),
      classes: fc.boolean(),
    });
    fc.assert(
      fc.property(cases, ({ codes: list, folds, seed, classes }) => {
        fc.pre(list.length >= folds);
        const codes = classes ? Int32Array.from(list) : undefined;
        const fold = assignFolds(list.length, codes, folds, seed);
        const counts = countsOf(fold, codes, folds);
        expect(spreadOf(counts.map((own) => own.reduce((sum, n) => sum + n, 0)))).toBeLessThan(2);
        for (let code = 0; code < 8; code += 1) {
          expect(spreadOf(counts.map((own) => own[code]))).toBeLessThan(2);
        }
        expect(assignFolds(list.length, codes, folds, seed)).toEqual(fold);
      }),
    );
  });

  test('another seed gives other folds, of the same sizes', () => {
    const codes = Int32Array.from({ length: 100 }, (_, row) => row % 3);
    const [first, second] = [1, 2].map((seed) => assignFolds(100, codes, 5, seed));
    expect(first).not.toEqual(second);
    expect(first.toSorted()).toEqual(second.toSorted());
  });

  test('rows are assigned at random, not in their order', () => {
    const fold = assignFolds(1000, undefined, 2, 1);
    const firstHalf = fold.subarray(0, 500).reduce((sum, which) => sum + which, 0);
    expect(firstHalf).toBeGreaterThan(200);
    expect(firstHalf).toBeLessThan(300);
    const neighbours = fold.reduce(
      (sum, which, row) => sum + (row > 0 && which === fold[row - 1] ? 1 : 0),
      0,
    );
    expect(neighbours).toBeGreaterThan(400);
  });

  test.each([1, 0, 2.5, Number.NaN])('%d folds are refused', (folds) => {
    expect(() => assignFolds(10, undefined, folds, 1)).toThrow(/folds is .*at least 2/);
  });

  test('more folds than rows are refused', () => {
    expect(() => assignFolds(3, undefined, 4, 1)).toThrow(
      '4 folds need at least 4 rows; this data has 3',
    );
  });
});
