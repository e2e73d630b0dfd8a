/** Interior point on data that other methods find hard: steps and certificates, never seconds. */
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../../src/data/dataset.ts';
import { stream } from '../../../../src/math/random.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import type { TrainOptions, TrainReport } from '../../../../src/train/options/options.ts';
import { train } from '../../../../src/train/train.ts';
import { datasetOf, type Sample, sample } from '../../../support/data.ts';
import { weighted } from '../../../support/weighted.ts';

/** No run here needs half as many. */
const mostSteps = 120;
const tolerance = 1e-6;

async function solve(dataset: Dataset, options: TrainOptions): Promise<TrainReport> {
  const common = { solver: solvers.interiorPoint(), threads: 1, tolerance, epochs: mostSteps };
  const { report } = await train(dataset, { ...common, ...options });
  return report;
}

async function expectCertified(dataset: Dataset, options: TrainOptions): Promise<TrainReport> {
  const report = await solve(dataset, options);
  expect(report.stopped).toBe('converged');
  expect(report.relativeGap).toBeLessThanOrEqual(options.tolerance ?? tolerance);
  return report;
}

type Change = (rows: readonly (readonly number[])[]) => readonly (readonly number[])[];

const changed = ({ rows, labels }: Sample, change: Change) => datasetOf(change(rows), labels);

/** Factors of columns, 10^U(−3, 3), as float32 numbers. */
function columnScales(columns: number): number[] {
  const random = stream(5, 3);
  return Array.from({ length: columns }, () => Math.fround(10 ** (6 * random.uniform() - 3)));
}

const tall = { rows: 90, columns: 8 };
const short = { rows: 20, columns: 60 };
const sides = [
  { side: 'columns × columns', size: tall, solver: solvers.interiorPoint(), most: 1.5 },
  { side: 'rows × rows', size: short, solver: solvers.interiorPoint(), most: 2 },
  { side: 'a growing set', size: short, solver: solvers.interiorPoint({ joining: 5 }), most: 2 },
];
const kinds: readonly Loss[] = [
  losses.hinge(),
  losses.squaredHinge(),
  losses.logistic(),
  losses.square(),
  losses.absolute(),
];
const penaltyKinds = [penalties.l2(), penalties.l1(), penalties.elasticNet()];
const cases = kinds.flatMap((loss) =>
  penaltyKinds.map((penalty) => ({ loss, penalty, title: `${loss.name}, ${penalty.name}` })),
);

describe.each(sides)('$side', ({ size, solver }) => {
  describe.each(cases)('$title', ({ loss, penalty }) => {
    const plain = sample({ ...size, task: loss.task, seed: 4 });
    const options: TrainOptions = { loss, penalty, solver, grid: 1, lambda: 1e-3, intercept: true };

    test('copied, constant and empty columns change nothing but the count', async () => {
      const more = changed(plain, (rows) => rows.map((row) => [...row, ...row, 0, 1, 2]));
      const report = await expectCertified(more, options);
      const before = await expectCertified(plain.dataset, options);
      expect(report.epochs).toBeLessThanOrEqual(2 * before.epochs + 10);
    });
  });
});

/**
 * With the same λ it is another problem: weights of large columns are hardly penalized. At 1e-6 rounding
 * is in the way of rows × rows.
 */
test.each(sides)('$side: columns of very different scale', async ({ size, solver, most }) => {
  const scales = columnScales(size.columns);
  const steps = { before: 0, after: 0 };
  for (const { loss, penalty } of cases) {
    const plain = sample({ ...size, task: loss.task, seed: 4 });
    const scaled = changed(plain, (rows) => rows.map((row) => row.map((x, j) => x * scales[j])));
    const options = { loss, penalty, solver, grid: 1, lambda: 1e-3, tolerance: 1e-3 };
    steps.before += (await expectCertified(plain.dataset, options)).epochs;
    steps.after += (await expectCertified(scaled, options)).epochs;
  }
  expect(steps.after).toBeLessThanOrEqual(most * steps.before);
});

/** A power of 2 changes no digit, and the penalty can be made the same. */
test.each(sides)('$side: columns in another unit take the same steps', async ({ size, solver }) => {
  const plain = sample({ ...size, seed: 4 });
  const units = Array.from({ length: size.columns }, (_, j) => 2 ** (4 * (j % 8) - 14));
  const scaled = changed(plain, (rows) => rows.map((row) => row.map((x, j) => x * units[j])));
  const common = { solver, grid: 1, lambda: 1e-3, penalty: penalties.l1() };
  for (const loss of [losses.hinge(), losses.logistic()]) {
    const before = await expectCertified(plain.dataset, { ...common, loss });
    const penaltyFactors = Float64Array.from(units);
    const after = await expectCertified(scaled, { ...common, loss, penaltyFactors });
    expect(after.epochs).toBe(before.epochs);
    expect(after.primal / before.primal).toBeCloseTo(1, 9);
  }
});

describe.each(cases)('$title: few rows or columns', ({ loss, penalty }) => {
  test.each([
    { name: 'one row', rows: 1, columns: 5 },
    { name: 'two rows', rows: 2, columns: 5 },
    { name: 'one column', rows: 40, columns: 1 },
    { name: 'one row and column', rows: 1, columns: 1 },
  ])('$name', async ({ rows, columns }) => {
    const { rows: drawn, labels } = sample({
      rows,
      columns,
      density: 1,
      task: 'regression',
      seed: 8,
    });
    const isSplit = loss.task === 'classification';
    // Two classes are needed.
    if (isSplit && rows === 1) return;
    const own = isSplit ? labels.map((_, i) => (i % 2 === 0 ? 1 : -1)) : labels;
    const dataset = datasetOf(drawn, own);
    for (const intercept of [false, true]) {
      // One class or one label and an intercept: P has no minimum, or one of 0.
      if (intercept && rows === 1) continue;
      await expectCertified(dataset, { loss, penalty, lambda: 0.01, intercept, tolerance: 1e-3 });
    }
  });

  test('rows of weight 0 are as if they were not there', async () => {
    const { rows, labels } = sample({ ...tall, task: loss.task, seed: 6 });
    const weights = rows.map((_, i) => (i % 3 === 0 ? 0 : 1 + (i % 2)));
    const kept = rows.flatMap((_, i) => (weights[i] > 0 ? [i] : []));
    const options: TrainOptions = { loss, penalty, lambda: 1e-3, intercept: true };
    const all = await expectCertified(weighted({ rows, labels }, weights), options);
    const fewer = { rows: kept.map((i) => rows[i]), labels: kept.map((i) => labels[i]) };
    const left = kept.map((i) => weights[i]);
    const alone = await expectCertified(weighted(fewer, left), options);
    expect(all.primal).toBeCloseTo(alone.primal, 6);
  });
});

test.each([losses.square(), losses.absolute()])('labels + 1e8: $name', async (loss) => {
  const { rows, labels } = sample({ ...tall, task: 'regression', seed: 9 });
  const far = datasetOf(
    rows,
    labels.map((y) => y + 1e8),
  );
  for (const penalty of penaltyKinds) {
    const near = await expectCertified(datasetOf(rows, labels), {
      loss,
      penalty,
      lambda: 1e-3,
      intercept: true,
    });
    const report = await expectCertified(far, { loss, penalty, lambda: 1e-3, intercept: true });
    expect(report.primal / near.primal).toBeCloseTo(1, 4);
    // Without one P is about 1e8, or its square.
    await expectCertified(far, { loss, penalty, lambda: 1e-3, tolerance: 1e-3 });
  }
});

test.each([losses.hinge(), losses.squaredHinge(), losses.logistic()])(
  'separable data and a tiny λ: $name',
  async (loss) => {
    const { dataset } = sample({ ...short, noise: 0, seed: 2 });
    for (const penalty of penaltyKinds) {
      for (const lambda of [1e-6, 1e-9]) {
        await expectCertified(dataset, { loss, penalty, lambda, tolerance: 1e-3 });
      }
    }
  },
);
