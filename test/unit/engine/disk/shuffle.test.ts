import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../../src/data/dataset.ts';
import { separateArena } from '../../../../src/engine/arena.ts';
import { openCells } from '../../../../src/engine/cells.ts';
import { allocateDiskCells, openScratch } from '../../../../src/engine/disk/disk-cells.ts';
import { layOutOnDisk } from '../../../../src/engine/disk/shuffle.ts';
import {
  allocateGrid,
  fillWorker,
  type Grid,
  nonzerosOfCells,
} from '../../../../src/engine/grid.ts';
import { rowsTogether, type Segments } from '../../../../src/engine/partition.ts';
import { inParts, sample, zipfDataset } from '../../../support/data.ts';
import { partition } from '../../../support/partition.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** The same grid in memory and, with short segments and a small window, on disk. */
async function bothGrids(dataset: Dataset, size: number, intercept: boolean, window: number) {
  const parts = partition(dataset, size, 3, intercept);
  const inMemory = allocateGrid(separateArena, parts, 'rows');
  for (let worker = 0; worker < size; worker++) fillWorker(inMemory, dataset, intercept, worker);
  const segments: Segments = inMemory.segments.map((starts) => {
    const rows = starts[starts.length - 1];
    const firsts = Array.from({ length: Math.ceil(rows / rowsTogether) }, (_, k) => 16 * k);
    return Int32Array.from([...firsts, rows]);
  });
  const scratch = openScratch(8 * dataset.nonzeros, temporaryFolder(), undefined);
  const shares = [0, window];
  const stored = {
    ...allocateDiskCells(separateArena, parts, segments, shares),
    file: scratch.file,
  };
  const ones = intercept ? dataset.columns : -1;
  const task = { partition: parts, segments, stored, ones, memory: stored.window };
  await layOutOnDisk(task, dataset.parts);
  return { inMemory, onDisk: { ...inMemory, cells: [], segments, disk: stored }, scratch };
}

/** Every row's entries in a cell, as DiskCells shows them. */
function rowsOf(grid: Grid, worker: number, block: number): [number, number][][] {
  const rows: [number, number][][] = [];
  openCells(grid, 0)
    .at(worker, block)
    .through(({ offsets, indices, values }, first, end) => {
      expect(first).toBe(rows.length);
      for (let row = first; row < end; row++) {
        const entries: [number, number][] = [];
        for (let k = offsets[row]; k < offsets[row + 1]; k++) entries.push([indices[k], values[k]]);
        rows.push(entries);
      }
    });
  return rows;
}

const zipf = inParts(zipfDataset({ rows: 700, columns: 300, perRow: 12 }), 90);

describe('a grid laid out on disk', () => {
  test.each([
    ['one worker', zipf, 1, false, 4096],
    ['three workers', zipf, 3, false, 4096],
    ['three workers and an intercept', zipf, 3, true, 8192],
    ['a window for everything', zipf, 2, true, 2 ** 20],
    ['empty rows', sample({ rows: 50, columns: 6, density: 0.1 }).dataset, 2, false, 4096],
  ] as const)('has the rows of the one in memory: %s', async (_, dataset, size, ones, window) => {
    const { inMemory, onDisk, scratch } = await bothGrids(dataset, size, ones, window);
    for (let worker = 0; worker < size; worker++) {
      for (let block = 0; block < size; block++) {
        expect(rowsOf(onDisk, worker, block)).toEqual(rowsOf(inMemory, worker, block));
      }
    }
    expect(nonzerosOfCells(onDisk)).toEqual(nonzerosOfCells(inMemory));
    scratch.close();
  });

  test('shows listed rows in their order, whatever that is', async () => {
    const { inMemory, onDisk, scratch } = await bothGrids(zipf, 2, false, 4096);
    const order = Int32Array.of(3, 200, 201, 17, 16, 40, 3, 345);
    const sums = (grid: Grid) => {
      const found: number[] = [];
      openCells(grid, 0)
        .at(1, 0)
        .over(order, 1, 8, ({ offsets, values }, begin, end) => {
          for (let at = begin; at < end; at++) {
            const row = values.subarray(offsets[order[at]], offsets[order[at] + 1]);
            found.push(row.reduce((sum, value) => sum + value, at));
          }
        });
      return found;
    };
    expect(sums(onDisk)).toEqual(sums(inMemory));
    scratch.close();
  });
});

describe('a scratch file', () => {
  test('is in no folder', () => {
    const folder = temporaryFolder();
    const scratch = openScratch(1000, folder, undefined);
    expect(readdirSync(folder)).toEqual([]);
    scratch.close();
  });

  test('suggests another folder where there is no space', () => {
    const folder = temporaryFolder();
    expect(() => openScratch(2 ** 60, folder, undefined)).toThrow(
      /needs 1073741824\.00 GiB for a scratch file; .* has \d+\.\d\d GiB.*--scratch/,
    );
    expect(existsSync(folder)).toBe(true);
    expect(() => openScratch(1, '/nowhere/at/all', undefined)).toThrow(
      '/nowhere/at/all is no folder',
    );
  });
});
