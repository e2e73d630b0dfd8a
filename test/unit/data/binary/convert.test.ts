import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeDataset } from '../../../../src/data/binary/convert.ts';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { readDataset } from '../../../../src/data/read/read.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const rows = [
  { indices: [0], values: [1] },
  { indices: [1], values: [2] },
];

test('names of features go along', async () => {
  const path = join(temporaryFolder(), 'named.dsob');
  const named = {
    ...datasetFromRows({ rows, labels: [1, 2] }),
    featureNames: ['age', 'city=Rome'],
  };
  await writeDataset(path, named);
  expect((await readDataset(path)).featureNames).toEqual(['age', 'city=Rome']);
});

test('labels that are texts are an error, and nothing is written', async () => {
  const path = join(temporaryFolder(), 'words.dsob');
  const words = { ...datasetFromRows({ rows, labels: [0, 1] }), labelNames: ['yes', 'no'] };
  await expect(writeDataset(path, words)).rejects.toThrow('labels such as "yes" are texts');
  expect(existsSync(path)).toBe(false);
});
