import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeDataset } from '../../src/data/binary/convert.ts';
import { openDataset } from '../../src/data/binary/stored.ts';
import { UsageError } from '../../src/errors.ts';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { largeDataset } from '../support/data.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Enough for hundreds of segments: those of two workers are cut from a million entries on. */
const dataset = largeDataset({ rows: 26_000, columns: 4000, perRow: 45 });

async function storedPath(data = dataset): Promise<string> {
  const path = join(temporaryFolder(), 'data.dsob');
  await writeDataset(path, data);
  return path;
}

/** The least that will do, which an error message names, and 2 MiB of the 9 that the data has. */
async function tightMemory(path: string, options: TrainOptions): Promise<number> {
  const error = await train(openDataset(path), { ...options, memory: 1 }).catch(
    (reason: Error) => reason,
  );
  expect(error).toBeInstanceOf(UsageError);
  const [, mebibytes] = /: (\d+) MiB in all$/.exec((error as Error).message) ?? [];
  return (Number(mebibytes) + 2) * 2 ** 20;
}

const ring = solvers.ring({ mode: 'rows' });
const short = { grid: 2, epochs: 4, tolerance: 1e-12, lambda: 1e-5 };

const problems: Readonly<Record<string, TrainOptions>> = {
  'ring, hinge': { solver: ring },
  'ring, hinge, one worker': { solver: ring, grid: 1 },
  'ring, logistic, elastic net, intercept': {
    solver: ring,
    loss: losses.logistic(),
    penalty: penalties.elasticNet({ l1Ratio: 0.5 }),
    intercept: true,
  },
  'ring, hinge, non-negative': {
    solver: ring,
    penalty: penalties.nonNegative(penalties.l2()),
  },
  'dso, bounded': {
    solver: solvers.dso(),
    penalty: penalties.bounded(penalties.l1(), { low: -0.01, high: 0.02 }),
  },
  'ring, fewer rotations': { solver: solvers.ring({ mode: 'rows', rotations: 20 }) },
  dso: { solver: solvers.dso() },
  lbfgs: { solver: solvers.lbfgs(), loss: losses.logistic() },
  bmrm: { solver: solvers.bmrm() },
};

describe('training from disk', () => {
  test.each(Object.entries(problems))(
    'gives the bits of training in memory: %s',
    async (_, problem) => {
      const options = { ...short, ...problem };
      const inMemory = await train(dataset, { ...options, threads: 1 });
      const path = await storedPath();
      for (const threads of [1, 2]) {
        const notices: string[] = [];
        const memory = await tightMemory(path, { ...options, threads });
        const fromDisk = await train(openDataset(path), {
          ...options,
          threads,
          memory,
          scratch: temporaryFolder(),
          onNotice: (message) => notices.push(message),
        });
        expect(Buffer.from(encodeModel(fromDisk.model))).toEqual(
          Buffer.from(encodeModel(inMemory.model)),
        );
        expect(fromDisk.report.imbalance).toEqual(inMemory.report.imbalance);
        const [, window] = /of which (\d+) MiB are in memory/.exec(notices.join('\n')) ?? [];
        expect(Number(window)).toBeGreaterThan(0);
        expect(Number(window)).toBeLessThan((8 * dataset.nonzeros) / 2 ** 20 / 2);
      }
    },
  );

  test('minds the weights of rows', async () => {
    const counts = Float64Array.from({ length: dataset.rows }, (_, row) => (row % 5) / 2);
    const parts = dataset.parts.map((part) => ({ ...part, weights: counts }));
    const weighted = { ...dataset, parts };
    const path = join(temporaryFolder(), 'weighted.dsob');
    await writeDataset(path, weighted);
    const options = { ...short, solver: ring, intercept: true };
    const inMemory = Buffer.from(encodeModel((await train(weighted, options)).model));
    const memory = await tightMemory(path, options);
    const fromDisk = await train(openDataset(path), { ...options, memory });
    expect(Buffer.from(encodeModel(fromDisk.model)).equals(inMemory)).toBe(true);
    const plain = Buffer.from(encodeModel((await train(dataset, options)).model));
    expect(plain.equals(inMemory)).toBe(false);
  });

  test('continues from a checkpoint of training in memory, and the other way round', async () => {
    const path = await storedPath();
    const options = { ...short, solver: ring, epochs: 6 };
    const whole = await train(dataset, options);
    const memory = await tightMemory(path, options);
    for (const [first, second] of [
      [() => dataset, () => openDataset(path)],
      [() => openDataset(path), () => dataset],
    ]) {
      const folder = temporaryFolder();
      await train(first(), { ...options, memory, epochs: 3, checkpoint: { folder } });
      const { model } = await train(second(), { ...options, memory, resume: folder });
      expect(Buffer.from(encodeModel(model))).toEqual(Buffer.from(encodeModel(whole.model)));
    }
  });

  test.each<[string, TrainOptions, string]>([
    [
      'column mode',
      { solver: solvers.ring({ mode: 'columns' }), loss: losses.logistic() },
      'ring-columns needs all of the data in memory: give it more --memory, or choose one that reads it from disk: --solver auto',
    ],
    ['dcd', { solver: solvers.dcd() }, 'dcd needs all of the data in memory'],
    [
      'local descent at the start',
      { solver: solvers.dso({ initialize: 2 }) },
      '--local-descent 2 needs all of the data',
    ],
    ['rows set aside', { solver: ring, holdout: 0.1 }, 'rows are held out in memory'],
    ['too little', { solver: ring, memory: 5e7 }, 'the memory limit is 48 MiB; to train from disk'],
    [
      'no number of bytes',
      { solver: ring, memory: -1 },
      'memory is -1; it must be a number of bytes, such as 500M or 2G',
    ],
  ])('is refused where it cannot be: %s', async (_, options, message) => {
    const opened = openDataset(await storedPath());
    const run = train(opened, { memory: 2 ** 30, ...options });
    await expect(run).rejects.toThrow(UsageError);
    await expect(run).rejects.toThrow(message);
  });
});

/** Its linear systems need few columns, and more segments than one. */
test.each([
  ['sparse', 300],
  ['dense', 40],
])('interior-point, %s rows, gives the bits of training in memory', async (_, columns) => {
  const tall = largeDataset({ rows: 45_000, columns, perRow: 25 });
  const options: TrainOptions = {
    ...short,
    solver: solvers.interiorPoint(),
    loss: losses.absolute(),
    penalty: penalties.elasticNet(),
    epochs: 3,
  };
  const inMemory = await train(tall, { ...options, threads: 1 });
  const path = await storedPath(tall);
  for (const threads of [1, 2]) {
    const memory = await tightMemory(path, { ...options, threads });
    const given = { ...options, threads, memory, scratch: temporaryFolder() };
    const fromDisk = await train(openDataset(path), given);
    expect(encodeModel(fromDisk.model)).toEqual(encodeModel(inMemory.model));
  }
});

test('a growing set of columns needs all of the data in memory', async () => {
  const path = await storedPath(largeDataset({ rows: 2000, columns: 4000, perRow: 40 }));
  const options = { ...short, penalty: penalties.l1(), solver: solvers.interiorPoint() };
  await expect(train(openDataset(path), { ...options, memory: 1e6 })).rejects.toThrow(
    /a growing set of columns needs all of the data in memory: choose another solver/,
  );
});

test('a system of rows × rows needs all of the data in memory', async () => {
  const wide = largeDataset({ rows: 300, columns: 4000, perRow: 200 });
  const path = await storedPath(wide);
  const options = { ...short, grid: 1, solver: solvers.interiorPoint(), memory: 1e6 };
  await expect(train(openDataset(path), options)).rejects.toThrow(
    /a system of rows × rows needs all of the data in memory: choose another solver/,
  );
});
