import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DsoError } from '../../src/errors.ts';
import { tryOutput, writeAtomically } from '../../src/files.ts';
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

test.skipIf(process.platform === 'win32')('permissions stay as they were', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'model');
  const modeOf = (name: string) => statSync(join(folder, name)).mode & 0o777;
  for (const mode of [0o600, 0o666, 0o440]) {
    writeFileSync(path, 'old', { mode: 0o600 });
    chmodSync(path, mode);
    await writeAtomically(path, async (file) => {
      await file.write('new');
      const [temporary] = readdirSync(folder).filter((name) => name.endsWith('.partial'));
      expect(modeOf(temporary) & ~mode).toBe(0);
    });
    expect(modeOf('model')).toBe(mode);
    rmSync(path);
  }
});

test('a name of many bytes that the file system takes', async () => {
  const path = join(temporaryFolder(), '模'.repeat(84));
  await writeAtomically(path, (file) => file.write('x'));
  expect(readFileSync(path, 'utf8')).toBe('x');
});

test('an output is tried without a trace', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'model');
  tryOutput(path);
  writeFileSync(path, 'old');
  tryOutput(path);
  expect(readdirSync(folder)).toEqual(['model']);
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(() => tryOutput(join(folder, 'x'.repeat(256)))).toThrow(/ENAMETOOLONG/);
});

/*
 * A folder that may be written but not read cannot be opened to flush it. Root may read all, so the
 * process becomes another user.
 */
test.skipIf(process.platform === 'win32')('a folder that cannot be flushed is a warning', () => {
  const folder = temporaryFolder();
  const code = `
    import { chmodSync, chownSync } from 'node:fs';
    import { onFileWarning, writeAtomically } from ${JSON.stringify(join(import.meta.dirname, '../../src/files.ts'))};
    const folder = ${JSON.stringify(folder)};
    if (process.getuid() === 0) {
      chownSync(folder, 65534, 65534);
      process.setgid(65534);
      process.setuid(65534);
    }
    chmodSync(folder, 0o300);
    onFileWarning((message) => console.log(message));
    process.chdir(folder);
    await writeAtomically('model', (file) => file.write('new'));`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', code]);
  chmodSync(folder, 0o700);
  expect([child.stdout.toString(), child.status]).toEqual([
    'model: written, but the folder . could not be synced to disk (no permission): ' +
      'a power failure may lose the file\n',
    0,
  ]);
  expect(readFileSync(join(folder, 'model'), 'utf8')).toBe('new');
});

test.skipIf(process.getuid?.() !== 0)(
  "another user's file in a sticky folder cannot be replaced, which is found before (needs root)",
  () => {
    const code = `
      import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
      import { tryOutput, writeAtomically } from ${JSON.stringify(join(import.meta.dirname, '../../src/files.ts'))};
      const other = 65533;
      process.chdir(${JSON.stringify(temporaryFolder())});
      chmodSync('.', 0o755);
      const owners = { theirs: [0, other], file: [0, 65534], folder: [65534, other] };
      for (const [name, [folder, file]] of Object.entries(owners)) {
        mkdirSync(name);
        writeFileSync(name + '/model', 'old');
        chownSync(name + '/model', file, file);
        chownSync(name, folder, folder);
        chmodSync(name, 0o1777);
      }
      process.setgid(65534);
      process.setuid(65534);
      for (const name of Object.keys(owners)) {
        let tried;
        try { tryOutput(name + '/model'); } catch (error) { tried = error.code; }
        const written = await writeAtomically(name + '/model', (file) => file.write('new'))
          .then(() => undefined, ({ cause }) => cause.code);
        console.log(name, tried, written);
      }`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', code]);
    expect(child.stderr.toString()).toBe('');
    expect(child.stdout.toString().trim().split('\n')).toEqual([
      'theirs EPERM EPERM',
      'file undefined undefined',
      'folder undefined undefined',
    ]);
  },
);
