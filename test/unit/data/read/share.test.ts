import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeDataset } from '../../../../src/data/binary/convert.ts';
import type { Dataset } from '../../../../src/data/dataset.ts';
import {
  type FileShard,
  type ReadOptions,
  readDataset,
  readShard,
} from '../../../../src/data/read/read.ts';
import type { DataSource } from '../../../../src/data/read/sources.ts';
import { DataError, UsageError } from '../../../../src/errors.ts';
import { fc } from '../../../support/property.ts';
import { realData } from '../../../support/real-data.ts';
import { bitsOf } from '../binary/support.ts';
import { temporaryFile, temporaryFolder } from '../support/files.ts';
import { rowsOf } from '../support/flat.ts';
import { mixedText } from '../support/mixed-text.ts';
import { folderWith, partFiles } from '../support/part-files.ts';
import { WorkerRunner } from '../support/worker-runner.ts';

let runner: WorkerRunner;
beforeAll(() => {
  runner = new WorkerRunner(3);
});
afterAll(() => runner.close());

async function sharesOf(source: DataSource, ranks: number, options: ReadOptions = {}) {
  const shares: FileShard[] = [];
  for (let rank = 0; rank < ranks; rank += 1) {
    shares.push(await readShard(source, { ...options, rank, ranks }));
  }
  return shares;
}

/** All shares one after the other. */
function joined(shares: readonly FileShard[]): Dataset {
  const datasets = shares.map(({ dataset }) => dataset);
  const sum = (of: (dataset: Dataset) => number) =>
    datasets.reduce((total, dataset) => total + of(dataset), 0);
  return {
    name: datasets[0].name,
    parts: datasets.flatMap(({ parts }) => parts),
    rows: sum(({ rows }) => rows),
    columns: Math.max(...datasets.map(({ columns }) => columns)),
    nonzeros: sum(({ nonzeros }) => nonzeros),
    notices: [],
  };
}

describe('shares of all ranks are the whole, in order', () => {
  test('of part files in all forms', async () => {
    const { whole, pattern } = await partFiles();
    const expected = bitsOf(await readDataset(whole));
    for (let ranks = 1; ranks <= 7; ranks += 1) {
      for (const options of [{}, { runner, blockSize: 100 }]) {
        const shares = await sharesOf(pattern, ranks, options);
        expect(bitsOf(joined(shares))).toEqual(expected);
        expect(new Set(shares.map(({ listing }) => listing)).size).toBe(1);
        for (const { dataset, listing } of shares) {
          expect(listing).toMatch(/^6 files of \d+ bytes/);
          expect(dataset.name).toBe(pattern);
          const rows = dataset.parts.reduce((sum, { labels }) => sum + labels.length, 0);
          expect(dataset.rows).toBe(rows);
        }
      }
    }
  });

  test('of a plain file, evenly', async () => {
    const path = temporaryFile('even.svm', '1 1:0.5 2:0.25\n'.repeat(1000));
    for (const ranks of [2, 3, 7]) {
      for (const { dataset } of await sharesOf(path, ranks)) {
        expect(Math.abs(dataset.rows - 1000 / ranks)).toBeLessThanOrEqual(1);
      }
    }
  });

  test('of compressed files of nearly the same size: one each', async () => {
    const sizes = [240, 260, 250, 255, 245];
    const names = sizes.map((size, part) => [`p${part}.gz`, gzipSync(mixedText(size, part))]);
    const folder = folderWith(Object.fromEntries(names));
    const shares = await sharesOf(join(folder, 'p*'), 5);
    expect(shares.map(({ dataset }) => dataset.rows)).toEqual(sizes);
    for (const { dataset } of shares) expect(dataset.notices.join()).not.toContain('compressed');
  });

  test('of a .dsob file with several sections', async () => {
    const text = temporaryFile('data.svm', '1 3:1\n-1 2:0.5\n+1\n'.repeat(70_000));
    const path = join(temporaryFolder(), 'data.dsob');
    const dataset = await readDataset(text);
    await writeDataset(path, dataset, { names: ['a', 'b', 'c'] });
    const expected = bitsOf(dataset);
    for (const ranks of [1, 2, 3, 6]) {
      const shares = await sharesOf(path, ranks, { runner });
      expect(bitsOf(joined(shares))).toEqual(expected);
      if (ranks === 3) for (const share of shares) expect(share.dataset.rows).toBeGreaterThan(0);
    }
  });

  test('whatever the lines, their ends and the number of ranks', async () => {
    const line = fc.constantFrom('1 1:1', '-1 2:2 30:3', '', '# 1', '2', '3 1:0.5 2:0.25 4:1');
    const file = fc.record({
      lines: fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 12 }),
      last: fc.constantFrom('', '7 7:7'),
    });
    const folder = temporaryFolder();
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 9 }),
        async (files, ranks) => {
          const source = files.map(({ lines, last }, number) => {
            const path = join(folder, `${number}.svm`);
            writeFileSync(path, `1 1:1\n${lines.flat().join('')}${last}`);
            return path;
          });
          const expected = bitsOf(await readDataset(source));
          expect(bitsOf(joined(await sharesOf(source, ranks)))).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('of real data', async (context) => {
    const { path: packed, missing } = realData('rcv1_small.svm.gz');
    if (missing) context.skip(missing);
    const plain = temporaryFile('rcv1.svm', gunzipSync(readFileSync(packed)));
    const expected = bitsOf(await readDataset(plain));
    for (const source of [plain, packed]) {
      expect(bitsOf(joined(await sharesOf(source, 3, { runner })))).toEqual(expected);
    }
  });
});

describe('few rows', () => {
  test('more ranks than lines, and than bytes', async () => {
    const path = temporaryFile('two.svm', '1 1:1\n2 5:2');
    const expected = bitsOf(await readDataset(path));
    for (const ranks of [5, 11, 30]) {
      const shares = await sharesOf(path, ranks);
      expect(bitsOf(joined(shares))).toEqual(expected);
      expect(shares.filter(({ dataset }) => dataset.rows > 0)).toHaveLength(2);
    }
  });

  test('none at all is for the caller to complain about', async () => {
    const folder = folderWith({ 'a.svm': '', 'b.svm': '# nothing\n' });
    const [{ dataset }] = await sharesOf(join(folder, '?.svm'), 1);
    expect(dataset).toMatchObject({ rows: 0, columns: 0, nonzeros: 0, parts: [] });
    expect(
      (await readShard(join(folder, 'a.svm'), { rank: 1, ranks: 2, columns: 4 })).dataset,
    ).toEqual({ ...dataset, name: join(folder, 'a.svm'), columns: 4 });
  });
});

describe('one reader', () => {
  test('of a compressed file, with a word about it', async () => {
    const path = temporaryFile('data.svm.gz', gzipSync('1 1:1\n2 2:2\n'));
    const shares = await sharesOf(path, 4);
    // The process that has the middle of it.
    expect(shares.map(({ dataset }) => dataset.rows)).toEqual([0, 0, 2, 0]);
    expect(shares.flatMap(({ dataset }) => dataset.notices)).toEqual([
      'compressed, so one of 4 processes reads all of it; ' +
        'part files, or one plain file, would be read by all at once',
    ]);
    expect((await sharesOf(path, 1))[0].dataset.notices).toEqual([]);
  });

  test('of a pipe: rank 0', async () => {
    const path = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    const writer = spawn('sh', ['-c', `printf '1 1:1\\n' > '${path}'`]);
    const exit = once(writer, 'exit');
    expect((await readShard(path, { rank: 1, ranks: 2 })).dataset.rows).toBe(0);
    expect(rowsOf((await readShard(path, { rank: 0, ranks: 2 })).dataset)).toEqual([[1, [0, 1]]]);
    await exit;
    const source = [path, temporaryFile('data.svm', '1 1:1\n')];
    await expect(readShard(source, { rank: 1, ranks: 2 })).rejects.toThrow(/pipe: not a regular/);
  });
});

describe('complaints', () => {
  async function complaints(source: DataSource, ranks: number, options: ReadOptions = {}) {
    const found: string[] = [];
    for (let rank = 0; rank < ranks; rank += 1) {
      await readShard(source, { ...options, rank, ranks }).catch((error: unknown) => {
        expect(error).toBeInstanceOf(DataError);
        found.push((error as Error).message);
      });
    }
    return found;
  }

  test('name the line in the file, wherever the file was cut', async () => {
    const good = mixedText(30, 6);
    const text = `${good}1 0:1\n${good}`;
    const folder = folderWith({ 'a.svm': good, 'b.svm': text });
    const line = good.split('\n').length;
    const message = `${join(folder, 'b.svm')}:${line}: feature index 0; indices start at 1 (use --zero-based)`;
    for (let ranks = 1; ranks < 40; ranks += 3) {
      for (const options of [{}, { blockSize: 64 }]) {
        expect(await complaints(join(folder, '?.svm'), ranks, options)).toEqual([message]);
      }
    }
  });

  test('count lines correctly wherever the cut is', async () => {
    const path = temporaryFile('bad.svm', '\n1 1:1\n\n1 x\n');
    const message = `${path}:4: "x" is not a pair; expected index:value, as in 3:0.5`;
    for (let ranks = 1; ranks <= 12; ranks += 1) {
      expect(await complaints(path, ranks)).toEqual([message]);
    }
  });

  test('ranks that are none', async () => {
    const path = temporaryFile('a.svm', '1 1:1\n');
    for (const rank of [-1, 2, 0.5]) {
      await expect(readShard(path, { rank, ranks: 2 })).rejects.toThrow(UsageError);
    }
  });

  test('files that are not the same everywhere have another listing', async () => {
    const path = temporaryFile('a.svm', '1 1:1\n');
    const before = await readShard(path, { rank: 0, ranks: 2 });
    writeFileSync(path, '1 1:12\n');
    expect((await readShard(path, { rank: 1, ranks: 2 })).listing).not.toBe(before.listing);
  });
});
