/** Linear programs on wide data: columns join while the interior point method is at work, or too many are needed. */
import { expect, test } from 'vitest';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { largeDataset, zipfDataset } from '../support/data.ts';
import { temporaryFolder } from '../support/temporary.ts';

const penalty = penalties.l1();

test.each([
  { intercept: false, lambda: 1e-4 },
  { intercept: true, lambda: 1e-5 },
])('few steps find the columns: intercept $intercept, λ = $lambda', async (options) => {
  const text = zipfDataset({ rows: 1600, columns: 5000, perRow: 12 });
  const common = { loss: losses.hinge(), penalty, solver: solvers.auto(), threads: 1 };
  const { report } = await train(text, { ...common, ...options, tolerance: 1e-6 });
  expect(report.solver).toBe('interior-point');
  expect(report.stopped).toBe('converged');
  expect(report.epochs).toBeLessThan(60);
});

test('where nearly all columns are needed another method takes over', async () => {
  const dataset = largeDataset({ rows: 4100, columns: 12_000, perRow: 10 });
  const settings: TrainOptions = {
    loss: losses.absolute(),
    penalty,
    lambda: 1e-6,
    solver: solvers.auto(),
    grid: 3,
    tolerance: 1e-3,
    epochs: 16,
  };
  const run = async (options: TrainOptions) => {
    const { model, report } = await train(dataset, { ...settings, ...options });
    const { buffer, byteOffset, byteLength } = encodeModel(model);
    return { report, bytes: Buffer.from(buffer, byteOffset, byteLength) };
  };
  const one = await run({ threads: 1 });
  expect(one.report.solver).toBe('ring-rows');
  const three = await run({ threads: 3 });
  expect(three.bytes.equals(one.bytes)).toBe(true);
  for (const epochs of [4, 8, 9, 10, 13]) {
    const folder = temporaryFolder();
    await run({ epochs, checkpoint: { folder }, threads: 2 });
    const rest = await run({ resume: folder, threads: 1 });
    expect(rest.bytes.equals(one.bytes), `resumed after epoch ${epochs}`).toBe(true);
  }
});
