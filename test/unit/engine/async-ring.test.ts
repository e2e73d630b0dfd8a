import { describe, expect, test } from 'vitest';
import { separateArena } from '../../../src/engine/arena.ts';
import { AsyncRing, allocateAsyncRing, Replay } from '../../../src/engine/async-ring.ts';
import type { BlockFields } from '../../../src/engine/ring.ts';
import { shareTeam, Team } from '../../../src/engine/team.ts';
import { testPool } from './support/pool.ts';
import { touch } from './support/touch.ts';
import type { AsyncPayload } from './support/worker.ts';

const ints = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length));
/** Blocks that stay in one process take nothing along. */
const nothing: BlockFields = { id: 0 };
const doubles = (length: number) => new Float64Array(new SharedArrayBuffer(8 * length));

describe.each([
  { threads: 1, workers: 3 },
  { threads: 2, workers: 2 },
  { threads: 2, workers: 7 },
  { threads: 3, workers: 4 },
  { threads: 4, workers: 4 },
])('$workers workers on $threads threads', ({ threads, workers }) => {
  test('every block meets every worker once a rotation; the record is a serial order', async () => {
    const rotations = 60;
    const shared = shareTeam({ threads, workers, cores: 2 });
    const memory = allocateAsyncRing(separateArena, workers);
    const rows = doubles(workers);
    const columns = doubles(workers);
    const common = { shared, rotations, memory, rows, columns };
    const [holders, busy] = [ints(workers), ints(workers)];
    const results = await testPool(threads).runAll<{ wrong: string[]; orders: number[][] }>(
      'asyncRing',
      threads,
      (index): AsyncPayload => ({ ...common, index, holders, busy }),
    );
    expect(results.flatMap(({ wrong }) => wrong)).toEqual([]);
    const { orders } = results[0];
    expect(orders).toHaveLength(rotations);
    const cells = Array.from({ length: workers * workers }, (_, k) => k);
    for (const order of orders) expect(order.toSorted((a, b) => a - b)).toEqual(cells);

    const again = { rows: new Float64Array(workers), columns: new Float64Array(workers) };
    const replay = new Replay(Int32Array.from(orders.flat()), workers);
    for (let rotation = 0; rotation < rotations; rotation++) {
      replay.rotate(nothing, (worker, block) => touch(worker, block, again.rows, again.columns));
      expect([...replay.order]).toEqual(orders[rotation]);
    }
    expect([...again.rows]).toEqual([...rows]);
    expect([...again.columns]).toEqual([...columns]);
  });
});

test('another order has another result, so that the comparison above means something', () => {
  const results = [
    [0, 1, 2, 3],
    [1, 0, 2, 3],
  ].map((order) => {
    const state = [new Float64Array(2), new Float64Array(2)] as const;
    const replay = new Replay(Int32Array.from(order), 2);
    replay.rotate(nothing, (worker, block) => touch(worker, block, ...state));
    return [...state[0], ...state[1]];
  });
  expect(results[0]).not.toEqual(results[1]);
});

test('a worker that is slow is left aside: others continue with the blocks they hold', () => {
  // One thread runs both workers; the first visit of worker 0 hands its block to worker 1.
  const team = new Team(shareTeam({ threads: 1, workers: 2, cores: 1 }), 0);
  const asyncRing = new AsyncRing(team, allocateAsyncRing(separateArena, 2));
  const visits: string[] = [];
  asyncRing.rotate(nothing, (worker, block) => visits.push(`${worker}:${block}`));
  expect(visits).toEqual(['0:0', '1:1', '0:1', '1:0']);
});

test('a record that ends too early says so', () => {
  const replay = new Replay(Int32Array.from([0, 3, 1, 2]), 2);
  replay.rotate(nothing, () => {});
  expect(() => replay.rotate(nothing, () => {})).toThrow('the record ends after 1 rotations');
});
