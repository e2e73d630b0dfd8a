import { expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import {
  ColumnMoments,
  type MomentsMemory,
} from '../../../../src/solvers/objective/column-moments.ts';
import { sample } from '../../../support/data.ts';
import { contextOf, prepare } from '../../../support/engine.ts';

function setUp(mode: 'rows' | 'columns', grid: number) {
  const { dataset } = sample({ rows: 30, columns: 7, task: 'regression' });
  const solver = solvers.ring({ mode });
  const loss = losses.square();
  const engine = prepare({ dataset, loss, penalty: penalties.l1(), grid, solver });
  return { dataset, context: contextOf(engine), memory: engine.moments as MomentsMemory };
}

test.each([
  ['rows', 1],
  ['columns', 1],
  ['rows', 3],
  ['columns', 2],
] as const)('by %s, grid %d: the sums over all rows', (mode, grid) => {
  const { dataset, context, memory } = setUp(mode, grid);
  const { rowWeights, grid: laid } = context.problem;
  const { rowOrder, columnPosition } = laid.partition;
  rowOrder.forEach((row, k) => {
    rowWeights[k] = row % 4;
  });
  const sums = new Float64Array(7);
  const squares = new Float64Array(7);
  const [{ rowOffsets, indices, values }] = dataset.parts;
  for (let row = 0; row < dataset.rows; row++) {
    for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k++) {
      sums[columnPosition[indices[k]]] += (row % 4) * values[k];
      squares[columnPosition[indices[k]]] += (row % 4) * values[k] ** 2;
    }
  }
  const found = new ColumnMoments(context, memory).compute();
  for (let j = 0; j < 7; j++) {
    expect(found.sums[j]).toBeCloseTo(sums[j], 10);
    expect(found.squares[j]).toBeCloseTo(squares[j], 10);
  }
});

test('runs share them until they are said to be unknown', () => {
  const { context, memory } = setUp('rows', 1);
  const first = new ColumnMoments(context, memory).compute().squares.slice();
  context.problem.rowWeights.fill(2);
  expect(new ColumnMoments(context, memory).compute().squares).toEqual(first);
  memory.known.fill(0);
  const doubled = new ColumnMoments(context, memory).compute().squares;
  doubled.forEach((square, j) => {
    expect(square).toBeCloseTo(2 * first[j], 10);
  });
});
