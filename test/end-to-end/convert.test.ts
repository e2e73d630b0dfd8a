import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { executable, runDso, startDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { sampleText } from '../support/sample-text.ts';

const lastingFolder = lastingFolders();

/** A folder with text and what became of it. */
async function converted(...options: string[]) {
  const folder = lastingFolder();
  const text = sampleText({ rows: 4000, columns: 500, perRow: 12 });
  writeFileSync(join(folder, 'data.svm'), text);
  const run = await runDso(['convert', 'data.svm', '-o', 'data.dsob', ...options], { folder });
  expect(run.code, run.stderr).toBe(0);
  const read = (name: string) => readFileSync(join(folder, name));
  return { folder, text, run, read };
}

describe.concurrent('a model trained on .dsob', () => {
  const kinds = [[], ['--pack'], ['--values', 'float64'], ['--values', 'auto', '--pack']];
  const files = kinds.map((options) => `data${options.join('')}.dsob`);
  let source: Awaited<ReturnType<typeof converted>>;

  beforeAll(async () => {
    source = await converted();
    for (const [index, options] of kinds.entries()) {
      if (options.length === 0) continue;
      const command = ['convert', 'data.svm', '-o', files[index], ...options, '--quiet'];
      const run = await runDso(command, { folder: source.folder });
      expect(run.code, run.stderr).toBe(0);
    }
  });

  test.each([
    ['two threads', ['--threads', '2', '--grid', '4']],
    ['one thread and rows held out', ['--threads', '1', '--grid', '4', '--holdout', '0.2']],
    ['logistic loss with an intercept', ['--loss', 'logistic', '--intercept']],
  ])('is that of the text, bit for bit: %s', async (title, options) => {
    const { folder, read } = source;
    const modelOf = (name: string) => `${title}, ${name}.model`;
    for (const name of ['data.svm', ...files]) {
      const command = ['train', name, '-o', modelOf(name), '--quiet', ...options];
      const run = await runDso(command, { folder });
      expect(run.code, run.stderr).toBe(0);
      expect(read(modelOf(name)).equals(read(modelOf('data.svm'))), name).toBe(true);
    }
  });

  test('predict, evaluate and compare read it as well', async () => {
    const { folder } = await converted();
    await runDso(['train', 'data.dsob', '-o', 'm', '--quiet'], { folder });
    for (const command of [
      ['predict', 'm', 'DATA', '--scores'],
      ['evaluate', 'm', 'DATA', '--json'],
    ]) {
      const [text, binary] = await Promise.all(
        ['data.svm', 'data.dsob'].map((name) =>
          runDso(
            command.map((word) => word.replace('DATA', name)),
            { folder },
          ),
        ),
      );
      expect(binary.code, binary.stderr).toBe(0);
      expect(binary.stdout.equals(text.stdout)).toBe(true);
    }
    const compare = ['compare', 'data.dsob', '--solvers', 'ring', '--epochs', '2', '-o', 'report'];
    expect((await runDso(compare, { folder })).stderr).not.toContain('dso:');
  });
});

describe.concurrent('convert', () => {
  test('writes the same bytes from a file, gzip, zstd and standard input', async () => {
    const { folder, text, read, run } = await converted();
    expect(run.stderr).toMatch(
      /^data\.dsob \(\d+ kB\): 4,000 rows × 500 columns, 48,000 non-zeros$/m,
    );
    writeFileSync(join(folder, 'a.gz'), gzipSync(text));
    writeFileSync(join(folder, 'a.zst'), zstdCompressSync(text));
    for (const source of ['a.gz', 'a.zst', '-', 'data.dsob']) {
      const command = ['convert', source, '-o', 'other.dsob', '--threads', '1'];
      const other = await runDso(command, { folder, input: text });
      expect(other.code, other.stderr).toBe(0);
      expect(read('other.dsob').equals(read('data.dsob')), source).toBe(true);
    }
  });

  test('through pipes and back to the same text', async () => {
    const { folder, read } = await converted('--pack');
    await runDso(['convert', 'data.dsob', '-o', 'once.svm'], { folder });
    const there = await runDso(['convert', 'once.svm', '-o', '-', '--quiet'], { folder });
    const back = await runDso(['convert', '-', '-o', '-', '--to', 'text', '--quiet'], {
      folder,
      input: there.stdout,
    });
    expect(back.code, back.stderr).toBe(0);
    expect(back.stdout.equals(read('once.svm'))).toBe(true);
  });

  test('features from 0', async () => {
    const folder = lastingFolder();
    const run = (...words: string[]) => runDso(['convert', ...words], { folder });
    writeFileSync(join(folder, 'data.svm'), '1 0:1 2:0.5\n-1 1:3\n');
    expect((await run('data.svm', '-o', 'x.dsob')).stderr).toContain('use --zero-based');
    await run('data.svm', '-o', 'x.dsob', '--zero-based');
    const texts = ['--zero-based', '--quiet'].map((option) => run('x.dsob', '-o', '-', option));
    const [zero, one] = (await Promise.all(texts)).map(({ stdout }) => stdout.toString());
    expect(zero).toBe('1 0:1 2:0.5\n-1 1:3\n');
    expect(one).toBe('1 1:1 3:0.5\n-1 2:3\n');
  });

  test('--info and --names', async () => {
    const folder = lastingFolder();
    const run = (...words: string[]) => runDso(['convert', ...words], { folder });
    writeFileSync(join(folder, 'data.svm'), '1 1:1 3:0.5\n-1 2:0.123456789\n');
    writeFileSync(join(folder, 'names.txt'), 'buy\nnow\nlater\n');
    const options = ['--names', 'names.txt', '--values', 'auto', '--pack'];
    expect((await run('data.svm', '-o', 'x.dsob', ...options)).stderr).toContain('3 feature names');
    const info = await run('x.dsob', '--info');
    expect(info.stdout.toString()).toBe(
      `${[
        'format     dsob, version 1',
        'rows       2',
        'columns    3',
        'non-zeros  3',
        `bytes      ${readFileSync(join(folder, 'x.dsob')).length}`,
        'blocks     1',
        'values     float64',
        'indices    packed',
        'names      of 3 features',
        'checksums  all of 3 sections and of the index match',
      ].join('\n')}\n`,
    );
    const json = await run('--info', '--json', 'x.dsob');
    expect(JSON.parse(json.stdout.toString())).toMatchObject({ rows: 2, names: 3, blocks: 1 });
    expect((await run('x.dsob', '-o', 'back.svm')).stderr).toContain(
      'names of the features are left',
    );
    await run('x.dsob', '-o', 'back.svm', '--names', 'back.txt');
    expect(readFileSync(join(folder, 'back.txt'), 'utf8')).toBe('buy\nnow\nlater\n');
    expect(readFileSync(join(folder, 'back.svm'), 'utf8')).toBe('1 1:1 3:0.5\n-1 2:0.123456789\n');
  });

  test.each([
    [['data.svm'], 'convert needs -o FILE, or --info'],
    [
      ['data.svm', '-o', '-', '--to', 'text', '--names', '-'],
      '--output - and --names - both use standard output; choose one',
    ],
    [['data.svm', '-o', 'x.svm', '--pack'], '--pack is for .dsob'],
    [['data.svm', '-o', 'data.svm'], 'that is also an input'],
    [['data.svm', '-o', 'none/x.dsob'], 'there is no folder none'],
    [['data.svm', '-o', 'x.dsob', '--values', 'float16'], 'float32, float64, auto'],
    [['data.svm', '-o', 'x.dsob', '--json'], '--json needs --info'],
  ])('refuses %j', async (words, message) => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'data.svm'), '1 1:1\n');
    const run = await runDso(['convert', ...words], { folder });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(message);
    expect(readdirSync(folder)).toEqual(['data.svm']);
  });
});

describe.concurrent('a fault', () => {
  test('in the input: exit code 3, and no output', async () => {
    const { folder, read } = await converted();
    const damaged = Uint8Array.from(read('data.dsob'));
    damaged[damaged.length >> 1] ^= 4;
    writeFileSync(join(folder, 'damaged.dsob'), damaged);
    writeFileSync(join(folder, 'bad.svm'), '1 1:1\n1 2:x\n');
    const before = readdirSync(folder);
    for (const command of [
      ['train', 'damaged.dsob', '-o', 'x.model'],
      ['convert', 'damaged.dsob', '-o', 'x.svm'],
      ['convert', 'damaged.dsob', '--info'],
    ]) {
      const run = await runDso(command, { folder });
      expect(run.code).toBe(3);
      expect(run.stderr).toMatch(
        /dso: damaged\.dsob: byte 16: the section of rows 1 to 4000: the ch/,
      );
    }
    const run = await runDso(['convert', 'bad.svm', '-o', 'x.dsob'], { folder });
    expect(run.code).toBe(3);
    expect(run.stderr).toContain('bad.svm:2: value "x" of feature 2 is not a number');
    expect(readdirSync(folder)).toEqual(before);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s leaves nothing behind', async (signal, code) => {
    const folder = lastingFolder();
    const running = startDso(['convert', '-', '-o', 'x.dsob'], { folder, openInput: true });
    const rows = '1 1:1 2:0.5\n'.repeat(200_000);
    // More than a pipe holds: once it is written, rows are being read and the output is begun.
    await new Promise((resolve) => running.process.stdin.write(rows, resolve));
    expect(readdirSync(folder)).toHaveLength(1);
    running.process.kill(signal);
    expect((await running.finished).code).toBe(code);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.runIf(existsSync('/dev/full'))('a full disk: exit code 1 and the reason', async () => {
    const { folder } = await converted();
    for (const source of ['data.svm', 'data.dsob']) {
      for (const format of ['dsob', 'text']) {
        const command = ['convert', source, '-o', '/dev/full', '--to', format];
        const run = await runDso(command, { folder });
        expect(run.stderr).toContain('/dev/full: cannot be written: the disk is full');
        expect(run.code).toBe(1);
      }
    }
  });

  test.skipIf(process.platform === 'win32')(
    'a limit on file sizes leaves nothing behind',
    async () => {
      const { folder } = await converted();
      const before = readdirSync(folder);
      for (const name of ['x.dsob', 'x.svm', 'x.svm.gz']) {
        const command = `ulimit -f 32; exec "$0" "$@"`;
        const words = [executable, 'convert', 'data.svm', '-o', name];
        const run = spawnSync('bash', ['-c', command, process.execPath, ...words], {
          cwd: folder,
          encoding: 'utf8',
        });
        expect(run.status, run.stderr).toBe(1);
        expect(run.stderr).toContain(`${name}: cannot be written`);
        expect(readdirSync(folder)).toEqual(before);
      }
    },
  );
});
