/** Asynchronous runs depend on timing, yet each has the bits of a serial order, which it records. */
import { describe, expect, test } from 'vitest';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { zipfDataset } from '../support/data.ts';
import { firstDifference } from '../support/engine-arrays.ts';

const text = zipfDataset({ rows: 600, columns: 300, perRow: 15 });

const variants: { title: string; options: TrainOptions; settings: object }[] = [
  { title: 'hinge', options: { loss: losses.hinge() }, settings: {} },
  {
    title: 'logistic, intercept',
    options: { loss: losses.logistic(), intercept: true },
    settings: {},
  },
  {
    title: 'hinge, L1, averaged, η₀/√t',
    options: { loss: losses.hinge(), penalty: penalties.l1() },
    settings: { step: 'sqrt', average: true, svrg: false },
  },
];

describe.each(variants)('$title', ({ options, settings }) => {
  test('50 runs on 4 workers replay to the same bits', async () => {
    const common = { ...options, lambda: 0.003, grid: 4, epochs: 4, tolerance: 1e-12 };
    const orders = new Set<string>();
    for (let run = 0; run < 50; run++) {
      const solver = solvers.dsoAsync(settings);
      const { model, report, visits } = await train(text, { ...common, solver, threads: 4 });
      expect(visits).toHaveLength(4 * 16);
      expect(report.threads).toBe(4);
      orders.add(String(visits));
      const order = visits as Int32Array;
      const again = await train(text, {
        ...common,
        solver: solvers.dsoAsync({ ...settings, order }),
      });
      expect(again.report.threads).toBe(1);
      expect(firstDifference(again.model.weights, model.weights), `run ${run}`).toBeUndefined();
      expect(Buffer.compare(encodeModel(again.model), encodeModel(model))).toBe(0);
      expect(String(again.visits)).toBe(String(visits));
    }
    // Were the order always the same, replaying it would prove little.
    expect(orders.size).toBeGreaterThan(1);
  });
});

test('another order is another model', async () => {
  const common = { lambda: 0.003, grid: 3, epochs: 2, tolerance: 1e-12 };
  const cells = [0, 4, 8, 1, 5, 6, 2, 3, 7];
  const run = async (order: number[]) => {
    const solver = solvers.dsoAsync({ order: Int32Array.from([...order, ...order]) });
    return (await train(text, { ...common, solver })).model.weights;
  };
  const one = await run(cells);
  expect(firstDifference(await run(cells), one)).toBeUndefined();
  expect(firstDifference(await run(cells.toReversed()), one)).toBeDefined();
});

test('the ring order is one of the orders: replaying it is dso itself', async () => {
  const common = { lambda: 0.003, grid: 4, epochs: 3, tolerance: 1e-12, threads: 2 };
  const ring = Array.from({ length: 16 }, (_, k) => 4 * (k % 4) + (((k % 4) + (k >> 2)) % 4));
  const order = Int32Array.from([...ring, ...ring, ...ring]);
  const replayed = await train(text, { ...common, solver: solvers.dsoAsync({ order }) });
  const dso = await train(text, { ...common, solver: solvers.dso() });
  expect(firstDifference(replayed.model.weights, dso.model.weights)).toBeUndefined();
});
