/** A loss of the user's own, as a module, on threads and with the plain kernels. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadLoss, losses } from '../../src/problem/losses/index.ts';
import type { Loss } from '../../src/problem/losses/loss.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { verify } from '../../src/train/verify/verify.ts';
import { referenceOptimum } from '../reference/reference.ts';
import { sample, zipfDataset } from '../support/data.ts';
import { firstDifference } from '../support/engine-arrays.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { trainCertified } from './certified.ts';

async function lossFrom(source: string): Promise<Loss> {
  const file = join(temporaryFolder(), 'loss.mjs');
  writeFileSync(file, source);
  return loadLoss(file);
}

/** A built-in loss under another name: the same functions, but run by the plain kernels. */
function twinOf(loss: Loss): Promise<Loss> {
  const original = new URL(`../../src/problem/losses/${loss.name}.ts`, import.meta.url).href;
  return lossFrom(`
    export * from '${original}';
    export const name = 'twin';
    export const task = '${loss.task}';
    export const smooth = ${loss.smooth};
    export const parameter = ${loss.parameter};
  `);
}

const text = zipfDataset({ rows: 200, columns: 120, perRow: 10 });
const numbers = sample({ rows: 100, columns: 15, task: 'regression' }).dataset;

const twins: { loss: Loss; options: TrainOptions }[] = [
  { loss: losses.hinge(), options: {} },
  { loss: losses.hinge(), options: { penalty: penalties.l1(), intercept: true } },
  { loss: losses.hinge(), options: { grid: 1 } },
  { loss: losses.hinge(), options: { solver: solvers.dso() } },
  { loss: losses.hinge(), options: { solver: solvers.proximalPoint(), intercept: true } },
  { loss: losses.logistic(), options: { solver: solvers.ring({ mode: 'rows' }) } },
  { loss: losses.logistic(), options: { penalty: penalties.elasticNet() } },
  { loss: losses.logistic(), options: { grid: 1, penalty: penalties.l1() } },
  { loss: losses.logistic(), options: { solver: solvers.dso({ step: 'sqrt', svrg: false }) } },
  {
    loss: losses.smoothedHinge({ smoothing: 0.5 }),
    options: { intercept: true, solver: solvers.ring({ mode: 'columns' }) },
  },
  { loss: losses.huber({ delta: 0.7 }), options: {} },
  { loss: losses.square(), options: { penalty: penalties.l1() } },
  { loss: losses.absolute({ epsilon: 0.1 }), options: { penalty: penalties.elasticNet() } },
];

describe('plain kernels give the bits of the WebAssembly ones', () => {
  test.each(twins)('$loss.name $options', async ({ loss, options }) => {
    const dataset = loss.task === 'regression' ? numbers : text;
    // Of a custom loss less is known, so that auto may choose another solver.
    const common = {
      lambda: 0.01,
      grid: 3,
      threads: 2,
      epochs: 15,
      tolerance: 1e-9,
      solver: solvers.ring(),
      ...options,
    };
    const built = await train(dataset, { ...common, loss });
    const custom = await train(dataset, { ...common, loss: await twinOf(loss) });
    expect(firstDifference(custom.model.weights, built.model.weights)).toBeUndefined();
    expect(custom.model.intercepts).toEqual(built.model.intercepts);
    // Less is known of the rounding errors of a custom loss: its bound may be lower by them.
    const { dual, gap, relativeGap, ...rest } = custom.model.certificate;
    expect(built.model.certificate).toMatchObject(rest);
    expect(dual).toBeLessThanOrEqual(built.model.certificate.dual);
    expect(dual).toBeCloseTo(built.model.certificate.dual, 10);
    expect(custom.report.passes).toBe(built.report.passes);
  });
});

/** argmax of a concave function of a on [low, high], from its slope, by halving. */
const halving = `
  function rootOfSlope(slope, low, high) {
    for (let k = 0; k < 200; k++) {
      const middle = 0.5 * (low + high);
      if (slope(middle) > 0) low = middle; else high = middle;
    }
    return 0.5 * (low + high);
  }
`;

const ownLogistic = `
  ${halving}
  export const name = 'own-logistic', task = 'classification', smooth = true;
  export const value = (u, y) => Math.log1p(Math.exp(-Math.abs(u))) + Math.max(0, -y * u);
  export const derivative = (u, y) => -y / (1 + Math.exp(y * u));
  export const curvature = (u) => Math.max(1e-3, 1 / (2 + Math.exp(u) + Math.exp(-u)));
  const part = (b) => (b > 0 ? b * Math.log(b) : 0);
  export const conjugate = (s, y) => part(-y * s) + part(1 + y * s);
  export const conjugateDerivative = (s, y) => {
    const beta = Math.min(Math.max(-y * s, 1e-300), 1 - 2 ** -53);
    return -y * Math.log(beta / (1 - beta));
  };
  export const conjugateLow = (y) => (y > 0 ? -1 : 0);
  export const conjugateHigh = (y) => (y > 0 ? 0 : 1);
  export const dualStep = (alpha, u, q, y) =>
    y * rootOfSlope(
      (b) => -Math.log(b / (1 - b)) - y * u - q * (b - y * alpha), 0, 1,
    );
`;

/** log cosh(u − y), which grows like |u − y| and is round at 0. */
const logCosh = `
  ${halving}
  export const name = 'log-cosh', task = 'regression', smooth = true;
  export const value = (u, y) => {
    const d = Math.abs(u - y);
    return d + Math.log1p(Math.exp(-2 * d)) - Math.LN2;
  };
  export const derivative = (u, y) => Math.tanh(u - y);
  export const curvature = (u, y) => Math.max(1e-3, 1 - Math.tanh(u - y) ** 2);
  const part = (t) => (t > 0 ? 0.5 * t * Math.log(t) : 0);
  export const conjugate = (s, y) => s * y + part(1 + s) + part(1 - s);
  export const conjugateDerivative = (s, y) =>
    y + Math.atanh(Math.min(Math.max(s, -1 + 2 ** -52), 1 - 2 ** -52));
  export const conjugateLow = () => -1;
  export const conjugateHigh = () => 1;
  export const dualStep = (alpha, u, q, y) =>
    rootOfSlope((a) => y - Math.atanh(a) - u - q * (a - alpha), -1, 1);
`;

test.each([solvers.auto(), solvers.ring({ mode: 'rows' })])(
  'a logistic loss of one’s own has the built-in one’s optimum ($name)',
  async (solver) => {
    const { rows, labels, dataset } = sample();
    const common = { penalty: penalties.l2(), lambda: 0.02 };
    const { value } = referenceOptimum({ rows, labels, loss: losses.logistic(), ...common });
    const options = { ...common, solver, grid: 3, threads: 2, tolerance: 1e-7 };
    const loss = await lossFrom(ownLogistic);
    const own = await trainCertified(dataset, value, { ...options, loss });
    const built = await trainCertified(dataset, value, { ...options, loss: losses.logistic() });
    own.model.weights.forEach((w, j) => {
      expect(w).toBeCloseTo(built.model.weights[j], 3);
    });
    expect(own.report.loss).toBe('own-logistic');
    expect(own.model.loss.module).toMatch(/^file:.*loss\.mjs$/);
  },
);

test.each([penalties.l2(), penalties.l1(), penalties.elasticNet()])(
  'a loss that is not built in, with $name: certified, and no step improves it',
  async (penalty) => {
    const { rows, labels, dataset } = sample({ task: 'regression' });
    const loss = await lossFrom(logCosh);
    const { model, report } = await train(dataset, {
      loss,
      penalty,
      lambda: 0.02,
      grid: 3,
      threads: 2,
      tolerance: 1e-8,
    });
    expect(report.stopped).toBe('converged');
    const objective = (weights: readonly number[]) =>
      weights.reduce((sum, w) => sum + 0.02 * penalty.value(w), 0) +
      rows.reduce((sum, row, i) => {
        const score = row.reduce((total, x, j) => total + x * weights[j], 0);
        return sum + Math.log(Math.cosh(score - labels[i])) / rows.length;
      }, 0);
    const best = [...model.weights];
    const value = objective(best);
    expect(value).toBeCloseTo(report.primal, 12);
    for (let j = 0; j < best.length; j++) {
      for (const step of [1e-1, 1e-2, 1e-3, -1e-1, -1e-2, -1e-3]) {
        const moved = best.map((w, k) => (k === j ? w + step : w));
        expect(objective(moved)).toBeGreaterThan(report.dual);
      }
    }
  },
);

const ownShifted = (below: number) => `
  const sigma = (z) => 1 / (1 + Math.exp(-z));
  const entropy = (x) => (x <= 0 ? 0 : x * Math.log(x));
  export const name = 'shifted';
  export const task = 'classification';
  export const smooth = true;
  export const value = (u, y) => Math.log1p(Math.exp(-y * u)) - ${below};
  export const derivative = (u, y) => -y * sigma(-y * u);
  export const curvature = (u) => sigma(u) * sigma(-u);
  export const conjugate = (s, y) => entropy(-y * s) + entropy(1 + y * s) + ${below};
  export const conjugateDerivative = (s, y) => -y * Math.log((-y * s) / (1 + y * s));
  export const conjugateLow = (y) => (y > 0 ? -1 : 0);
  export const conjugateHigh = (y) => (y > 0 ? 0 : 1);
  export const dualStep = (alpha) => alpha;
`;

test.each([
  ['two classes, to the last bit', 1e-15],
  ['one class, whose infimum of -5 is never reached', 1e-6],
])('a loss that may be negative has true bounds, too: %s', async (name, tolerance) => {
  const loss = await lossFrom(ownShifted(5));
  const { dataset } = sample();
  const oneClass = { classWeights: { '-1': 0, '1': 1 } };
  const { model, report, dual } = await train(dataset, {
    loss,
    intercept: true,
    lambda: 0.01,
    tolerance,
    solver: solvers.lbfgs(),
    keepDual: true,
    ...(name.startsWith('one') && oneClass),
  });
  expect(report.dual).toBeGreaterThan(-Infinity);
  expect(report.primal).toBeGreaterThan(report.dual);
  expect(report.stopped).toBe(tolerance < 1e-9 ? 'precision' : 'converged');
  const { confirmed, proved } = await verify(model, dataset, { loss, dual });
  expect(confirmed).toBe(true);
  expect(proved.dual).toBeGreaterThanOrEqual(report.dual);
});

test('runs at the same time do not wait for one another, however long one loads its loss', async () => {
  const original = new URL('../../src/problem/losses/logistic.ts', import.meta.url).href;
  // The second of any two threads has it much later than the first.
  const slow = await lossFrom(`
    import { threadId } from 'node:worker_threads';
    export * from '${original}';
    export const name = 'slow';
    export const task = 'classification';
    export const smooth = true;
    export const parameter = 0;
    if (threadId % 2 === 1) await new Promise((resolve) => setTimeout(resolve, 100));
  `);
  const options = { threads: 2, grid: 2, solver: solvers.ring() };
  const results = await Promise.all(
    [slow, losses.logistic()].map((loss) => train(text, { ...options, loss })),
  );
  expect(results.map(({ report }) => report.stopped)).toEqual(['converged', 'converged']);
  expect(results[0].model.weights).toEqual(results[1].model.weights);
});
