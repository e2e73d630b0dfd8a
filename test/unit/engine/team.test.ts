import { describe, expect, test } from 'vitest';
import { shareTeam, Team } from '../../../src/engine/team.ts';
import { stream } from '../../../src/math/random.ts';
import { testPool } from './support/pool.ts';
import type { BarrierPayload, PhasePayload, ReducePayload } from './support/worker.ts';

const workers = 5;

/** Terms of very different size, so that another order of addition gives other bits. */
function illConditioned(rounds: number): number[][] {
  const random = stream(3, 3);
  return Array.from({ length: rounds }, () =>
    Array.from({ length: workers }, () => random.normal() * 10 ** (random.below(33) - 16)),
  );
}

/** The terms added from worker 0 on. */
const inOrder = (terms: readonly number[]) => terms.slice(1).reduce((sum, x) => sum + x, terms[0]);

interface ReduceResult {
  sums: number[];
  maxima: number[];
  received: number[];
  first: number;
  end: number;
}

describe.each([1, 2, 3, 4])('%i threads', (threads) => {
  test('sums are the same bits in every thread, added in the order of workers', async () => {
    const terms = illConditioned(300);
    const shared = shareTeam({ threads, workers, cores: 2 });
    const results = await testPool(threads).runAll<ReduceResult>(
      'reduce',
      threads,
      (index): ReducePayload => ({ shared, index, terms }),
    );
    const reversed = terms.map((row) => inOrder([...row].reverse()));
    const sums = terms.flatMap((row) => [inOrder(row), -inOrder(row)]);
    expect(sums.filter((sum, k) => k % 2 === 0 && sum !== reversed[k / 2]).length).toBeGreaterThan(
      10,
    );
    for (const result of results) {
      expect(result.sums).toEqual(sums);
      expect(result.maxima).toEqual(terms.map((row) => Math.max(...row)));
      expect(result.received).toEqual(terms.map((_, round) => 1000 + round));
    }
    // Every worker is run by exactly one thread.
    expect(results[0].first).toBe(0);
    expect(results[threads - 1].end).toBe(workers);
    for (let k = 1; k < threads; k++) expect(results[k].first).toBe(results[k - 1].end);
    for (const { first, end } of results) expect(end).toBeGreaterThan(first);
  });

  test('nobody leaves a barrier before everybody has come', async () => {
    const rounds = 300;
    const shared = shareTeam({ threads, workers, cores: 2 });
    const counter = new Int32Array(new SharedArrayBuffer(4));
    const results = await testPool(threads).runAll<number[]>(
      'barrier',
      threads,
      (index): BarrierPayload => ({ shared, index, rounds, counter }),
    );
    const expected = Array.from({ length: rounds }, (_, round) => (round + 1) * threads);
    for (const seen of results) expect(seen).toEqual(expected);
  });
});

describe('phases', () => {
  const rounds = 300;
  /** Task runs by thread, and the sums at the end. */
  const run = async (threads: number, away: number) => {
    const shared = shareTeam({ threads, workers, cores: 2 });
    const sums = new Float64Array(new SharedArrayBuffer(16 * workers));
    const ran = await testPool(threads).runAll<number>(
      'phase',
      threads,
      (index): PhasePayload => ({ shared, index, rounds, sums, away }),
    );
    return { ran, sums };
  };

  test.each([1, 2, 3, 4])(
    '%i threads: every task once, after all of the phase before',
    async (threads) => {
      const one = await run(1, -1);
      for (const away of [-1, threads - 1]) {
        const { ran, sums } = await run(threads, away);
        expect(ran.reduce((sum, count) => sum + count)).toBe(rounds * workers);
        expect(sums).toEqual(one.sums);
      }
    },
  );

  test('the tasks of a thread that is away are done by others', async () => {
    const { ran } = await run(2, 1);
    expect(ran[0]).toBeGreaterThan(2 * rounds);
  });
});

test('maxima of negative terms are not cut at 0', () => {
  const team = new Team(shareTeam({ threads: 1, workers: 3, cores: 1 }), 0);
  const [largest] = team.reduce(1, (worker, values) => values.fill(-5 - worker), 'max');
  expect(largest).toBe(-5);
});

test('an interrupt is seen by the team', () => {
  const shared = shareTeam({ threads: 1, workers: 1, cores: 1 });
  const team = new Team(shared, 0);
  expect(team.interrupted).toBe(false);
  Atomics.store(shared.interrupt, 0, 1);
  expect(team.interrupted).toBe(true);
});
