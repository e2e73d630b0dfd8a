/** Every solver gives the same bits wherever its arrays are, on the kernels for that memory. */
import { expect, test } from 'vitest';
import { narrowLimit } from '../../../src/engine/arena.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { fewRotations, solvers } from '../../../src/solvers/index.ts';
import { sample, zipfDataset } from '../../support/data.ts';
import { type EngineOptions, prepare, runOnThreads } from '../../support/engine.ts';
import { firstDifference } from '../../support/engine-arrays.ts';

const l2 = penalties.l2();
const l1 = penalties.l1();
const logistic = losses.logistic();

type Variant = Pick<EngineOptions, 'solver' | 'loss' | 'penalty' | 'grid' | 'intercept'>;

const variants: Record<string, Variant> = {
  'ring rows, stages': {
    solver: solvers.ring({ mode: 'rows' }),
    loss: losses.hinge(),
    penalty: l2,
  },
  'ring rows, L1': { solver: solvers.ring({ mode: 'rows' }), loss: logistic, penalty: l1 },
  'ring rows, many rotations': {
    solver: solvers.ring({ mode: 'rows', rotations: 2 * fewRotations }),
    loss: losses.hinge(),
    penalty: l2,
  },
  'ring rows, one rotation': {
    solver: solvers.ring({ mode: 'rows', rotations: 1 }),
    loss: losses.squaredHinge(),
    penalty: l2,
  },
  'ring columns': { solver: solvers.ring({ mode: 'columns' }), loss: logistic, penalty: l1 },
  dso: { solver: solvers.dso(), loss: losses.hinge(), penalty: l2 },
  'interior-point': { solver: solvers.interiorPoint(), loss: losses.hinge(), penalty: l2 },
  'proximal-point': { solver: solvers.proximalPoint(), loss: losses.hinge(), penalty: l2 },
  newton: { solver: solvers.newton(), loss: logistic, penalty: l2 },
  'working-set': { solver: solvers.workingSet(), loss: logistic, penalty: l1 },
  lbfgs: { solver: solvers.lbfgs(), loss: logistic, penalty: l2 },
  bmrm: { solver: solvers.bmrm(), loss: losses.hinge(), penalty: l2 },
  admm: { solver: solvers.admm(), loss: logistic, penalty: l2 },
  psgd: { solver: solvers.psgd(), loss: losses.hinge(), penalty: l2 },
  sgd: { solver: solvers.sgd(), loss: losses.hinge(), penalty: l2, grid: 1 },
  dcd: { solver: solvers.dcd(), loss: losses.hinge(), penalty: l2, grid: 1 },
};

const text = zipfDataset({ rows: 120, columns: 80, perRow: 8 });
const tall = sample({ rows: 150, columns: 7 }).dataset;

test.each(Object.entries(variants))('%s', async (_name, variant) => {
  const dataset = variant.solver.name === 'interior-point' ? tall : text;
  const results = [];
  for (const kernels of ['wasm', 'far'] as const) {
    const engine = prepare({ grid: 2, ...variant, dataset, kernels });
    const { outcome, events } = await runOnThreads(engine, Math.min(2, variant.grid ?? 2), {
      epochs: 8,
    });
    const { best } = engine.memory;
    if (kernels === 'far') expect(best.byteOffset).toBeGreaterThan(narrowLimit);
    const { epochs, primal, dual } = outcome;
    results.push({ best, outcome: { epochs, primal, dual }, primals: events.map((e) => e.primal) });
  }
  const [near, far] = results;
  expect(near.best.some((weight) => weight !== 0)).toBe(true);
  expect(firstDifference(far.best, near.best)).toBeUndefined();
  expect(far.outcome).toEqual(near.outcome);
  expect(far.primals).toEqual(near.primals);
});
