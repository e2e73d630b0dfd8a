/**
 * Lemma 1: a run on threads gives the bits of a serial one. The block visits of threaded runs are
 * recorded, their order is checked, and the updates are replayed serially in the paper's order.
 */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../src/problem/losses/index.ts';
import type { Loss } from '../../../src/problem/losses/loss.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import type { DsoMemory } from '../../../src/solvers/dso/state.ts';
import { solvers } from '../../../src/solvers/index.ts';
import type { DsoSettings, Solver } from '../../../src/solvers/registry.ts';
import { sample, zipfDataset } from '../../support/data.ts';
import { type Engine, type EngineOptions, prepare, runOnThreads } from '../../support/engine.ts';
import { firstDifference, type NumberArray } from '../../support/engine-arrays.ts';
import { SerialReplay } from './serial-replay.ts';

const grid = 4;
const epochs = 5;
const text = zipfDataset({ rows: 120, columns: 80, perRow: 8 });

function newTrace(visits = 500_000): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * (1 + 2 * visits)));
}

/** The recorded visits, checked to be whole rotations in the order of the ring. */
function checkRing(trace: Int32Array, p: number): void {
  const count = trace[0];
  expect(2 * count).toBeLessThan(trace.length);
  expect(count % (p * p)).toBe(0);
  const visitsOfBlock = new Array<number>(p).fill(0);
  const visitsOfWorker = new Array<number>(p).fill(0);
  let misplaced = 0;
  for (let n = 0; n < count; n++) {
    const worker = trace[1 + 2 * n];
    const block = trace[2 + 2 * n];
    const wantedWorker = (((block - visitsOfBlock[block]++) % p) + p) % p;
    const wantedBlock = (worker + visitsOfWorker[worker]++) % p;
    if (worker !== wantedWorker || block !== wantedBlock) misplaced++;
  }
  expect(misplaced).toBe(0);
  expect(visitsOfBlock).toEqual(new Array(p).fill(count / p));
}

const withoutZeroSigns = (array: Float64Array) => array.map((value) => value + 0);

interface Variant {
  readonly title: string;
  readonly loss: Loss;
  readonly options: Partial<EngineOptions>;
  readonly settings: Partial<DsoSettings>;
}

const steps = { stepSize: 0.3, dualStepSize: 0.5 };
const plainSteps = { step: 'sqrt', stepSize: 3, dualStepSize: 4 } as const;
const elastic = { penalty: penalties.elasticNet({ l1Ratio: 0.3 }) };
const weighted = { factors: Float64Array.from({ length: 80 }, (_, j) => 1 + (j % 3)) };

const variants: Variant[] = [
  {
    title: 'Algorithm 1: η₀/√t',
    loss: losses.hinge(),
    options: {},
    settings: { ...plainSteps, svrg: false },
  },
  {
    title: 'AdaGrad',
    loss: losses.logistic(),
    options: elastic,
    settings: { ...steps, svrg: false },
  },
  { title: 'AdaGrad and SVRG', loss: losses.hinge(), options: weighted, settings: steps },
  {
    title: 'η₀/√t and SVRG with an intercept',
    loss: losses.logistic(),
    options: { intercept: true },
    settings: plainSteps,
  },
  {
    title: 'the appendix: AdaGrad, SVRG, local dual coordinate descent first',
    loss: losses.hinge(),
    options: {},
    settings: { ...steps, initialize: 20 },
  },
  {
    title: 'local dual coordinate descent, smoothed hinge, elastic net',
    loss: losses.smoothedHinge({ smoothing: 0.5 }),
    options: elastic,
    settings: { ...steps, initialize: 3 },
  },
];

function dsoEngine({ loss, options, settings }: Variant): Engine {
  return prepare({
    dataset: text,
    loss,
    penalty: penalties.l2(),
    lambda: 0.01,
    grid,
    seed: 11,
    solver: solvers.dso(settings),
    ...options,
  });
}

describe.each(variants)('dso, $title', (variant) => {
  test.each([2, 3])('a run on %i threads is the serial one, bit for bit', async (threads) => {
    const engine = dsoEngine(variant);
    if (engine.plan.name !== 'dso') throw new Error('not the requested solver');
    const replay = new SerialReplay(
      engine.problem,
      text,
      engine.loss,
      engine.plan.settings,
      engine.seed,
    );
    for (let t = 0; t < epochs; t++) replay.epoch();

    const trace = newTrace();
    const { outcome } = await runOnThreads(engine, threads, { epochs }, trace);
    checkRing(trace, grid);
    expect(outcome.epochs).toBe(epochs);
    const { weights, alpha } = engine.memory.method as DsoMemory;
    expect(weights.some((w) => w !== 0)).toBe(true);
    const found = withoutZeroSigns(weights);
    expect(firstDifference(found, withoutZeroSigns(replay.w))).toBeUndefined();
    expect(
      firstDifference(withoutZeroSigns(alpha), withoutZeroSigns(replay.alpha)),
    ).toBeUndefined();
  });
});

const regression = sample({ rows: 90, columns: 20, task: 'regression' }).dataset;

const rings: { title: string; options: Partial<EngineOptions> & { solver: Solver } }[] = [
  { title: 'rows', options: { solver: solvers.ring({ mode: 'rows', rotations: 20 }) } },
  {
    title: 'rows, six rotations',
    options: { solver: solvers.ring({ mode: 'rows', rotations: 6 }) },
  },
  {
    title: 'rows, elastic net, intercept',
    options: { solver: solvers.ring({ mode: 'rows' }), ...elastic, intercept: true },
  },
  {
    title: 'rows, L1',
    options: { solver: solvers.ring({ mode: 'rows', rotations: 20 }), penalty: penalties.l1() },
  },
  {
    title: 'rows, L1, six rotations',
    options: { solver: solvers.ring({ mode: 'rows', rotations: 6 }), penalty: penalties.l1() },
  },
  {
    title: 'columns, logistic, L1',
    options: {
      solver: solvers.ring({ mode: 'columns', rotations: 6 }),
      loss: losses.logistic(),
      penalty: penalties.l1(),
    },
  },
  {
    title: 'columns, square, intercept',
    options: {
      solver: solvers.ring({ mode: 'columns' }),
      dataset: regression,
      loss: losses.square(),
      intercept: true,
    },
  },
];

describe.each(rings)('ring, $title', ({ options }) => {
  const run = async (threads: number) => {
    const engine = prepare({
      dataset: text,
      loss: losses.hinge(),
      penalty: penalties.l2(),
      lambda: 0.005,
      grid,
      seed: 11,
      ...options,
    });
    const trace = newTrace();
    const { outcome, events } = await runOnThreads(engine, threads, { epochs: 6 }, trace);
    const settled = { primal: outcome.primal, dual: outcome.dual, passes: outcome.passes };
    const untimed = events.map(({ seconds: _seconds, effort: _effort, ...event }) => event);
    return { engine, trace, settled, events: untimed };
  };

  test('2, 3 and 4 threads leave the bits of the serial order', async () => {
    const serial = await run(1);
    const arrays = Object.entries(serial.engine.memory.method as object) as [string, NumberArray][];
    const serialVisits = serial.trace.subarray(1, 1 + 2 * serial.trace[0]);
    // One thread: by inner iteration, then by rank, as Lemma 1 numbers them.
    serialVisits.forEach((value, k) => {
      const n = k >> 1;
      const expected = k % 2 === 0 ? n % grid : ((n % grid) + Math.floor(n / grid)) % grid;
      if (value !== expected) expect([k, value]).toEqual([k, expected]);
    });
    for (const threads of [2, 3, 4]) {
      const threaded = await run(threads);
      checkRing(threaded.trace, grid);
      expect(threaded.trace[0]).toBe(serial.trace[0]);
      expect(threaded.settled).toEqual(serial.settled);
      expect(threaded.events).toEqual(serial.events);
      for (const [name, expected] of arrays) {
        const found = (threaded.engine.memory.method as Record<string, NumberArray>)[name];
        expect(firstDifference(found, expected), `${name}, ${threads} threads`).toBeUndefined();
      }
    }
  });
});

describe('rotations of an epoch', () => {
  const visitsOf = async (rotations: number, count: number) => {
    const solver = solvers.ring({ mode: 'rows', rotations });
    const engine = prepare({
      dataset: text,
      loss: losses.hinge(),
      penalty: penalties.l2(),
      grid,
      solver,
    });
    const trace = newTrace();
    await runOnThreads(engine, 2, { epochs: count }, trace);
    return trace[0] / (grid * grid);
  };

  test('B and one that applies the last changes', async () => {
    // What is not epochs is preparation and evaluation: one epoch each, so it cancels.
    const fewer = await visitsOf(17, 1);
    const more = await visitsOf(29, 1);
    expect(more - fewer).toBe(12);
    expect(fewer).toBeGreaterThanOrEqual(18);
  });

  test.each([1, 5, 16])('with no more than %i, that and the evaluation are B + 1', async (few) => {
    const one = await visitsOf(few, 1);
    const five = await visitsOf(few, 5);
    expect(five - one).toBe(4 * (few + 1));
  });
});
