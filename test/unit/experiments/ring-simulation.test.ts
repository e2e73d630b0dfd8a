import { describe, expect, test } from 'vitest';
import {
  cellImbalance,
  countCells,
  loadOf,
  predictEpoch,
  type RingLoad,
  simulateEpoch,
} from '../../../experiments/support/ring-simulation.ts';
import { fitConstants } from '../../../experiments/support/scaling-model.ts';
import { stream } from '../../../src/math/random.ts';
import { sample, zipfDataset } from '../../support/data.ts';

/** Equal visits and transfers. */
function even(size: number, visit: number, transfer: number): RingLoad {
  return {
    size,
    visits: new Float64Array(size * size).fill(visit),
    transfers: new Float64Array(size).fill(transfer),
  };
}

/** The epoch's end by the definition: visit (q, r) waits for its worker's and its block's last. */
function naiveEpoch({ size, visits, transfers }: RingLoad, barrier: boolean): number {
  const end = (worker: number, iteration: number): number => {
    if (iteration < 0) return 0;
    const block = (worker + iteration) % size;
    const before = (worker + 1) % size;
    const own = end(worker, iteration - 1);
    const block0 = iteration === 0 ? 0 : end(before, iteration - 1) + transfers[block];
    const all = barrier && iteration > 0 ? lastArrival(iteration - 1) : 0;
    return Math.max(own, block0, all) + visits[worker * size + block];
  };
  const lastArrival = (iteration: number): number =>
    Math.max(
      ...Array.from({ length: size }, (_, worker) => {
        return end(worker, iteration) + transfers[(worker + iteration) % size];
      }),
    );
  return lastArrival(size - 1);
}

describe('the simulated ring', () => {
  test('takes |Ω|T_u on one worker, which sends nothing', () => {
    expect(simulateEpoch(even(1, 12, 5))).toBe(12);
    expect(simulateEpoch(even(1, 12, 5), true)).toBe(12);
  });

  test.each([2, 4, 8, 64])('takes |Ω|T_u/p on %i equal workers that send for free', (size) => {
    const work = 1024;
    const load = even(size, work / size ** 2, 0);
    expect(simulateEpoch(load)).toBeCloseTo(work / size, 10);
    expect(simulateEpoch(load, true)).toBeCloseTo(work / size, 10);
  });

  test.each([2, 4, 8])('takes |Ω|T_u/p + T_c on %i equal workers', (size) => {
    const [work, communication] = [1024, 64];
    const load = even(size, work / size ** 2, communication / size);
    expect(simulateEpoch(load)).toBeCloseTo(predictEpoch(work, communication, size), 10);
    expect(simulateEpoch(load, true)).toBeCloseTo(predictEpoch(work, communication, size), 10);
  });

  test('is what its definition says, uneven visits and all', () => {
    const random = stream(7, 1);
    for (const size of [2, 3, 5]) {
      const load: RingLoad = {
        size,
        visits: Float64Array.from({ length: size * size }, () => random.uniform()),
        transfers: Float64Array.from({ length: size }, () => random.uniform() / 4),
      };
      expect(simulateEpoch(load)).toBeCloseTo(naiveEpoch(load, false), 12);
      expect(simulateEpoch(load, true)).toBeCloseTo(naiveEpoch(load, true), 12);
      expect(simulateEpoch(load)).toBeLessThanOrEqual(simulateEpoch(load, true));
    }
  });

  test('waits for a single long visit, but not at every step', () => {
    const load = even(4, 1, 0);
    load.visits[0] = 3;
    load.visits[1 * 4 + 2] = 3;
    // Worker 0 is long in iteration 0 and worker 1 in iteration 1: a barrier pays for both.
    expect(simulateEpoch(load)).toBe(6);
    expect(simulateEpoch(load, true)).toBe(8);
  });
});

describe('cells of the partition', () => {
  test('hold every non-zero once', () => {
    const dataset = zipfDataset({ rows: 200, columns: 100, perRow: 6 });
    for (const size of [1, 3, 8]) {
      const { cells, rows, columns } = countCells(dataset, size, 1);
      const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
      expect(sum(cells)).toBe(dataset.nonzeros);
      expect(sum(rows)).toBe(dataset.rows);
      expect(sum(columns)).toBe(dataset.columns);
    }
  });

  test('cost what their entries, rows and weights cost', () => {
    const { dataset } = sample({ rows: 40, columns: 12 });
    const counts = countCells(dataset, 2, 1);
    const costs = { perEntry: 2, perRow: 3, handOff: 5, perWeight: 7 };
    const { visits, transfers } = loadOf(counts, costs);
    expect(visits[2]).toBe(2 * counts.cells[2] + 3 * counts.rows[1]);
    expect(transfers[1]).toBe(5 + 7 * counts.columns[1]);
    expect(cellImbalance({ ...counts, cells: Float64Array.of(1, 1, 1, 5) })).toBe(1.5);
  });
});

test('the constants of the formula reproduce the times they come from', () => {
  const { work, communication } = fitConstants(10, 6);
  expect(predictEpoch(work, communication, 1)).toBe(10);
  expect(predictEpoch(work, communication, 2)).toBe(6);
});
