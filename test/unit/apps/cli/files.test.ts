import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFiles, checkOutput, makeFolder } from '../../../../src/apps/cli/files.ts';
import { UsageError } from '../../../../src/errors.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

test('a file in an existing folder and standard output are fine', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'old.model'), '');
  for (const path of [join(folder, 'new.model'), join(folder, 'old.model'), 'x.model', '-']) {
    expect(() => checkOutput('--output', path, ['train.svm'])).not.toThrow();
  }
});

test('a missing folder, a folder and a file as folder are refused', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, 'sub'));
  const run = (path: string) => () => checkOutput('--output', join(folder, path), []);
  expect(run('none/x.model')).toThrow(UsageError);
  expect(run('none/x.model')).toThrow(
    `--output ${folder}/none/x.model: there is no folder ${folder}/none`,
  );
  expect(run('file/x.model')).toThrow(`there is no folder ${folder}/file`);
  expect(run('sub')).toThrow('that is a folder; expected the name of a file');
  expect(run('x'.repeat(256))).toThrow('it cannot be written: the name is too long');
  expect(() => checkOutput('--output', `${folder}/new/`)).toThrow('expected the name of a file');
  expect(() => checkOutput('--output', '')).toThrow('expected the name of a file');
  symlinkSync('circle', join(folder, 'circle'));
  expect(run('circle')).toThrow('its symbolic links lead back to themselves');
  expect(readdirSync(folder).sort()).toEqual(['circle', 'file', 'sub']);
});

test('an input is not overwritten, whatever it is called', () => {
  const folder = temporaryFolder();
  const data = join(folder, 'train.svm');
  writeFileSync(data, '');
  symlinkSync(data, join(folder, 'link.svm'));
  for (const path of [data, join(folder, 'link.svm'), `${folder}/./train.svm`]) {
    expect(() => checkOutput('--output', path, ['-', data])).toThrow('that is also an input');
  }
  expect(() => checkOutput('--output', join(folder, 'b.svm'), [data])).not.toThrow();
});

test('an output that a pattern of the input matches would be read as data next time', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'part-1'), '');
  const run = (path: string) => () => checkOutput('--output', path, [join(folder, 'part-*')]);
  expect(run(join(folder, 'part-_.model'))).toThrow('matches it, and the next run');
  expect(run(join(folder, 'model'))).not.toThrow();
});

test('two outputs have two names', () => {
  const path = join(temporaryFolder(), 'out');
  expect(() => checkOutput('--names', path, [], [path])).toThrow(
    `--names ${path}: that is where another output goes; choose another name`,
  );
  expect(() => checkOutput('--names', path, [], ['-', `${path}.svm`])).not.toThrow();
});

test('standard input and output are given out once', () => {
  expect(() => checkFiles(['-', 'a', undefined])).not.toThrow();
  expect(() => checkFiles(['-', '-'])).toThrow(UsageError);
  expect(() => checkFiles([], { '--output': undefined }, true)).not.toThrow();
  expect(() => checkFiles([], { '--csv': '-', '--output': 'x' })).not.toThrow();
  expect(() => checkFiles([], { '--output': '-' }, true)).toThrow(
    '--output - and --json both use standard output; choose one',
  );
});

test('an output is compared with the inputs and with the outputs before it', () => {
  const path = join(temporaryFolder(), 'out');
  writeFileSync(path, '');
  expect(() => checkFiles([path], { '--csv': path })).toThrow('that is also an input');
  expect(() => checkFiles([], { '--output': path, '--csv': path })).toThrow(
    `--csv ${path}: that is where another output goes`,
  );
});

test('a folder that cannot be made is refused: Node would try for ever in some file systems', () => {
  const folder = temporaryFolder();
  makeFolder(join(folder, 'a/b'));
  expect(readdirSync(folder)).toEqual(['a']);
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file'))).toThrow('that is a file; expected a folder');
  if (process.platform !== 'linux') return;
  expect(() => makeFolder('/proc/none/models')).toThrow(UsageError);
});
