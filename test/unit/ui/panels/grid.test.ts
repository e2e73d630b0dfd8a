import { describe, expect, test } from 'vitest';
import { loadScaleOf, shadedCells, shadeOf } from '../../../../ui/src/panels/grid-colors.ts';
import { cellAfter, cellAt, layOutGrid, rankOf } from '../../../../ui/src/panels/grid-layout.ts';
import {
  describeCell,
  describeGrid,
  describeHolder,
  describeImbalance,
  describePositions,
  describeSingle,
  holdingsOf,
  positionsKnown,
} from '../../../../ui/src/panels/grid-words.ts';
import { beginOf } from './begin.ts';

const sizes = [1, 2, 4, 8, 32, 64, 200];
const two = { ranks: 2, firsts: [0, 2], hosts: ['left', 'right'] };

describe('layout', () => {
  test.each(sizes)('a grid of %i stays within the room, on a desk and on a phone', (size) => {
    for (const room of [900, 600, 304]) {
      const layout = layOutGrid(beginOf(size, { ranks: 1 }), room);
      expect(layout.width).toBeLessThanOrEqual(room);
      expect(layout.left + size * layout.cell).toBeLessThanOrEqual(layout.width);
      expect(layout.top + size * layout.cell).toBeLessThan(layout.height);
      expect(layout.cell).toBeGreaterThan(1);
    }
  });

  test.each(sizes)('labels of a grid of %i keep a distance', (size) => {
    const { cell, rowStep, columnStep } = layOutGrid(beginOf(size), 304);
    expect(rowStep * cell).toBeGreaterThanOrEqual(12);
    expect(columnStep * cell).toBeGreaterThanOrEqual(7 * String(size - 1).length);
  });

  test('details go where cells are small', () => {
    const [small, middle, large] = [8, 64, 65].map((size) => layOutGrid(beginOf(size), 600));
    expect([small.hasHatches, small.hasNumbers, small.hasCells]).toEqual([true, true, true]);
    expect([middle.hasHatches, middle.hasNumbers, middle.hasCells]).toEqual([false, false, true]);
    expect(large.hasCells).toBe(false);
  });

  test('processes have bands with as much of their name as fits', () => {
    const [first, second] = layOutGrid(beginOf(4, two), 600).ranks;
    expect(first).toEqual({
      rank: 0,
      first: 0,
      end: 2,
      name: 'rank 0 · left',
      label: 'rank 0 · left',
    });
    expect([second.first, second.end]).toEqual([2, 4]);
    const hosts = ['a-host-with-a-name-longer-than-the-grid', 'b'];
    expect(layOutGrid(beginOf(4, { ...two, hosts }), 600).ranks[0].label).toBe('rank 0');
    expect(layOutGrid(beginOf(4), 600).ranks).toEqual([]);
  });

  test('a process without a worker has no band', () => {
    const { ranks } = layOutGrid(beginOf(2, { ranks: 3, firsts: [0, 0, 1] }), 600);
    expect(ranks.map(({ rank }) => rank)).toEqual([1, 2]);
    expect(rankOf({ firsts: [0, 0, 1] }, 0)).toBe(1);
  });

  test('from a point to its cell', () => {
    const layout = layOutGrid(beginOf(4), 600);
    const { left, top, cell } = layout;
    expect(cellAt(layout, left + 2.5 * cell, top + 0.5 * cell)).toEqual({ worker: 0, block: 2 });
    expect(cellAt(layout, left - 1, top + 1)).toBeUndefined();
    expect(cellAt(layout, left + 1, top + 4 * cell)).toBeUndefined();
  });

  test('keys go from cell to cell and stop at the edges', () => {
    const middle = { worker: 1, block: 1 };
    expect(cellAfter('ArrowRight', middle, 3)).toEqual({ worker: 1, block: 2 });
    expect(cellAfter('ArrowUp', middle, 3)).toEqual({ worker: 0, block: 1 });
    expect(cellAfter('ArrowDown', { worker: 2, block: 0 }, 3)).toEqual({ worker: 2, block: 0 });
    expect(cellAfter('ArrowLeft', { worker: 2, block: 0 }, 3)).toEqual({ worker: 2, block: 0 });
    expect(cellAfter('Home', middle, 3).block).toBe(0);
    expect(cellAfter('End', middle, 3).block).toBe(2);
    expect(cellAfter('x', middle, 3)).toEqual(middle);
  });
});

describe('holdings', () => {
  const look = { epoch: 3, holders: [3, 0, -1, 2], elsewhere: [0] };

  test('as seen while the run is running', () => {
    expect(holdingsOf(beginOf(4), look, true)).toEqual([
      { block: 0, worker: 3, isExpected: true },
      { block: 1, worker: 0, isExpected: false },
      { block: 2, worker: -1, isExpected: false },
      { block: 3, worker: 2, isExpected: false },
    ]);
  });

  test('at home otherwise, and where a look is of another grid', () => {
    const home = [0, 1, 2, 3];
    const workers = (...rest: [Parameters<typeof holdingsOf>[1], boolean]) =>
      holdingsOf(beginOf(4), ...rest).map(({ worker }) => worker);
    expect(workers(look, false)).toEqual(home);
    expect(workers(undefined, true)).toEqual(home);
    expect(workers({ ...look, holders: [1, 0] }, true)).toEqual(home);
  });
});

test('where blocks are is known of a run that is looked at, and of one that has ended', () => {
  const look = { epoch: 3, holders: [3, 0, -1, 2], elsewhere: [] };
  const begin = beginOf(4);
  expect(positionsKnown(begin, look, true)).toBe('seen');
  expect(positionsKnown(begin, look, false)).toBe('home');
  expect(positionsKnown(begin, undefined, true)).toBe('unknown');
  expect(describePositions('seen', 3)).toBe('Now in epoch 3.');
  expect(describePositions('home', undefined)).toMatch(/at home/);
  expect(describePositions('unknown', undefined)).toMatch(/page of the run itself/);
  expect(describeGrid(begin, holdingsOf(begin, undefined, true), 'unknown')).not.toMatch(/at home/);
});

describe('shades', () => {
  test('grow with the load; a fair cell is half way unless one is very full', () => {
    const even = loadScaleOf([10, 10, 10, 10]);
    expect(even).toEqual({ fair: 10, darkest: 20 });
    expect(shadeOf(10, even)).toBeCloseTo(0.24);
    expect(shadeOf(0, even)).toBeLessThan(shadeOf(5, even));
    expect(loadScaleOf([0, 0, 0, 40])).toEqual({ fair: 10, darkest: 40 });
    expect(shadeOf(0, loadScaleOf([0, 0]))).toBe(0.03);
  });

  test('every cell is in the path of its shade', () => {
    const layout = layOutGrid(beginOf(64), 500);
    const cells = Array.from({ length: 64 * 64 }, (_, k) => k % 100);
    const paths = shadedCells(layout, cells);
    expect(paths.length).toBeLessThanOrEqual(25);
    const drawn = paths.map(({ path }) => path.split('M').length - 1);
    expect(drawn.reduce((sum, count) => sum + count, 0)).toBe(64 * 64);
  });
});

describe('words', () => {
  const loads = { rows: [100, 101], columns: [40, 39], cells: [1000, 2000, 500, 500] };
  const begin = beginOf(2, { nonzeros: 4000, loads, ranks: 2, firsts: [0, 1], hosts: ['a', 'b'] });

  test('a cell', () => {
    expect(describeCell(begin, 0, 1)).toBe(
      'Worker 0 (rank 0 · a), block 1: 100 rows × 39 columns, 2,000 non-zeros, 200\u00a0% of the fair load',
    );
    const bare = beginOf(2, { loads: { rows: [1, 2], columns: [3, 4] } });
    expect(describeCell(bare, 1, 0)).toBe('Worker 1, block 0: 2 rows × 3 columns');
  });

  test('its holder', () => {
    const holding = { block: 1, worker: 0, isExpected: false };
    expect(describeHolder(holding, 0)).toBe('Held now.');
    expect(describeHolder({ ...holding, isExpected: true }, 0)).toBe('Held now, by the schedule.');
    expect(describeHolder(holding, 1)).toBe('The block is with worker 0.');
    expect(describeHolder({ ...holding, worker: -1 }, 1)).toBe('No worker holds the block.');
  });

  test('imbalance', () => {
    const text = describeImbalance(
      beginOf(4, { imbalance: { nonzeros: 0.12, rows: 0.0001, columns: 0.034 } }),
    );
    expect(text).toBe(
      'Non-zeros: the fullest cell has 12\u00a0% more than its fair share. ' +
        'Rows: each worker has its fair share, to 1\u00a0%. ' +
        'Columns: the fullest block has 3.4\u00a0% more than its fair share.',
    );
    expect(describeImbalance(beginOf(1))).toBe('');
    const single = beginOf(1, { rows: 7, columns: 1, nonzeros: 1200 });
    expect(describeSingle(single)).toBe(
      'One worker has all 7 rows, all 1 column and all 1,200 non-zeros: nothing is handed on.',
    );
  });

  test('the figure, for people who do not see it', () => {
    const look = { epoch: 1, holders: [1, 0], elsewhere: [1] };
    const text = describeGrid(begin, holdingsOf(begin, look, true), 'seen');
    expect(text).toContain('Grid of 2 workers in 2 processes by 2 blocks');
    expect(text).toContain('block 0 is with worker 1, block 1 is expected with worker 0');
    expect(describeGrid(begin, holdingsOf(begin, look, false), 'home')).toContain('at home');
    const large = beginOf(32);
    expect(describeGrid(large, holdingsOf(large, undefined, true), 'seen')).not.toContain(
      'block 5',
    );
  });
});
