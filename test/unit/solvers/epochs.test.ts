/** When a run ends and what it tells on the way. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../src/problem/losses/index.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import type { Limits, Progress } from '../../../src/solvers/epochs.ts';
import { solvers } from '../../../src/solvers/index.ts';
import { zipfDataset } from '../../support/data.ts';
import { type EngineOptions, prepare, runOnThreads } from '../../support/engine.ts';

const dataset = zipfDataset({ rows: 200, columns: 120, perRow: 8 });
const tolerance = 1e-3;

function run(options: Partial<EngineOptions>, threads = 1, limits: Partial<Limits> = {}) {
  const engine = prepare({
    dataset,
    loss: losses.hinge(),
    penalty: penalties.l2(),
    lambda: 0.005,
    solver: solvers.ring({ mode: 'rows' }),
    ...options,
  });
  return runOnThreads(engine, threads, { tolerance, epochs: 2000, ...limits });
}

const firstMet = (events: readonly Progress[]) =>
  events.find(({ relativeGap }) => relativeGap <= tolerance)!.epoch;

const upTo = (count: number) => Array.from({ length: count }, (_, k) => k + 1);

const rowModes: { title: string; options: Partial<EngineOptions>; threads: number }[] = [
  { title: 'hinge, L2', options: {}, threads: 1 },
  { title: 'hinge, L2, grid 3 on 2 threads', options: { grid: 3 }, threads: 2 },
  { title: 'hinge, L2, intercept', options: { intercept: true }, threads: 1 },
  {
    title: 'logistic, elastic net, grid 2',
    options: { loss: losses.logistic(), penalty: penalties.elasticNet(), grid: 2 },
    threads: 2,
  },
  { title: 'hinge, L1', options: { penalty: penalties.l1() }, threads: 1 },
];

describe.each(rowModes)('row mode, $title', ({ options, threads }) => {
  test('ends with the epoch that meets the tolerance, each of them told', async () => {
    const { outcome, events } = await run(options, threads);
    expect(outcome.stopped).toBe('converged');
    expect(outcome.relativeGap).toBeLessThanOrEqual(tolerance);
    expect(outcome.epochs).toBe(firstMet(events));
    expect(events.map(({ epoch }) => epoch)).toEqual(upTo(outcome.epochs));
    const { primal, dual, relativeGap, passes } = outcome;
    expect(events[events.length - 1]).toMatchObject({ primal, dual, relativeGap, passes });
  });
});

test.each([1, 3])('row mode, grid %i: P is known at least every 5 epochs', async (grid) => {
  const { events } = await run({ grid }, 1, { tolerance: 1e-6 });
  const told = events.map(({ primal }) => primal);
  const moved = [0, ...upTo(told.length).filter((epoch) => told[epoch - 1] !== told[epoch - 2])];
  const waits = moved.slice(1).map((epoch, k) => epoch - moved[k]);
  expect(Math.max(...waits)).toBeGreaterThan(1);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5);
});

test.each([
  { title: 'columns', solver: solvers.ring({ mode: 'columns' }) },
  { title: 'dso', solver: solvers.dso() },
])('$title: ends with the epoch that meets the tolerance', async ({ solver }) => {
  const { outcome, events } = await run({ loss: losses.logistic(), solver });
  expect(outcome.stopped).toBe('converged');
  expect(outcome.relativeGap).toBeLessThanOrEqual(tolerance);
  expect(outcome.epochs).toBe(firstMet(events));
  expect(events.map(({ epoch }) => epoch)).toEqual(upTo(outcome.epochs));
});

test('P never rises and D never falls from one event to the next', async () => {
  const { events } = await run({ grid: 2 }, 2, { tolerance: 1e-8 });
  // The last event has both computed afresh.
  for (let k = 1; k < events.length - 1; k++) {
    expect(events[k].primal).toBeLessThanOrEqual(events[k - 1].primal * (1 + 1e-15));
    expect(events[k].dual).toBeGreaterThanOrEqual(events[k - 1].dual);
  }
});
