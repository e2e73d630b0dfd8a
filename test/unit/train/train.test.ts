import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { datasetFromCsr, datasetFromRows } from '../../../src/data/from-arrays.ts';
import { encodeModel } from '../../../src/model/file.ts';
import { predict } from '../../../src/model/predict/predict.ts';
import { loadLoss, losses } from '../../../src/problem/losses/index.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { solvers } from '../../../src/solvers/index.ts';
import type { EpochEvent } from '../../../src/train/events.ts';
import { train } from '../../../src/train/train.ts';
import { datasetOf, inParts, sample, zipfDataset } from '../../support/data.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const { rows, labels, dataset } = sample({ rows: 80, columns: 8 });

describe('defaults', () => {
  test('hinge, L2, λ = 1/m, tolerance 1e-3, seed 1, no intercept', async () => {
    const { model, report } = await train(dataset);
    expect(report).toMatchObject({
      loss: 'hinge',
      penalty: 'l2',
      lambda: 1 / 80,
      rows: 80,
      columns: 8,
      nonzeros: dataset.nonzeros,
      classes: [-1, 1],
      grid: 1,
      threads: 1,
      seed: 1,
      stopped: 'converged',
    });
    expect(report.relativeGap).toBeLessThanOrEqual(1e-3);
    expect(report.gap).toBe(report.primal - report.dual);
    expect(model.intercepts).toEqual(Float64Array.of(0));
    expect(model.weights).toHaveLength(8);
    expect(model.certificate).toEqual({
      primal: report.primal,
      dual: report.dual,
      gap: report.gap,
      relativeGap: report.relativeGap,
      epochs: report.epochs,
      stopped: 'converged',
    });
    expect('test' in report).toBe(false);
    expect(Object.values(report.seconds).every((seconds) => seconds >= 0)).toBe(true);
  });

  test('threads are never more than the grid', async () => {
    const { report } = await train(dataset, { grid: 2, threads: 4 });
    expect(report.threads).toBe(2);
    expect(report.imbalance.rows).toBeGreaterThanOrEqual(0);
  });
});

describe('events and notices', () => {
  test('one event an epoch, in order; passes and bounds only get better', async () => {
    const events: EpochEvent[] = [];
    const { report } = await train(dataset, {
      tolerance: 1e-6,
      onEpoch: (event) => events.push(event),
    });
    expect(events.map(({ epoch }) => epoch)).toEqual(
      Array.from({ length: report.epochs }, (_, k) => k + 1),
    );
    for (let k = 1; k < events.length - 1; k++) {
      expect(events[k].passes).toBeGreaterThan(events[k - 1].passes);
      expect(events[k].seconds).toBeGreaterThanOrEqual(events[k - 1].seconds);
      expect(events[k].primal).toBeLessThanOrEqual(events[k - 1].primal);
      expect(events[k].dual).toBeGreaterThanOrEqual(events[k - 1].dual);
    }
    const last = events[events.length - 1];
    expect(last).toMatchObject({
      primal: report.primal,
      dual: report.dual,
      relativeGap: report.relativeGap,
      passes: report.passes,
    });
    expect('testError' in last).toBe(false);
  });

  test('a notice says which solver runs, why, and on what', async () => {
    const notices: string[] = [];
    const onNotice = (message: string) => notices.push(message);
    await train(dataset, { onNotice });
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(
      /^solver interior point: hinge with l2 on .*second-order steps; grid 1 × 1 on 1 thread$/,
    );
    await train(dataset, { onNotice, solver: solvers.dso(), grid: 3, threads: 2, epochs: 1 });
    expect(notices[1]).toBe('solver dso: as requested; grid 3 × 3 on 2 threads');
  });

  test('checkpoints, by the epochs that can be resumed from', async () => {
    const epochs: number[] = [];
    const checkpoint = { folder: temporaryFolder(), every: { epochs: 3 } };
    const onCheckpoint = (epoch: number) => epochs.push(epoch);
    await train(dataset, { checkpoint, onCheckpoint, epochs: 8, tolerance: 1e-300 });
    expect(epochs).toEqual([3, 6, 8]);
  });
});

describe('limits', () => {
  const hard = { lambda: 1e-5, tolerance: 1e-12 };

  test('epochs', async () => {
    const { report } = await train(dataset, { ...hard, epochs: 3 });
    expect(report).toMatchObject({ epochs: 3, stopped: 'epoch-limit' });
    expect(report.primal).toBeGreaterThan(report.dual);
  });

  test('time', async () => {
    const { report } = await train(dataset, { ...hard, time: 1e-9 });
    expect(report).toMatchObject({ epochs: 1, stopped: 'time-limit' });
  });

  test('a signal that was given before', async () => {
    const { model, report } = await train(dataset, { ...hard, signal: AbortSignal.abort() });
    expect(report).toMatchObject({ epochs: 1, stopped: 'interrupted' });
    expect(model.weights.some((w) => w !== 0)).toBe(true);
  });

  test('a signal during training: the model so far comes back with its certificate', async () => {
    const controller = new AbortController();
    const { model, report } = await train(dataset, {
      // Far from any optimum for as long as the signal may take to come.
      solver: solvers.dso(),
      lambda: 1e-9,
      tolerance: 1e-12,
      grid: 3,
      threads: 2,
      epochs: 1e9,
      signal: controller.signal,
      onEpoch: ({ epoch }) => {
        if (epoch === 5) controller.abort();
      },
    });
    expect(report.stopped).toBe('interrupted');
    expect(report.epochs).toBeGreaterThanOrEqual(5);
    expect(model.certificate.stopped).toBe('interrupted');
    expect(Number.isFinite(report.relativeGap)).toBe(true);
    expect(model.weights.every(Number.isFinite)).toBe(true);
  });

  test('a signal after training does nothing', async () => {
    const controller = new AbortController();
    const { report } = await train(dataset, { signal: controller.signal });
    controller.abort();
    expect(report.stopped).toBe('converged');
    expect((await train(dataset)).report.stopped).toBe('converged');
  });
});

describe('test data', () => {
  test('a holdout is set aside by the seed and never trained on', async () => {
    const events: EpochEvent[] = [];
    const { model, report } = await train(dataset, {
      holdout: 0.25,
      seed: 3,
      onEpoch: (event) => events.push(event),
    });
    expect(report.rows).toBe(60);
    expect(report.lambda).toBe(1 / 60);
    expect(model.rows).toBe(60);
    const { accuracy, error } = report.test as { accuracy: number; error: number };
    expect(accuracy + error).toBeCloseTo(1, 12);
    expect((accuracy * 20) % 1).toBeCloseTo(0, 9);
    expect(events[events.length - 1].testError).toBeCloseTo(error, 12);
    const again = await train(dataset, { holdout: 0.25, seed: 3 });
    expect(again.model.weights).toEqual(model.weights);
    const other = await train(dataset, { holdout: 0.25, seed: 4 });
    expect(other.model.weights).not.toEqual(model.weights);
  });

  test('the area under the precision-recall curve is the final model’s, when asked for', async () => {
    const fresh = sample({ rows: 50, columns: 8, seed: 9 });
    for (const threads of [1, 2]) {
      const events: EpochEvent[] = [];
      const { report } = await train(dataset, {
        grid: 2,
        threads,
        test: inParts(fresh.dataset, 7),
        auprc: true,
        onEpoch: (event) => events.push(event),
      });
      const { auprc } = report.test as { auprc: number };
      expect(events[0].testAuprc).toBeGreaterThan(0);
      expect(events[events.length - 1].testAuprc).toBe(auprc);
    }
  });

  test('the latest iterate is reported next to the best', async () => {
    const events: EpochEvent[] = [];
    await train(dataset, {
      solver: solvers.dso({ stepSize: 5 }),
      lambda: 1e-3,
      epochs: 30,
      tolerance: 1e-12,
      onEpoch: (event) => events.push(event),
    });
    // The best begins at w = 0, where the hinge loss is 1.
    let [least, most] = [1, -Infinity];
    for (const { primal, dual, latest } of events) {
      if (!latest) throw new Error('no latest iterate');
      least = Math.min(least, latest.primal);
      most = Math.max(most, latest.dual);
      expect(primal).toBeCloseTo(least, 12);
      // The certificate subtracts what rounding may have done.
      expect(dual).toBeCloseTo(most, 12);
    }
    // A step this long overshoots now and then: the two differ, and so do their test errors.
    expect(events.some(({ primal, latest }) => (latest?.primal ?? 0) > 1.001 * primal)).toBe(true);
  });

  test('testOn latest measures every iterate, best only what the model will be', async () => {
    const errors = async (testOn: 'best' | 'latest') => {
      const found: (number | undefined)[] = [];
      await train(dataset, {
        solver: solvers.dso({ stepSize: 5 }),
        lambda: 1e-3,
        epochs: 30,
        tolerance: 1e-12,
        test: sample({ rows: 50, columns: 8, seed: 9 }).dataset,
        testOn,
        onEpoch: ({ testError, latest, primal }) => {
          if (latest && latest.primal > 1.001 * primal) found.push(testError);
        },
      });
      return found;
    };
    const [best, latest] = [await errors('best'), await errors('latest')];
    expect(latest).toHaveLength(best.length);
    expect(latest).not.toEqual(best);
  });

  test('errors on test data are those of the final model, on any threads', async () => {
    const fresh = sample({ rows: 50, columns: 8, seed: 9 });
    for (const threads of [1, 2]) {
      let last: EpochEvent | undefined;
      const { model, report } = await train(dataset, {
        grid: 2,
        threads,
        intercept: true,
        test: inParts(fresh.dataset, 7),
        onEpoch: (event) => {
          last = event;
        },
      });
      const wrong = fresh.rows.filter((row, i) => {
        const score = row.reduce((sum, x, j) => sum + x * model.weights[j], model.intercepts[0]);
        return score > 0 !== fresh.labels[i] > 0;
      });
      expect(last?.testError).toBeCloseTo(wrong.length / 50, 12);
      expect(report.test).toMatchObject({ error: wrong.length / 50 });
      expect(predict(model, fresh.dataset)).toHaveLength(50);
    }
  });

  test('regression measures squares; unknown columns of the test data count for nothing', async () => {
    const numbers = sample({ rows: 40, columns: 3, task: 'regression' });
    const wider = sample({ rows: 30, columns: 6, task: 'regression', seed: 2 });
    let last: EpochEvent | undefined;
    const { model, report } = await train(numbers.dataset, {
      loss: losses.huber(),
      test: wider.dataset,
      onEpoch: (event) => {
        last = event;
      },
    });
    const squares = wider.rows.map((row, i) => {
      const score = [0, 1, 2].reduce((sum, j) => sum + row[j] * model.weights[j], 0);
      return (score - wider.labels[i]) ** 2;
    });
    const mean = squares.reduce((sum, square) => sum + square, 0) / 30;
    expect(last?.testError).toBeCloseTo(mean, 10);
    expect((report.test as { mse: number }).mse).toBeCloseTo(mean, 10);
  });
});

describe('data from arrays', () => {
  test('rows and CSR arrays give the same bytes', async () => {
    const sparse = rows.map((row) => {
      const indices = [...row.keys()].filter((j) => row[j] !== 0).reverse();
      return { indices, values: indices.map((j) => row[j]) };
    });
    const rowOffsets = [0];
    for (const row of sparse)
      rowOffsets.push(rowOffsets[rowOffsets.length - 1] + row.indices.length);
    const csr = {
      rowOffsets: Int32Array.from(rowOffsets),
      indices: Int32Array.from(sparse.flatMap((row) => row.indices)),
      values: Float64Array.from(sparse.flatMap((row) => row.values)),
      labels,
    };
    const fromRows = await train(datasetFromRows({ rows: sparse, labels }));
    const fromCsr = await train(datasetFromCsr(csr));
    const reference = await train(dataset);
    expect(encodeModel(fromRows.model)).toEqual(encodeModel(reference.model));
    expect(encodeModel(fromCsr.model)).toEqual(encodeModel(reference.model));
  });

  test('consume empties the data set once it is laid out', async () => {
    const own = datasetOf(rows, labels);
    const { model } = await train(own, { consume: true, grid: 2, threads: 1 });
    expect(own.parts).toHaveLength(0);
    const unchanged = await train(dataset, { grid: 2, threads: 1 });
    expect(model.weights).toEqual(unchanged.model.weights);
    expect(dataset.parts).toHaveLength(1);
  });
});

describe('failures', () => {
  test('steps that explode are reported, and the next training runs', async () => {
    const wild = solvers.dso({ step: 'sqrt', svrg: false, stepSize: 1e300, dualStepSize: 1e300 });
    const numbers = sample({ rows: 30, columns: 4, task: 'regression' }).dataset;
    const loss = losses.square();
    await expect(
      train(numbers, { loss, solver: wild, grid: 2, threads: 2, intercept: true }),
    ).rejects.toThrow(/no longer finite after epoch 1\b.*smaller step size/);
    const { report } = await train(numbers, { loss, grid: 2, threads: 2 });
    expect(report.stopped).toBe('converged');
  });

  test('a custom loss that throws ends the run on all threads', async () => {
    const file = join(temporaryFolder(), 'loss.mjs');
    const hinge = new URL('../../../src/problem/losses/hinge.ts', import.meta.url).href;
    writeFileSync(
      file,
      `export { derivative, curvature, conjugate, conjugateDerivative, conjugateLow,
         conjugateHigh, dualStep } from '${hinge}';
       export const name = 'broken', task = 'classification', smooth = false;
       export function value() { throw new Error('no value today'); }`,
    );
    const loss = await loadLoss(file);
    await expect(train(dataset, { loss, grid: 3, threads: 3 })).rejects.toThrow('no value today');
    expect((await train(dataset, { grid: 3, threads: 3 })).report.stopped).toBe('converged');
  });
});

test('an intercept is not penalised and does not count as a column', async () => {
  const numbers = sample({ rows: 60, columns: 4, task: 'regression' });
  const shifted = numbers.labels.map((y) => y + 100);
  const options = { loss: losses.square(), penalty: penalties.l2(), lambda: 10, intercept: true };
  const { model, report } = await train(datasetOf(numbers.rows, shifted), {
    ...options,
    tolerance: 1e-9,
  });
  const plain = await train(numbers.dataset, { ...options, tolerance: 1e-9 });
  expect(model.columns).toBe(4);
  expect(report.nonzeros).toBe(numbers.dataset.nonzeros);
  expect(model.intercepts[0]).toBeCloseTo(plain.model.intercepts[0] + 100, 3);
  model.weights.forEach((w, j) => {
    expect(w).toBeCloseTo(plain.model.weights[j], 3);
  });
});

test('sparse text on several threads: the report counts what was there', async () => {
  const text = zipfDataset({ rows: 200, columns: 100, perRow: 6 });
  const { report } = await train(text, { grid: 4, threads: 2 });
  expect(report).toMatchObject({ rows: 200, columns: 100, nonzeros: text.nonzeros, grid: 4 });
  expect(report.imbalance.nonzeros).toBeGreaterThan(0);
});
