import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DataError } from '../../../src/errors.ts';
import { encodeModel, readModel, writeModel } from '../../../src/model/file.ts';
import { sampleModel } from '../../support/models.ts';
import { temporaryFolder } from '../../support/temporary.ts';

test('a model is written as its bytes and read back', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'x.model');
  await writeModel(path, sampleModel());
  expect(readFileSync(path).equals(encodeModel(sampleModel()))).toBe(true);
  expect(await readModel(path)).toStrictEqual(sampleModel());
  expect(readdirSync(folder)).toEqual(['x.model']);
});

test('the bounds of its weights are stored', async () => {
  const path = join(temporaryFolder(), 'x.model');
  for (const box of [{ low: 0 }, { high: 1.5 }, { low: -0.25, high: 1e300 }]) {
    const bounded = sampleModel({ penalty: { name: 'l1', l1: 1, l2: 0, ...box } });
    await writeModel(path, bounded);
    expect(await readModel(path)).toStrictEqual(bounded);
  }
});

test('a model that cannot be written leaves the old file alone', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'x.model');
  writeFileSync(path, 'old');
  const broken = sampleModel({ weights: Float64Array.of(Number.NaN) });
  await expect(writeModel(path, broken)).rejects.toThrow('the weight of column 0 is NaN');
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['x.model']);
});

test('what cannot be read is a DataError that names the file', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'empty.model'), '');
  const cases = {
    'none.model': 'no such file',
    sub: 'a directory; expected a file',
    'empty.model': 'an empty file; expected a dso model',
  };
  for (const [name, message] of Object.entries(cases)) {
    const reading = readModel(join(folder, name));
    await expect(reading).rejects.toThrow(DataError);
    await expect(reading).rejects.toThrow(`${join(folder, name)}: ${message}`);
  }
});
