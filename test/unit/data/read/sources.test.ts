import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { convert, describeData, readFeatureNames } from '../../../../src/data/binary/convert.ts';
import { readDataset, readParts } from '../../../../src/data/read/read.ts';
import {
  comparePaths,
  type DataSource,
  filesOfSource,
  nameOfSource,
  titleOfSource,
} from '../../../../src/data/read/sources.ts';
import { DataError, UsageError } from '../../../../src/errors.ts';
import { fc } from '../../../support/property.ts';
import { binaryBytes, bitsOf } from '../binary/support.ts';
import { temporaryFolder } from '../support/files.ts';
import { rowsOf } from '../support/flat.ts';
import { mixedText } from '../support/mixed-text.ts';
import { folderWith, partFiles } from '../support/part-files.ts';
import { WorkerRunner } from '../support/worker-runner.ts';

let runner: WorkerRunner;
beforeAll(() => {
  runner = new WorkerRunner(3);
});
afterAll(() => runner.close());

async function errorMessage(source: DataSource, options = {}): Promise<string> {
  try {
    await readDataset(source, options);
  } catch (error) {
    expect(error).toBeInstanceOf(DataError);
    return (error as Error).message;
  }
  return 'accepted';
}

const labelled = (...labels: number[]) => labels.map((label) => `${label} 1:1\n`).join('');

describe('the order of files', () => {
  test('digits count as numbers', () => {
    const names = ['part-10', 'part-9', 'part-1', 'part-010b', 'part-010', 'part', 'part-1/2', 'Z'];
    const expected = [
      'Z',
      'part',
      'part-1',
      'part-1/2',
      'part-9',
      'part-010',
      'part-10',
      'part-010b',
    ];
    expect(names.sort(comparePaths)).toEqual(expected);
  });

  test('long runs of digits do not lose their last ones', () => {
    const names = ['a90071992547409930', 'a90071992547409929', 'a9007199254740993'];
    expect(names.sort(comparePaths)).toEqual([
      'a9007199254740993',
      'a90071992547409929',
      'a90071992547409930',
    ]);
  });

  test('is an order, and that of code units where there are no digits', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'B', '-', '/', '0', '1', '2', 'ä') });
    const sign = (left: string, right: string) => Math.sign(comparePaths(left, right));
    fc.assert(
      fc.property(name, name, name, (x, y, z) => {
        expect(sign(x, y) + sign(y, x)).toBe(0);
        expect(sign(x, y) === 0).toBe(x === y);
        if (sign(x, y) < 0 && sign(y, z) < 0) expect(sign(x, z)).toBe(-1);
        if (!/\d/.test(x + y)) expect(sign(x, y)).toBe(x === y ? 0 : x < y ? -1 : 1);
      }),
    );
  });
});

describe('patterns', () => {
  test('stand for the files that match, without folders', () => {
    const folder = folderWith({ 'part-10.svm': '', 'part-2.svm': '', 'other.svm': '', 'b.gz': '' });
    mkdirSync(join(folder, 'part-3.svm'));
    symlinkSync(join(folder, 'other.svm'), join(folder, 'part-1.svm'));
    const names = (pattern: string) =>
      filesOfSource(join(folder, pattern)).map((path) => path.slice(folder.length + 1));
    expect(names('part-*.svm')).toEqual(['part-1.svm', 'part-2.svm', 'part-10.svm']);
    expect(names('part-?.svm')).toEqual(['part-1.svm', 'part-2.svm']);
    expect(names('{other,b}*')).toEqual(['b.gz', 'other.svm']);
    expect(names('part-[2-9].svm')).toEqual(['part-2.svm']);
    expect(names('none.svm')).toEqual(['none.svm']);
  });

  test('a name that exists is no pattern', async () => {
    const folder = folderWith({ 'a[1].svm': labelled(1), 'a1.svm': labelled(2) });
    const path = join(folder, 'a[1].svm');
    expect(rowsOf(await readDataset(path))).toEqual([[1, [0, 1]]]);
    expect(nameOfSource(path)).toBe('a[1].svm');
    expect(rowsOf(await readDataset(join(folder, 'a[12].svm')))).toEqual([[2, [0, 1]]]);
  });

  test('no match', async () => {
    const folder = folderWith({ 'a.svm': labelled(1) });
    mkdirSync(join(folder, 'b.d'));
    for (const name of ['b*.svm', '*.d', 'no/folder/*']) {
      const pattern = join(folder, name);
      expect(await errorMessage(pattern)).toBe(`${pattern}: no file matches`);
    }
  });

  test('lists', async () => {
    expect(() => filesOfSource([])).toThrow(UsageError);
    expect(() => filesOfSource(['a', '-'])).toThrow(UsageError);
    expect(filesOfSource(['-'])).toEqual(['-']);
    expect(filesOfSource(['b', 'a10', 'a9'])).toEqual(['b', 'a10', 'a9']);
  });

  test('names of what is made from them', () => {
    expect(nameOfSource('data/train.svm')).toBe('train.svm');
    expect(nameOfSource('data/part-*.svm')).toBe('part-_.svm');
    expect(nameOfSource('no/{a,b}?[0-9].svm.gz')).toBe('_a_b_0-9_.svm.gz');
    expect(nameOfSource('no/such/*')).toBe('such');
    expect(nameOfSource('no/such/**/*')).toBe('such');
    expect(nameOfSource('*')).toBe('dso');
    expect(nameOfSource('-')).toBe('dso');
    expect(nameOfSource(['x/b.svm', 'a.svm'])).toBe('b.svm');
  });

  test('titles', () => {
    expect(titleOfSource('-')).toBe('standard input');
    expect(titleOfSource('part-*')).toBe('part-*');
    expect(titleOfSource(['a'])).toBe('a');
    expect(titleOfSource(['a', 'b'])).toBe('a and 1 more file');
    expect(titleOfSource(['a', 'b', 'c'])).toBe('a and 2 more files');
  });
});

describe('several files', () => {
  test('have the rows of one file with all their lines', async () => {
    const files = await partFiles();
    const { pattern } = files;
    const expected = await readDataset(files.whole);
    const whole = bitsOf(expected);
    for (const options of [{}, { runner }, { blockSize: 50 }, { blockSize: 333, runner }]) {
      const dataset = await readDataset(pattern, options);
      expect(dataset).toMatchObject({ name: pattern, notices: expected.notices });
      expect(bitsOf(dataset)).toEqual(whole);
    }
    const list = filesOfSource(pattern);
    expect(bitsOf(await readDataset(list, { runner }))).toEqual(whole);
    expect((await readDataset([...list].reverse())).parts.at(-1)!.labels.at(-1)).toBe(
      (await readDataset(list[0])).parts.at(-1)!.labels.at(-1),
    );
  });

  test('large ones use the threads, few tasks at a time', async () => {
    const text = mixedText(300, 1).repeat(30);
    const folder = folderWith({ 'a.svm': text, 'b.svm': text, 'c.svm.gz': gzipSync(text) });
    const local = new WorkerRunner(2);
    try {
      const progress: number[] = [];
      const dataset = await readDataset(join(folder, '*'), { runner: local });
      expect(dataset.rows).toBe(3 * 300 * 30);
      expect(local.counts['parse-range']).toBeGreaterThanOrEqual(2);
      expect(local.counts['parse-bytes']).toBeGreaterThanOrEqual(1);
      await readDataset(join(folder, '*'), { runner: local, blockSize: 20000 });
      expect(local.mostInFlight).toBeLessThanOrEqual(4);
      await describeData(join(folder, '*'), { onProgress: (part) => void progress.push(part) });
      expect(progress.length).toBeGreaterThan(2);
      expect(progress).toEqual(progress.toSorted((left, right) => left - right));
      expect(progress.at(-1)).toBeLessThanOrEqual(1);
    } finally {
      await local.close();
    }
  });

  test('each may lack its last line end and have a byte order mark', async () => {
    const folder = folderWith({ a: '1 1:1', b: '\ufeff2 1:1\r\n3 1:1', c: '4 1:1\n' });
    const labels = (await readDataset(join(folder, '?'))).parts.flatMap((part) => [...part.labels]);
    expect(labels).toEqual([1, 2, 3, 4]);
  });

  test('the first fault is reported, with its file and the line there', async () => {
    const good = mixedText(50, 1);
    const bad = `${labelled(1, 2)}1 1:x\n`;
    const files = { 'p1.svm': good, 'p2.svm': bad, 'p3.svm.gz': gzipSync(good).subarray(0, 99) };
    const folder = folderWith({ ...files, 'p4.svm': '1 0:1\n' });
    for (const options of [{}, { runner, blockSize: 10 }, { runner, blockSize: 1e6 }]) {
      const message = await errorMessage(join(folder, 'p*'), options);
      expect(message).toMatch(new RegExp(`^${join(folder, 'p2.svm')}:3: value "x" of feature 1 `));
      expect(await errorMessage(join(folder, 'p[134]*'), options)).toBe(
        `${join(folder, 'p3.svm.gz')}: the gzip data ends too early; is it truncated?`,
      );
    }
    const list = [join(folder, 'p1.svm'), join(folder, 'gone.svm')];
    expect(await errorMessage(list)).toBe(`${list[1]}: no such file`);
  });

  test('no rows in any of them', async () => {
    const folder = folderWith({ a: '# one\n', b: '\n\n', c: '' });
    const pattern = join(folder, '?');
    const expected = 'expected lines like "+1 3:0.5 7:1.2"';
    expect(await errorMessage(pattern)).toBe(`${pattern}: no rows in 3 lines; ${expected}`);
    expect(await errorMessage([join(folder, 'c')])).toBe(
      `${join(folder, 'c')}: no data; ${expected}`,
    );
  });

  test('whoever takes the rows may reject them, and that is no fault of a file', async () => {
    const { pattern } = await partFiles();
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    for (const last of [1, 2, 3, 4, 5]) {
      let parts = 0;
      const takePart = () => {
        parts += 1;
        if (parts === last) throw full;
      };
      await expect(readParts(pattern, { takePart, runner })).rejects.toBe(full);
      expect(parts).toBe(last);
    }
  });

  test('are described together', async () => {
    const { pattern } = await partFiles();
    const found = await describeData(pattern);
    expect(found).toMatchObject({ format: 'mixed', files: 6, rows: 184, blocks: 1 });
    expect((await describeData(join(pattern, '../part-1.svm'))).format).toBe('text');
    expect((await describeData(join(pattern, '../part-10*'))).format).toBe('dsob');
  });
});

describe('names of features in several files', () => {
  async function named(names: Readonly<Record<string, string | undefined>>) {
    const folder = temporaryFolder();
    for (const [file, lines] of Object.entries(names)) {
      const text = join(folder, 'text.svm');
      writeFileSync(text, labelled(1, 2));
      const bytes = await binaryBytes(await readDataset(text), {
        ...(lines !== undefined && { names: lines }),
      });
      writeFileSync(join(folder, file), bytes);
    }
    return join(folder, '*.dsob');
  }

  test('are those of all files that have some, and come behind all rows', async () => {
    const pattern = await named({ 'a.dsob': undefined, 'b.dsob': 'x\ny\n', 'c.dsob': 'x\ny\n' });
    expect(await readFeatureNames(pattern)).toEqual(['x', 'y']);
    const target = join(temporaryFolder(), 'all.dsob');
    expect(await convert(pattern, target)).toMatchObject({ rows: 6, names: 2 });
    expect(await readFeatureNames(target)).toEqual(['x', 'y']);
    expect(bitsOf(await readDataset(target))).toEqual(bitsOf(await readDataset(pattern)));
  });

  test('must not differ, unless neither they nor columns are requested', async () => {
    const pattern = await named({ 'a.dsob': 'x\n', 'b.dsob': 'z\n' });
    const message = /b\.dsob: its names of features are not those of .*a\.dsob; expected the same/;
    await expect(readFeatureNames(pattern)).rejects.toThrow(message);
    await expect(readDataset(pattern)).rejects.toThrow(message);
    const shape = await readParts(pattern, { takePart() {} });
    expect(shape.rows).toBe(4);
  });
});
