import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { sampleText } from '../support/sample-text.ts';

const lastingFolder = lastingFolders();

/** A folder with the same rows in one file, `whole.svm`, and in part files of all kinds. */
async function withParts() {
  const folder = lastingFolder();
  const run = async (...args: string[]) => {
    const finished = await runDso(args, { folder });
    expect(finished.code, finished.stderr).toBe(0);
    return finished;
  };
  const text = sampleText({ rows: 3000, columns: 300, perRow: 9 });
  const lines = text.split('\n').slice(0, -1);
  const part = (from: number, to: number) => `${lines.slice(from, to).join('\n')}\n`;
  const write = (name: string, content: string | Uint8Array) =>
    writeFileSync(join(folder, name), content);
  write('whole.svm', text);
  write('part-1.svm', part(0, 700));
  write('part-2.svm.gz', gzipSync(part(700, 1000)));
  write('nine.svm', part(1000, 1900));
  write('part-10.svm', part(1900, 2950).trimEnd());
  write('part-11.svm.zst', zstdCompressSync(part(2950, 3000)));
  await run('convert', 'nine.svm', '-o', 'part-9.dsob', '--quiet');
  const read = (name: string) => readFileSync(join(folder, name));
  return { folder, run, read };
}

describe.concurrent('part files', () => {
  test('give the model of the whole file, bit for bit', async () => {
    const { run, read } = await withParts();
    await run('train', 'whole.svm', '-o', 'whole.model', '--quiet', '--grid', '3');
    for (const threads of ['1', '2']) {
      const options = ['--quiet', '--grid', '3', '--threads', threads];
      await run('train', 'part-*', '-o', 'parts.model', ...options);
      expect(read('parts.model').equals(read('whole.model')), `${threads} threads`).toBe(true);
    }
  });

  test('are scored, evaluated, compared and converted like the whole file', async () => {
    const { run, read, folder } = await withParts();
    await run('train', 'whole.svm', '-o', 'm', '--quiet');
    for (const command of [
      ['predict', 'm', 'DATA', '--scores'],
      ['evaluate', 'm', 'DATA', '--json'],
    ]) {
      const results = [];
      for (const data of ['whole.svm', 'part-*']) {
        results.push(await run(...command.map((word) => word.replace('DATA', data))));
      }
      expect(results[1].stdout.equals(results[0].stdout), command[0]).toBe(true);
    }
    for (const [source, target] of [
      ['whole.svm', 'whole'],
      ['part-*', 'parts'],
    ]) {
      await run('convert', source, '-o', `${target}.dsob`, '--quiet');
      await run('convert', source, '-o', `${target}.txt`, '--quiet');
    }
    expect(read('parts.dsob').equals(read('whole.dsob'))).toBe(true);
    expect(read('parts.txt').equals(read('whole.txt'))).toBe(true);
    await run('compare', 'part-*', '--solvers', 'ring', '--epochs', '2', '-o', 'report', '--quiet');
    expect(existsSync(join(folder, 'report'))).toBe(true);
  });

  test('of which one is faulty: its name and line', async () => {
    const { folder } = await withParts();
    writeFileSync(join(folder, 'part-3.svm'), '+1 1:1\n-1 2:2\n\n+1 1:oops\n');
    const bad = await runDso(['train', 'part-*', '-o', 'm'], { folder });
    expect(bad.code).toBe(3);
    expect(bad.stderr).toContain('dso: part-3.svm:4: value "oops" of feature 1 is not a number');
    expect(existsSync(join(folder, 'm'))).toBe(false);
  });

  test('that are not there', async () => {
    const { folder } = await withParts();
    const none = await runDso(['train', 'piece-*.svm', '-o', 'm'], { folder });
    expect(none.code).toBe(3);
    expect(none.stderr).toContain('dso: piece-*.svm: no file matches');
    const directory = await runDso(['train', '.', '-o', 'm'], { folder });
    expect(directory.code).toBe(3);
    expect(directory.stderr).toContain(".: a directory; expected a file (did you mean './*'?)");
  });
});
