/** Data and options at the edge of what makes sense. */
import { totalmem } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../src/data/from-arrays.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import type { Loss } from '../../../src/problem/losses/loss.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { solvers } from '../../../src/solvers/index.ts';
import type { EpochEvent } from '../../../src/train/events.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { referenceOptimum } from '../../reference/reference.ts';
import { datasetOf, sample } from '../../support/data.ts';

const margin = [
  losses.hinge(),
  losses.squaredHinge(),
  losses.smoothedHinge({ smoothing: 0.5 }),
  losses.logistic(),
];
const regression = [losses.square(), losses.huber(), losses.absolute({ epsilon: 0.1 })];
const allPenalties = [penalties.l2(), penalties.l1(), penalties.elasticNet()];

/** Trains with every penalty; numbers in events and reports must be numbers, and P ≥ D. */
async function trainAll(dataset: Dataset, loss: Loss, options: TrainOptions = {}) {
  const results = [];
  for (const penalty of allPenalties) {
    const events: EpochEvent[] = [];
    const result = await train(dataset, {
      loss,
      penalty,
      threads: 1,
      ...options,
      onEpoch: (event) => events.push(event),
    });
    for (const { primal, dual, passes, relativeGap } of events) {
      expect(primal).toBeGreaterThanOrEqual(dual - 1e-12 * Math.abs(primal) - 1e-15);
      expect(Number.isFinite(passes)).toBe(true);
      expect(relativeGap).toBeGreaterThanOrEqual(0);
    }
    expect(result.model.weights.every(Number.isFinite)).toBe(true);
    expect(result.model.intercepts.every(Number.isFinite)).toBe(true);
    results.push({ penalty, ...result });
  }
  return results;
}

describe('shapes', () => {
  test.each(regression)('one row, one column: $name', async (loss) => {
    for (const { report } of await trainAll(datasetOf([[2]], [3]), loss, { tolerance: 1e-9 })) {
      expect(report.stopped).toBe('converged');
    }
    if (loss.name !== 'square') return;
    const ridge = await train(datasetOf([[2]], [3]), { loss, lambda: 0.5, tolerance: 1e-12 });
    expect(ridge.model.weights[0]).toBeCloseTo(6 / 4.5, 9);
  });

  test.each(margin)('one column, with and without an intercept: $name', async (loss) => {
    const rows = [[1.1], [2.3], [-0.9], [0.2], [0.6]];
    const labels = [1, 1, -1, -1, 1];
    for (const intercept of [false, true]) {
      const options = { intercept, lambda: 0.1, tolerance: 1e-5 };
      for (const { penalty, report } of await trainAll(datasetOf(rows, labels), loss, options)) {
        const { value } = referenceOptimum({ rows, labels, loss, penalty, lambda: 0.1, intercept });
        expect(report.stopped).toBe('converged');
        expect(Math.abs(report.primal - value) / value).toBeLessThan(2e-5);
      }
    }
  });

  test.each([...margin, ...regression])('rows without entries: $name', async (loss) => {
    const empty = { indices: [], values: [] };
    for (const columns of [0, 3]) {
      const data = datasetFromRows({ rows: [empty, empty, empty], labels: [1, -1, 1], columns });
      for (const { model, report } of await trainAll(data, loss)) {
        expect(report.stopped).toBe('converged');
        expect(model.weights).toEqual(new Float64Array(columns));
        const atZero = [1, -1, 1].map((y) => loss.value(0, y, loss.parameter));
        const wanted = (atZero[0] + atZero[1] + atZero[2]) / 3;
        expect(report.primal).toBeCloseTo(wanted, 12);
      }
    }
  });

  test.each(margin)('a column without entries keeps the weight 0: $name', async (loss) => {
    const { rows, labels } = sample({ rows: 30, columns: 4 });
    const holed = rows.map((row) => [row[0], 0, ...row.slice(1), 0]);
    for (const grid of [1, 3]) {
      for (const { model, report } of await trainAll(datasetOf(holed, labels), loss, { grid })) {
        expect(report.stopped).toBe('converged');
        expect(model.weights[1]).toBe(0);
        expect(model.weights[5]).toBe(0);
      }
    }
  });

  test.each(margin)('the same row many times with both labels: $name', async (loss) => {
    const rows = Array.from({ length: 7 }, () => [1, 2]);
    const labels = [1, -1, 1, -1, 1, 1, 1];
    for (const grid of [1, 2]) {
      const options = { grid, lambda: 0.1, tolerance: 1e-5 };
      for (const { penalty, report } of await trainAll(datasetOf(rows, labels), loss, options)) {
        const { value } = referenceOptimum({ rows, labels, loss, penalty, lambda: 0.1 });
        expect(report.stopped).toBe('converged');
        expect(Math.abs(report.primal - value) / value).toBeLessThan(2e-5);
      }
    }
  });

  test.each(margin)('one row of each class, as many workers as rows: $name', async (loss) => {
    const data = datasetOf(
      [
        [1, 2],
        [-1, 1],
      ],
      [1, -1],
    );
    for (const { model, report } of await trainAll(data, loss, { grid: 2, lambda: 0.01 })) {
      expect(report.stopped).toBe('converged');
      expect(model.weights[0] + 2 * model.weights[1]).toBeGreaterThan(0);
    }
  });

  test('a grid of as many workers as rows and columns', async () => {
    const { rows, labels, dataset } = sample({ rows: 10, columns: 10 });
    for (const loss of margin) {
      const options = { grid: 10, threads: 2, lambda: 0.05 };
      for (const { penalty, report } of await trainAll(dataset, loss, options)) {
        const { value } = referenceOptimum({ rows, labels, loss, penalty, lambda: 0.05 });
        expect(report.stopped).toBe('converged');
        expect((report.primal - value) / value).toBeLessThan(1e-3);
      }
    }
  });

  test('a holdout that leaves fewer rows than workers', async () => {
    const { dataset } = sample({ rows: 10, columns: 10 });
    const { report } = await train(dataset, { grid: 10, threads: 2, holdout: 0.3 });
    expect(report.rows).toBe(7);
    expect(report.stopped).toBe('converged');
  });
});

describe('scales', () => {
  const { rows, labels } = sample({ rows: 50, columns: 6 });

  /** x → c x and λ → c² λ (L2) leave the problem as it is, with w → w/c. */
  test.each([2 ** 40, 2 ** 20, 2 ** -20, 2 ** -40])('features times %f', async (scale) => {
    const scaled = datasetOf(
      rows.map((row) => row.map((x) => x * scale)),
      labels,
    );
    for (const loss of margin) {
      const options = { loss, lambda: 0.05, tolerance: 1e-6 };
      const plain = await train(datasetOf(rows, labels), options);
      const far = await train(scaled, { ...options, lambda: 0.05 * scale * scale });
      expect(far.report.stopped).toBe('converged');
      expect(Math.abs(far.report.primal - plain.report.primal)).toBeLessThan(2e-6);
    }
  });

  test.each([1e6, 1e5, 1e-2])('labels times %f', async (scale) => {
    const numbers = sample({ rows: 50, columns: 6, task: 'regression' });
    const far = datasetOf(
      numbers.rows,
      numbers.labels.map((y) => y * scale),
    );
    for (const loss of [losses.square(), losses.absolute()]) {
      for (const intercept of [false, true]) {
        const { report } = await train(far, { loss, intercept, lambda: 0.02, epochs: 3000 });
        expect(report.stopped).toBe('converged');
      }
    }
  });

  test('features that are small next to the intercept', async () => {
    for (const scale of [1e-2, 1e-3]) {
      const small = datasetOf(
        rows.map((row) => row.map((x) => Math.fround(x * scale))),
        labels,
      );
      for (const loss of margin) {
        const { report } = await train(small, { loss, intercept: true, epochs: 3000 });
        expect(report.stopped, `${loss.name}, features times ${scale}`).toBe('converged');
      }
    }
  });

  test.each(margin)(
    'values as large and as small as float32 allows end in numbers: $name',
    async (loss) => {
      for (const scale of [3e37, 1e-38]) {
        const far = datasetOf(
          rows.map((row) => row.map((x) => Math.fround(x * scale))),
          labels,
        );
        for (const { report } of await trainAll(far, loss, { epochs: 30 })) {
          expect(Number.isFinite(report.primal)).toBe(true);
          expect(Number.isNaN(report.dual)).toBe(false);
        }
      }
    },
  );

  test('an enormous λ leaves nothing but the intercept', async () => {
    for (const loss of margin) {
      const options = { lambda: 1e6, tolerance: 1e-3, epochs: 3000 };
      for (const { model, report } of await trainAll(datasetOf(rows, labels), loss, options)) {
        expect(report.stopped).toBe('converged');
        expect(Math.max(...model.weights.map(Math.abs))).toBeLessThan(1e-5);
      }
      const strong = { ...options, loss, lambda: 1e3, intercept: true };
      const { report } = await train(datasetOf(rows, labels), strong);
      expect(report.stopped, `${loss.name} with intercept`).toBe('converged');
    }
  });

  test('a tiny λ ends with an honest certificate', async () => {
    const tiny = { lambda: 1e-12, epochs: 40 };
    for (const loss of margin) await trainAll(datasetOf(rows, labels), loss, tiny);
    const numbers = sample({ rows: 50, columns: 6, task: 'regression' });
    const { report } = await train(numbers.dataset, { loss: losses.square(), lambda: 1e-12 });
    expect(report.stopped).toBe('converged');
  });
});

describe('optima of 0', () => {
  test.each(regression)('labels that are all 0: $name', async (loss) => {
    const data = datasetOf(
      [
        [1, 2],
        [2, 1],
        [0, 1],
      ],
      [0, 0, 0],
    );
    for (const intercept of [false, true]) {
      for (const { model, report } of await trainAll(data, loss, { intercept })) {
        expect(report.stopped).toBe('converged');
        expect(report.primal).toBeCloseTo(0, 12);
        expect(Math.max(...model.weights.map(Math.abs))).toBeLessThan(1e-6);
      }
    }
  });

  test.each(regression)('labels that the intercept fits alone: $name', async (loss) => {
    const data = datasetOf(
      [
        [1, 2],
        [2, 1],
        [0, 1],
        [1, 1],
      ],
      [7, 7, 7, 7],
    );
    for (const { report } of await trainAll(data, loss, { intercept: true, lambda: 0.1 })) {
      expect(report.stopped).toBe('converged');
      expect(report.primal).toBeLessThan(1e-6);
    }
  });
});

test('rows without features are part of the certificate of the paper’s solver', async () => {
  const rows = Array.from({ length: 60 }, (_, i) =>
    i % 3 === 0 ? { indices: [], values: [] } : { indices: [i % 5, 5], values: [1, (i % 7) - 3] },
  );
  const labels = rows.map((_, i) => (i % 4 < 2 ? 1 : -1));
  const data = datasetFromRows({ rows, labels, columns: 6 });
  for (const loss of [losses.hinge(), losses.square(), losses.logistic()]) {
    for (const solver of [solvers.dso(), solvers.dsoAsync()]) {
      const options = { loss, solver, grid: 3, lambda: 0.05, tolerance: 0.02, epochs: 3000 };
      expect((await train(data, options)).report.stopped).toBe('converged');
    }
  }
});

test.each([solvers.sgd(), solvers.dso(), solvers.bmrm(), solvers.dcd(), solvers.psgd()])(
  '$name never returns a model that is worse than none',
  async (solver) => {
    const { dataset } = sample({ rows: 20, columns: 40 });
    for (const lambda of [1e-12, 1e6]) {
      const { report } = await train(dataset, { solver, lambda, epochs: 3, tolerance: 1e-9 });
      expect(report.primal).toBeLessThanOrEqual(1);
    }
  },
);

test('a run that would take more memory than there is, is refused before it takes any', async () => {
  const data = datasetFromRows({
    rows: Array.from({ length: 300 }, (_, i) => ({ indices: [i], values: [1] })),
    labels: Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? 1 : -1)),
    // 64 bytes per column and worker.
    columns: Math.ceil((1.2 * totalmem()) / (64 * 256)),
  });
  await expect(train(data, { solver: solvers.psgd(), grid: 256 })).rejects.toThrow(
    /^psgd on a grid of 256 needs \d+\.\d GiB; this machine has/,
  );
});

test('dso meets the edges without falling over them', async () => {
  const empty = { indices: [], values: [] };
  const some = { indices: [1], values: [2] };
  const data = datasetFromRows({ rows: [empty, some, empty], labels: [1, -1, 1], columns: 4 });
  for (const loss of [...margin, ...regression]) {
    await trainAll(data, loss, { solver: solvers.dso(), grid: 2, epochs: 20, intercept: true });
  }
});
