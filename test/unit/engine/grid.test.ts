import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { Budget, createArena, separateArena } from '../../../src/engine/arena.ts';
import {
  allocateGrid,
  canFillByRows,
  fillRows,
  fillWorker,
  type Grid,
  imbalance,
  nonzerosOfCells,
  type Orientation,
  offsetsFromCounts,
} from '../../../src/engine/grid.ts';
import { localPartition, placeRowsAndColumns } from '../../../src/engine/partition.ts';
import { inParts, sample, zipfDataset } from '../../support/data.ts';
import { countEntries, partition } from '../../support/partition.ts';

function gridOf(dataset: Dataset, size: number, orientation: Orientation, intercept: boolean) {
  const grid = allocateGrid(separateArena, partition(dataset, size, 3, intercept), orientation);
  for (let worker = 0; worker < size; worker++) fillWorker(grid, dataset, intercept, worker);
  return grid;
}

/** The matrix in a grid, back in the order of the data; NaN where an entry was written twice. */
function denseOf({ size, orientation, partition: parts, cells }: Grid): number[][] {
  const { rowStarts, rowOrder, columnStarts, columnOrder } = parts;
  const dense = Array.from(rowOrder, () => new Array<number>(columnOrder.length).fill(0));
  cells.forEach(({ offsets, indices, values }, number) => {
    const firstRow = rowStarts[Math.floor(number / size)];
    const firstColumn = columnStarts[number % size];
    for (let unit = 0; unit + 1 < offsets.length; unit++) {
      for (let k = offsets[unit]; k < offsets[unit + 1]; k++) {
        const [i, j] = orientation === 'rows' ? [unit, indices[k]] : [indices[k], unit];
        const row = dense[rowOrder[firstRow + i]];
        const column = columnOrder[firstColumn + j];
        row[column] = row[column] === 0 ? values[k] : Number.NaN;
      }
    }
  });
  return dense;
}

describe.each(['rows', 'columns'] as const)('orientation %s', (orientation) => {
  test.each([
    { size: 1, intercept: false },
    { size: 1, intercept: true },
    { size: 3, intercept: false },
    { size: 3, intercept: true },
    { size: 9, intercept: true },
  ])('grid $size holds exactly the data (intercept $intercept)', ({ size, intercept }) => {
    const { rows, dataset } = sample({ rows: 40, columns: 9, density: 0.4 });
    const expected = rows.map((row) => (intercept ? [...row, 1] : [...row]));
    expect(denseOf(gridOf(dataset, size, orientation, intercept))).toEqual(expected);
    expect(denseOf(gridOf(inParts(dataset, 7), size, orientation, intercept))).toEqual(expected);
  });

  test('the cells of a worker lie one after the other in arrays of its own', () => {
    const { dataset } = sample({ rows: 40, columns: 9 });
    const { size, cells, partition: parts } = gridOf(dataset, 3, orientation, false);
    for (let worker = 0; worker < size; worker++) {
      const mine = cells.slice(worker * size, (worker + 1) * size);
      let next = 0;
      for (const { offsets, indices } of mine) {
        expect(indices).toBe(mine[0].indices);
        expect(offsets[0]).toBe(next);
        next = offsets[offsets.length - 1];
      }
      expect(next).toBe(parts.workerNonzeros[worker]);
    }
  });
});

describe.each(['rows', 'columns'] as const)('a process among others, by %s', (orientation) => {
  test.each([
    [0, 2],
    [2, 3],
    [3, 5],
    [4, 4],
  ])('that runs %i up to %i has the cells of its workers and no others', (first, end) => {
    const { dataset } = sample({ rows: 40, columns: 9, density: 0.4 });
    const size = 5;
    const whole = gridOf(dataset, size, orientation, true);
    const counts = countEntries(dataset, true);
    const parts = localPartition(placeRowsAndColumns(counts, size, 3), counts, first, end);
    const grid = allocateGrid(separateArena, parts, orientation);
    for (let worker = first; worker < end; worker++) fillWorker(grid, dataset, true, worker);
    grid.cells.forEach((cell, number) => {
      const worker = Math.floor(number / size);
      if (worker >= first && worker < end) expect(cell).toEqual(whole.cells[number]);
      else expect(cell.indices).toHaveLength(0);
    });
    expect(nonzerosOfCells(grid)).toEqual(nonzerosOfCells(whole).slice(first * size, end * size));
  });
});

describe('one worker, by rows', () => {
  const { dataset } = sample({ rows: 41, columns: 9, density: 0.3 });

  test('is the only layout that ranges of rows can fill', () => {
    const can = (size: number, orientation: Orientation) =>
      canFillByRows(gridOf(dataset, size, orientation, false));
    expect(can(1, 'rows')).toBe(true);
    expect([can(1, 'columns'), can(2, 'rows'), can(2, 'columns')]).toEqual([false, false, false]);
  });

  test.each([
    { intercept: false, bounds: [0, 41] },
    { intercept: true, bounds: [0, 41] },
    { intercept: false, bounds: [0, 20, 41] },
    { intercept: true, bounds: [0, 1, 13, 13, 40, 41] },
    { intercept: true, bounds: Array.from({ length: 42 }, (_, k) => k) },
  ])('ranges fill the cell as the worker does: intercept $intercept, $bounds', (options) => {
    const { intercept, bounds } = options;
    for (const data of [dataset, inParts(dataset, 7)]) {
      const expected = gridOf(data, 1, 'rows', intercept);
      const parts = partition(data, 1, 3, intercept);
      const grid = allocateGrid(separateArena, parts, 'rows');
      offsetsFromCounts(grid);
      // The ranges need no order among themselves.
      for (let k = bounds.length - 1; k > 0; k--) {
        fillRows(grid, data, intercept, [bounds[k - 1], bounds[k]]);
      }
      expect(grid.cells).toEqual(expected.cells);
    }
  });

  test('a range leaves the rows of others alone', () => {
    const parts = partition(dataset, 1, 3, true);
    const grid = allocateGrid(separateArena, parts, 'rows');
    offsetsFromCounts(grid);
    const { offsets, values } = grid.cells[0];
    values.fill(-99);
    fillRows(grid, dataset, true, [10, 12]);
    const written = [...values.keys()].filter((k) => values[k] !== -99);
    expect(written).toEqual(
      Array.from({ length: offsets[12] - offsets[10] }, (_, k) => offsets[10] + k),
    );
  });
});

test('a grid takes 8 bytes an entry beside what grows with rows and columns', () => {
  const dataset = zipfDataset({ rows: 3000, columns: 500, perRow: 100 });
  const size = 4;
  const parts = partition(dataset, size, 1, false);
  const budget = new Budget();
  allocateGrid(budget, parts, 'rows');
  const cells = size * size;
  const padding = 128 * (2 * size + cells + 1);
  expect(budget.bytes - padding).toBeLessThanOrEqual(
    8 * dataset.nonzeros + 4 * size * (dataset.rows + size),
  );
  expect(allocateGrid(createArena(budget.bytes), parts, 'rows').cells).toHaveLength(cells);
});

test('imbalance is the largest share over the fair one, minus 1', () => {
  const dataset = zipfDataset({ rows: 2000, columns: 1000, perRow: 20 });
  const grid = gridOf(dataset, 4, 'rows', false);
  const { rowStarts } = grid.partition;
  const largest = Math.max(...[0, 1, 2, 3].map((k) => rowStarts[k + 1] - rowStarts[k]));
  const report = imbalance(grid.partition, nonzerosOfCells(grid));
  expect(report.rows).toBeCloseTo(largest / 500 - 1, 12);
  expect(report.nonzeros).toBeGreaterThan(0);
  expect(report.nonzeros).toBeLessThan(0.1);
  const alone = gridOf(dataset, 1, 'columns', false);
  expect(imbalance(alone.partition, nonzerosOfCells(alone))).toEqual({
    rows: 0,
    columns: 0,
    nonzeros: 0,
  });
});
