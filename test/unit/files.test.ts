import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DsoError } from '../../src/errors.ts';
import { writeAtomically } from '../../src/files.ts';
import { temporaryFolder } from './data/support/files.ts';

test('writes a file and returns what the writer returns', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'model');
  const result = await writeAtomically(path, async (file) => {
    await file.write('one ');
    await file.write(Buffer.from('two'));
    return 7;
  });
  expect(result).toBe(7);
  expect(readFileSync(path, 'utf8')).toBe('one two');
  expect(readdirSync(folder)).toEqual(['model']);
});

test('the name appears only when all is written', async () => {
  const path = join(temporaryFolder(), 'model');
  await writeAtomically(path, async (file) => {
    await file.write('half');
    expect(existsSync(path)).toBe(false);
  });
  expect(existsSync(path)).toBe(true);
});

test('after a failure only the old file is there', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'model');
  writeFileSync(path, 'old');
  const failure = new Error('no more');
  const writing = writeAtomically(path, async (file) => {
    await file.write('new');
    throw failure;
  });
  await expect(writing).rejects.toBe(failure);
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['model']);
});

test('replaces a longer file whole', async () => {
  const path = join(temporaryFolder(), 'model');
  writeFileSync(path, 'something longer');
  await writeAtomically(path, (file) => file.write('short'));
  expect(readFileSync(path, 'utf8')).toBe('short');
});

test('two writers at once leave one whole file', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'model');
  const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(100000));
  await Promise.all(texts.map((text) => writeAtomically(path, (file) => file.write(text))));
  expect(texts).toContain(readFileSync(path, 'utf8'));
  expect(readdirSync(folder)).toEqual(['model']);
});

test('a symbolic link stays one', async () => {
  const folder = temporaryFolder();
  const [path, target] = [join(folder, 'link'), join(folder, 'target')];
  writeFileSync(target, 'old');
  symlinkSync(target, path);
  await writeAtomically(path, (file) => file.write('new'));
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, 'utf8')).toBe('new');
});

test.skipIf(process.platform === 'win32')('a device is written to, not replaced', async () => {
  await writeAtomically('/dev/null', (file) => file.write('gone'));
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

test('says what is in the way', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'taken'));
  const problem = async (path: string) => {
    const error = await writeAtomically(path, (file) => file.write('x')).catch((caught) => caught);
    expect(error).toBeInstanceOf(DsoError);
    return error.message.replace(folder, 'FOLDER');
  };
  expect(await problem(join(folder, 'none', 'model'))).toBe(
    'FOLDER/none/model: cannot be written: no such folder',
  );
  expect(await problem(join(folder, 'taken'))).toBe(
    'FOLDER/taken: cannot be written: it is a directory',
  );
  expect(readdirSync(folder)).toEqual(['taken']);
});
