import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import {
  columnScales,
  divideColumns,
  foldWeights,
  scaleDataset,
  scalings,
  withUnitRows,
} from '../../../src/data/scale.ts';
import { UsageError } from '../../../src/errors.ts';
import { datasetOf } from '../../support/data.ts';
import { fc } from '../../support/property.ts';

/** The entries of all rows, as an array. */
function dense({ parts, rows, columns }: Dataset): number[][] {
  const all = Array.from({ length: rows }, () => new Array<number>(columns).fill(0));
  let first = 0;
  for (const { rowOffsets, indices, values, labels } of parts) {
    for (let row = 0; row < labels.length; row += 1) {
      for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k += 1) {
        all[first + row][indices[k]] = values[k];
      }
    }
    first += labels.length;
  }
  return all;
}

function dataOf(rows: readonly (readonly number[])[], weights?: readonly number[]): Dataset {
  const dataset = datasetOf(
    rows,
    rows.map((_, row) => row),
    rows[0].length,
  );
  if (!weights) return dataset;
  return { ...dataset, parts: [{ ...dataset.parts[0], weights: Float64Array.from(weights) }] };
}

/** The same rows in two parts. */
function inTwoParts(rows: readonly (readonly number[])[], weights: readonly number[]): Dataset {
  const cut = Math.floor(rows.length / 2);
  const front = dataOf(rows.slice(0, cut), weights.slice(0, cut));
  const back = dataOf(rows.slice(cut), weights.slice(cut));
  return {
    ...front,
    rows: rows.length,
    nonzeros: front.nonzeros + back.nonzeros,
    parts: [...front.parts, ...back.parts],
  };
}

const entry = fc.oneof(
  fc.constant(0),
  fc.integer({ min: -700, max: 700 }).map((x) => x / 7),
);
const matrices = fc.integer({ min: 2, max: 6 }).chain((columns) =>
  fc.array(fc.array(entry, { minLength: columns, maxLength: columns }), {
    minLength: 2,
    maxLength: 8,
  }),
);
const runs = { numRuns: 200 };

function textbookDeviation(column: readonly number[], weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = column.reduce((sum, x, i) => sum + weights[i] * x, 0) / total;
  return Math.sqrt(column.reduce((sum, x, i) => sum + weights[i] * (x - mean) ** 2, 0) / total);
}

describe('by the largest size', () => {
  test('every column that is not zero comes to reach 1', () => {
    const { dataset, factors } = scaleDataset(
      dataOf([
        [2, 0, 0],
        [-8, 0.5, 0],
      ]),
      'max',
    );
    expect([...factors!]).toEqual([8, 0.5, 1]);
    expect(dense(dataset)).toEqual([
      [0.25, 0, 0],
      [-1, 1, 0],
    ]);
  });
});

describe('by the standard deviation', () => {
  test('zeros count, weights too, and rows without weight do not', () => {
    fc.assert(
      fc.property(matrices, fc.infiniteStream(fc.integer({ min: 0, max: 3 })), (rows, stream) => {
        const weights = rows.map(() => stream.next().value as number);
        fc.pre(weights.some((weight) => weight > 0));
        const factors = columnScales(dataOf(rows, weights), 'std');
        factors.forEach((factor, j) => {
          const column = rows.map((row) => Math.fround(row[j]));
          const expected = textbookDeviation(column, weights);
          if (expected > 1e-9) {
            expect(Math.abs(factor / expected - 1)).toBeLessThan(1e-9);
          } else {
            expect(factor).toBe(1);
          }
        });
      }),
      runs,
    );
  });

  test('a constant column stays, however many rows and whatever its value', () => {
    const rows = Array.from({ length: 1000 }, (_, row) => [Math.fround(0.1), 1e30, row % 2]);
    const { dataset, factors } = scaleDataset(dataOf(rows), 'std');
    expect([...factors!]).toEqual([1, 1, 0.5]);
    expect(dense(dataset)[1]).toEqual([Math.fround(0.1), Math.fround(1e30), 2]);
  });

  test('a large mean does not drown a small spread', () => {
    const rows = Array.from({ length: 1000 }, (_, row) => [2 ** 20 + (row % 2) / 8]);
    expect(columnScales(dataOf(rows), 'std')[0]).toBeCloseTo(1 / 16, 12);
  });

  test('of rows that all weigh nothing, nothing is known', () => {
    expect([...columnScales(dataOf([[1], [2]], [0, 0]), 'std')]).toEqual([1]);
  });
});

describe('rows of unit length', () => {
  test('have it, but for empty ones', () => {
    const { dataset, factors } = scaleDataset(
      dataOf([
        [3, 4],
        [0, 0],
        [0, -1e-20],
      ]),
      'unit-rows',
    );
    expect(factors).toBeUndefined();
    expect(dense(dataset)).toEqual([
      [Math.fround(0.6), Math.fround(0.8)],
      [0, 0],
      [0, -1],
    ]);
  });
});

describe('all of them', () => {
  test.each(scalings)('%s: how rows are cut into parts does not matter', (scaling) => {
    fc.assert(
      fc.property(matrices, (rows) => {
        const weights = rows.map((_, row) => 1 + (row % 3));
        const whole = scaleDataset(dataOf(rows, weights), scaling);
        const parts = scaleDataset(inTwoParts(rows, weights), scaling);
        expect(parts.factors).toEqual(whole.factors);
        expect(dense(parts.dataset)).toEqual(dense(whole.dataset));
      }),
      runs,
    );
  });

  test.each(scalings)(
    '%s: the data itself stays as it was, and new values can be shared',
    (scaling) => {
      const before = dataOf(
        [
          [1, 2],
          [5, 0],
        ],
        [1, 2],
      );
      const copy = dense(before);
      const { dataset } = scaleDataset(before, scaling);
      expect(dense(before)).toEqual(copy);
      expect(dataset.parts[0].values.buffer).toBeInstanceOf(SharedArrayBuffer);
      expect(dataset.parts[0].weights).toEqual(Float64Array.of(1, 2));
      expect(dataset).toMatchObject({ name: before.name, rows: 2, columns: 2, nonzeros: 3 });
    },
  );

  test.each(scalings.filter((way) => way !== 'none'))('%s: rejects entries on disk', (scaling) => {
    const stored = { folder: 'x', scan: () => [], countColumns: () => new Int32Array(1) };
    expect(() => scaleDataset({ ...dataOf([[1]]), stored }, scaling)).toThrow(UsageError);
  });
});

test('known factors apply to other rows, which may have more columns', () => {
  const dataset = divideColumns(dataOf([[1, 2, 3]]), Float64Array.of(4, 0.5));
  expect(dense(dataset)).toEqual([[0.25, 4, 3]]);
  const far = divideColumns(dataOf([[-1e30]]), Float64Array.of(1e-30));
  expect(dense(far)).toEqual([[Math.fround(-3.4028234663852886e38)]]);
  expect(dense(withUnitRows(dataOf([[0, 5, 0]])))).toEqual([[0, 1, 0]]);
});

test('folded weights score the data as it was as the others score the scaled data', () => {
  fc.assert(
    fc.property(matrices, fc.constantFrom('max' as const, 'std' as const), (rows, scaling) => {
      const before = dataOf(rows);
      const { dataset, factors } = scaleDataset(before, scaling);
      const weights = Float64Array.from(rows[0], (_, j) => Math.sin(j + 1));
      const folded = foldWeights(weights, factors!);
      const scores = (data: Dataset, w: Float64Array) =>
        dense(data).map((row) => row.reduce((sum, x, j) => sum + x * w[j], 0));
      const [scaled, plain] = [scores(dataset, weights), scores(before, folded)];
      scaled.forEach((score, i) => {
        const size = dense(dataset)[i].reduce((sum, x) => sum + Math.abs(x), 0);
        expect(Math.abs(score - plain[i])).toBeLessThanOrEqual(1e-7 * size);
      });
    }),
    runs,
  );
});

test('vectors of several classes are folded one by one', () => {
  const folded = foldWeights(Float64Array.of(1, 2, 3, 4), Float64Array.of(1, 2));
  expect([...folded]).toEqual([1, 1, 3, 2]);
});
