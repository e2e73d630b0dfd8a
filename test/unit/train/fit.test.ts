import { expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { DataError, UsageError } from '../../../src/errors.ts';
import { checkMemory } from '../../../src/train/options/check.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { sample } from '../../support/data.ts';

const { dataset } = sample({ rows: 20, columns: 5 });

test('an exception in onEpoch stops the run and is what train() rejects with', async () => {
  let heard = 0;
  const onEpoch = () => {
    heard++;
    throw new Error('mine');
  };
  const options = { onEpoch, tolerance: 1e-14, epochs: 100_000 };
  await expect(train(dataset, options)).rejects.toThrow('mine');
  expect(heard).toBeLessThan(100_000);
});

test('so is the rejection of an asynchronous onEpoch', async () => {
  const onEpoch = async () => {
    throw new Error('mine, later');
  };
  await expect(train(dataset, { onEpoch, tolerance: 1e-14 })).rejects.toThrow('mine, later');
});

test.each([
  [{ onEpoch: 'x' }, "onEpoch is 'x'; it must be a function"],
  [{ signal: {} }, 'signal is an object; it must be an AbortSignal'],
  [{ intercept: 'no' }, "intercept is 'no'; it must be true or false"],
  [{ lambda: '1' }, "lambda is '1'; it must be a number above 0"],
  [{ test: 'x.svm' }, "test is 'x.svm'; it must be a data set"],
  [{ penalty: 'l2' }, "penalty is 'l2'; it must be made by a function of penalties"],
  [{ sinal: 1 }, "unknown option 'sinal'; did you mean 'signal'?"],
  [null, 'options is null; it must be an object'],
])('untyped options %j are refused', async (options, message) => {
  const refused = train(dataset, options as unknown as TrainOptions);
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toBeInstanceOf(UsageError);
});

test('a file name in place of a data set', async () => {
  await expect(train('x.svm' as unknown as Dataset)).rejects.toThrow('readDataset makes one');
});

test('a column count that no machine has room for', () => {
  const wild = { ...dataset, name: 'x.svm', columns: 2 ** 31 - 1, rows: 2 ** 40 };
  expect(() => checkMemory(wild)).toThrow(DataError);
  expect(() => checkMemory(wild)).toThrow(/x\.svm: .* need at least .* GiB; this machine has/);
  expect(() => checkMemory(dataset)).not.toThrow();
});

test.each(['max', 'std', 'unit-rows'] as const)('… also before scaling (%s)', async (scale) => {
  const wild = { ...dataset, columns: 2 ** 40 };
  await expect(train(wild, { scale })).rejects.toThrow(/need at least .* GiB; this machine has/);
});
