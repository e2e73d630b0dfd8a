/** What workers with weights of their own know of columns that are at home in other ranks. */
import { describe, expect, test } from 'vitest';
import { separateArena } from '../../../src/engine/arena.ts';
import { allocateGrid, fillWorker } from '../../../src/engine/grid.ts';
import { localPartition, placeRowsAndColumns } from '../../../src/engine/partition.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { solvers } from '../../../src/solvers/index.ts';
import { allocateProblem, layOutProblem } from '../../../src/solvers/objective/problem.ts';
import {
  allColumns,
  blockAmongAll,
  everywhere,
  heldColumns,
  interceptAmongAll,
  mostHeld,
  partOfWorker,
} from '../../../src/solvers/whole.ts';
import { sample } from '../../support/data.ts';
import { contextOf, prepare } from '../../support/engine.ts';
import { countEntries } from '../../support/partition.ts';

const size = 4;
const { dataset } = sample({ rows: 40, columns: 17, density: 0.2 });

/** The problem as the process sees it that runs the workers first … end-1. */
function problemOf(first: number, end: number, intercept = true) {
  const counts = countEntries(dataset, intercept);
  const parts = localPartition(placeRowsAndColumns(counts, size, 1), counts, first, end);
  const grid = allocateGrid(separateArena, parts, 'rows');
  for (let worker = first; worker < end; worker++) fillWorker(grid, dataset, intercept, worker);
  const penalty = penalties.l2();
  return layOutProblem(
    allocateProblem(separateArena, parts, penalty),
    grid,
    new Float64Array(dataset.rows),
    { penalty, lambda: 0.1, factors: undefined, intercept },
  );
}

test('everywhere brings all columns, by their positions in the whole order', () => {
  const common = { dataset, loss: losses.hinge(), penalty: penalties.l2(), grid: size };
  const context = contextOf(prepare({ ...common, solver: solvers.psgd() }));
  const home = Float64Array.from({ length: dataset.columns }, (_, j) => 1 + j);
  const whole = new Float64Array(dataset.columns);
  everywhere(context, home, whole);
  expect([...whole]).toEqual([...home]);
});

describe.each([
  [0, 2],
  [1, 2],
  [2, 4],
])('a process that runs %i up to %i', (first, end) => {
  const whole = problemOf(0, size);
  const problem = problemOf(first, end);
  const { partition } = problem.grid;

  test('counts columns as one process does that runs all', () => {
    const columns = dataset.columns + 1;
    expect(allColumns(partition)).toBe(columns);
    const positions = Float64Array.from({ length: columns }, (_, position) => position);
    const blocks = [0, 1, 2, 3].map((block) => [...blockAmongAll(partition, positions, block)]);
    expect(blocks.flat()).toEqual([...positions]);
    expect(blocks.map(({ length }) => length)).toEqual([...whole.grid.partition.blockLengths]);
  });

  test('finds the intercept among all columns, wherever it is at home', () => {
    expect(interceptAmongAll(problem)).toBe(whole.interceptPosition);
    expect(interceptAmongAll(problemOf(first, end, false))).toBe(-1);
  });

  test('lists the columns of its workers by the same positions', () => {
    for (let worker = first; worker < end; worker++) {
      const found = heldColumns(problem, worker);
      expect(found).toEqual(heldColumns(whole, worker));
      expect(found.held.length).toBeLessThanOrEqual(mostHeld(partition, worker));
    }
  });

  test('has a part for each of its workers', () => {
    const array = Int32Array.from({ length: 3 * (end - first) }, (_, k) => k);
    const parts = Array.from({ length: end - first }, (_, k) => [
      ...partOfWorker(partition, array, first + k),
    ]);
    expect(parts.flat()).toEqual([...array]);
    for (const part of parts) expect(part).toHaveLength(3);
  });
});
