import { renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ModelReloader } from '../../../../src/apps/serve/model-reloader.ts';
import { encodeModel, writeModel } from '../../../../src/model/file.ts';
import { sampleModel } from '../../../support/models.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const modelOf = (weight: number) => sampleModel({ weights: Float64Array.of(weight) });

/** A reloader that polls often, and its events, as promises. */
async function keep(path: string) {
  const heard: string[] = [];
  let wake = (): void => {};
  const note = (text: string): void => {
    heard.push(text);
    wake();
  };
  const reloader = await ModelReloader.open(path, {
    onLoad: ({ model }) => note(`weight ${model.weights[0]}`),
    onFailure: (message) => note(message),
  });
  onTestFinished(() => reloader.close());
  const next = async (count: number): Promise<string> => {
    while (heard.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return heard[count - 1];
  };
  return { reloader, heard, next, weight: () => reloader.current.model.weights[0] };
}

test('a file that is replaced takes over; a damaged one does not', async () => {
  const path = join(temporaryFolder(), 'm.model');
  await writeModel(path, modelOf(1));
  const { reloader, heard, next, weight } = await keep(path);
  const before = reloader.current.version;
  reloader.watch(5);
  await writeModel(path, modelOf(2));
  expect(await next(2)).toBe('weight 2');
  expect(reloader.current.version).not.toBe(before);

  const bytes = Buffer.from(encodeModel(modelOf(3)));
  bytes[bytes.length - 1] ^= 1;
  writeFileSync(`${path}.new`, bytes);
  renameSync(`${path}.new`, path);
  expect(await next(3)).toBe('m.model: damaged model: the checksum of the weights does not match');
  expect(weight()).toBe(2);

  truncateSync(path, 10);
  expect(await next(4)).toContain('m.model: ');
  rmSync(path);
  expect(await next(5)).toBe('m.model: no such file');
  expect(weight()).toBe(2);
  await writeModel(path, modelOf(4));
  expect(await next(6)).toBe('weight 4');
  expect(heard).toHaveLength(6);
});

test('a symbolic link that is pointed elsewhere takes over', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'm.model');
  await writeModel(join(folder, 'a'), modelOf(1));
  await writeModel(join(folder, 'b'), modelOf(2));
  symlinkSync('a', path);
  const { reloader, next } = await keep(path);
  reloader.watch(5);
  symlinkSync('b', `${path}.new`);
  renameSync(`${path}.new`, path);
  expect(await next(2)).toBe('weight 2');
});

test('reload reads the file even if it looks the same', async () => {
  const path = join(temporaryFolder(), 'm.model');
  await writeModel(path, modelOf(1));
  const { reloader, heard } = await keep(path);
  await Promise.all([reloader.reload(), reloader.reload()]);
  expect(heard).toEqual(['weight 1', 'weight 1', 'weight 1']);
});

test('without a model to begin with there is no reloader', async () => {
  const path = join(temporaryFolder(), 'none.model');
  await expect(keep(path)).rejects.toThrow('none.model: no such file');
});
