import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReadOptions, readDataset } from '../../../../src/data/read/read.ts';
import { DataError } from '../../../../src/errors.ts';
import { realData } from '../../../support/real-data.ts';
import { temporaryFile, temporaryFolder } from '../support/files.ts';
import { flat, rowsOf } from '../support/flat.ts';
import { mixedText } from '../support/mixed-text.ts';
import { WorkerRunner } from '../support/worker-runner.ts';

let runner: WorkerRunner;
beforeAll(() => {
  runner = new WorkerRunner(3);
});
afterAll(() => runner.close());

async function errorMessage(path: string, options?: ReadOptions): Promise<string> {
  try {
    await readDataset(path, options);
  } catch (error) {
    expect(error).toBeInstanceOf(DataError);
    return (error as Error).message.replace(path, 'PATH');
  }
  return 'accepted';
}

describe('sources', () => {
  const text = '# sample\n+1 1:0.5 3:2 qid:4\n-1 2:1\n';
  const rows = [
    [1, [0, 0.5], [2, 2]],
    [-1, [1, 1]],
  ];

  test.each([
    ['data.svm', Buffer.from(text)],
    ['data.svm.gz', gzipSync(text)],
    ['data.svm.zst', zstdCompressSync(text)],
    ['gzip-in-disguise.svm', gzipSync(text)],
    ['zstd-in-disguise', zstdCompressSync(text)],
    ['several-members.gz', Buffer.concat([gzipSync(text.slice(0, 20)), gzipSync(text.slice(20))])],
    ['with-mark.svm', Buffer.from(`\ufeff${text}`)],
    ['with-mark.svm.gz', gzipSync(`\ufeff${text}`)],
  ])('%s', async (name, content) => {
    const path = temporaryFile(name, content);
    const dataset = await readDataset(path);
    expect(rowsOf(dataset)).toEqual(rows);
    expect(dataset).toMatchObject({
      name: path,
      rows: 2,
      columns: 3,
      nonzeros: 3,
      // Where the name does not tell the format, it was guessed.
      notices: [
        ...(name.includes('.svm') ? [] : ['read as LIBSVM text']),
        'qid: ignored on 1 line',
      ],
    });
  });

  test('zstd frames one after the other, whole and cut by the reader’s chunks', async () => {
    const pieces = Array.from({ length: 40 }, (_, piece) => `${piece} 1:1\n`.repeat(piece * 700));
    const frames = pieces.map((piece) => zstdCompressSync(piece));
    const path = temporaryFile('frames.svm.zst', Buffer.concat(frames));
    const plain = temporaryFile('plain.svm', pieces.join(''));
    expect(flat(await readDataset(path))).toEqual(flat(await readDataset(plain)));
    // Incompressible text fills several chunks of input.
    const noise = mixedText(40000, 5);
    const half = noise.indexOf('\n', noise.length / 2) + 1;
    const two = [noise.slice(0, half), noise.slice(half)].map((part) => zstdCompressSync(part));
    const twoPath = temporaryFile('two.svm.zst', Buffer.concat(two));
    const noisePath = temporaryFile('noise.svm', noise);
    expect(statSync(twoPath).size).toBeGreaterThan(2 ** 21);
    expect(flat(await readDataset(twoPath))).toEqual(flat(await readDataset(noisePath)));
  });

  test('more columns on request', async () => {
    const path = temporaryFile('data.svm', text);
    expect((await readDataset(path, { columns: 10 })).columns).toBe(10);
    expect((await readDataset(path, { columns: 2 })).columns).toBe(3);
  });

  test('zeroBased and sumDuplicates reach the parser', async () => {
    const path = temporaryFile('data.svm', '1 0:1 4:2 0:5\n');
    const dataset = await readDataset(path, { zeroBased: true, sumDuplicates: true });
    expect(rowsOf(dataset)).toEqual([[1, [0, 6], [4, 2]]]);
  });

  test('a named pipe', async () => {
    const path = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    const source = temporaryFile('data.svm', text);
    // Each end of a pipe waits for the other, so the writer must not be waited for.
    const writer = spawn('sh', ['-c', `cat '${source}' > '${path}'`]);
    const exit = once(writer, 'exit');
    expect(rowsOf(await readDataset(path))).toEqual(rows);
    expect(await exit).toEqual([0, null]);
  });

  test.each([
    ['plain', Buffer.from(text), 'true'],
    ['gzip', gzipSync(text), 'true'],
    ['zstd', zstdCompressSync(text), 'true'],
    ['a first chunk of one byte', gzipSync(text), 'head -c 1 >&3; sleep 0.2'],
  ])('standard input: %s', (_, content, before) => {
    const module = new URL('../../../../src/data/read/read.ts', import.meta.url).href;
    const script = `
      const { readDataset } = await import('${module}');
      const { name, rows, columns, nonzeros } = await readDataset('-');
      console.log(JSON.stringify({ name, rows, columns, nonzeros }));`;
    const path = temporaryFile('script.mjs', script);
    const node = `'${process.execPath}' '${path}'`;
    const command = `{ { ${before}; cat >&3; } 3>&1; } | ${node}`;
    const result = spawnSync('sh', ['-c', command], { input: content, encoding: 'utf8' });
    expect(result.stderr).toBe('');
    const expected = { name: 'standard input', rows: 2, columns: 3, nonzeros: 3 };
    expect(JSON.parse(result.stdout)).toEqual(expected);
  });
});

describe('in parallel', () => {
  const text = mixedText(300, 1);

  test('every range size gives the bits of one thread', async () => {
    const path = temporaryFile('mixed.svm', text);
    const whole = flat(await readDataset(path));
    expect(whole.rows).toBe(300);
    for (const blockSize of [1, 2, 3, 7, 16, 61, 100, 1000, 4096, 20000, text.length - 1, 1e9]) {
      if (text.length / blockSize > 2000) continue;
      const inline = await readDataset(path, { blockSize });
      expect(flat(inline)).toEqual(whole);
      expect(flat(await readDataset(path, { blockSize, runner }))).toEqual(whole);
    }
  });

  test('ranges of one byte', async () => {
    const path = temporaryFile('small.svm', mixedText(12, 3));
    const whole = flat(await readDataset(path));
    expect(flat(await readDataset(path, { blockSize: 1, runner }))).toEqual(whole);
    expect(flat(await readDataset(path, { blockSize: 2, runner }))).toEqual(whole);
  });

  test('without a last line end, whatever the range size', async () => {
    const path = temporaryFile('open.svm', '1 1:1\n2 2:2\n3 3:3');
    for (let blockSize = 1; blockSize < 20; blockSize += 1) {
      const dataset = await readDataset(path, { blockSize, runner });
      expect(Array.from(dataset.parts.flatMap((part) => [...part.labels]))).toEqual([1, 2, 3]);
      expect(dataset.nonzeros).toBe(3);
    }
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('%s in blocks of any size', async (_, compress) => {
    const path = temporaryFile('mixed.svm', text);
    const packed = temporaryFile('packed.svm', compress(text));
    const whole = flat(await readDataset(path));
    for (const blockSize of [1, 2, 5, 64, 1000, 30000, 1e8]) {
      expect(flat(await readDataset(packed, { blockSize }))).toEqual(whole);
      expect(flat(await readDataset(packed, { blockSize, runner }))).toEqual(whole);
    }
  });

  test('large inputs use the threads, small ones do not, and few tasks are in flight', async () => {
    const local = new WorkerRunner(2);
    try {
      const small = temporaryFile('small.svm', text);
      const large = temporaryFile('large.svm', text.repeat(60));
      const packed = temporaryFile('large.svm.gz', gzipSync(text.repeat(200), { level: 1 }));
      await readDataset(small, { runner: local });
      await readDataset(temporaryFile('small.gz', gzipSync(text)), { runner: local });
      expect(local.counts).toEqual({});
      const dataset = await readDataset(large, { runner: local });
      expect(local.counts['parse-range']).toBeGreaterThan(1);
      expect(dataset.rows).toBe(300 * 60);
      await readDataset(packed, { runner: local });
      expect(local.counts['parse-bytes']).toBeGreaterThan(1);
      await readDataset(large, { runner: local, blockSize: 10000 });
      expect(local.mostInFlight).toBeLessThanOrEqual(4);
    } finally {
      await local.close();
    }
  });

  test('real data', async (context) => {
    const { path: packed, missing } = realData('rcv1_small.svm.gz');
    if (missing) context.skip(missing);
    const plain = temporaryFile('rcv1.svm', gunzipSync(readFileSync(packed)));
    const dataset = await readDataset(packed, { runner });
    expect(dataset.rows).toBe(1000);
    expect(flat(await readDataset(plain, { runner, blockSize: 54321 }))).toEqual(flat(dataset));
  });
});

describe('bad input', () => {
  test('the line number counts from the start of the file, in every range and block', async () => {
    const text = `${mixedText(100, 2)}1 3:x\n${mixedText(10, 3)}1 0:1\n`;
    const line = text.slice(0, text.indexOf('3:x')).split('\n').length;
    const message = `PATH:${line}: value "x" of feature 3 is not a number; expected a pair like 3:0.5`;
    const plain = temporaryFile('bad.svm', text);
    const packed = temporaryFile('bad.svm.gz', gzipSync(text));
    expect(await errorMessage(plain)).toBe(message);
    for (const blockSize of [10, 100, 1000, 5000]) {
      for (const path of [plain, packed]) {
        expect(await errorMessage(path, { blockSize })).toBe(message);
        expect(await errorMessage(path, { blockSize, runner })).toBe(message);
      }
    }
  });

  test.each([
    ['empty.svm', '', 'PATH: no data; expected lines like "+1 3:0.5 7:1.2"'],
    ['mark.svm', '\ufeff', 'PATH: no data; expected lines like "+1 3:0.5 7:1.2"'],
    ['empty.svm.gz', '', 'PATH: no data; expected lines like "+1 3:0.5 7:1.2"'],
    ['nothing.gz', gzipSync(''), 'PATH: no data; expected lines like "+1 3:0.5 7:1.2"'],
    ['blank.svm', '\n', 'PATH: no rows in 1 line; expected lines like "+1 3:0.5 7:1.2"'],
    ['remarks', '# a\n\n', 'PATH: no rows in 2 lines; expected lines like "+1 3:0.5 7:1.2"'],
    ['text.svm.gz', '1 1:1\n', 'PATH: not gzip data, as the name says'],
    ['text.svm.zst', '1 1:1\n', 'PATH: not zstd data, as the name says'],
    [
      'head.gz',
      gzipSync('').subarray(0, 3),
      'PATH: the gzip data ends too early; is it truncated?',
    ],
    ['index.svm', '1 0:1\n', 'PATH:1: feature index 0; indices start at 1 (use --zero-based)'],
  ])('%s', async (name, content, message) => {
    expect(await errorMessage(temporaryFile(name, content))).toBe(message);
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('truncated %s', async (format, compress) => {
    const whole = compress(mixedText(3000, 4));
    for (const missing of [1, 5, 1000, whole.length - 10]) {
      const path = temporaryFile('cut', whole.subarray(0, whole.length - missing));
      const message = `PATH: the ${format} data ends too early; is it truncated?`;
      expect(await errorMessage(path)).toBe(message);
      expect(await errorMessage(path, { runner, blockSize: 1000 })).toBe(message);
    }
  });

  test('damaged gzip and zstd', async () => {
    const gzip = gzipSync(mixedText(3000, 4));
    gzip[gzip.length - 6] ^= 1;
    expect(await errorMessage(temporaryFile('a.gz', gzip))).toMatch(/^PATH: damaged gzip data \(/);
    const zstd = zstdCompressSync(mixedText(3000, 4));
    zstd.fill(0xff, 8, 40);
    expect(await errorMessage(temporaryFile('a.zst', zstd))).toMatch(/^PATH: damaged zstd data \(/);
    const trailing = Buffer.concat([zstdCompressSync('1 1:1\n'), Buffer.from('1 2:2\n')]);
    expect(await errorMessage(temporaryFile('b.zst', trailing))).toMatch(
      /^PATH: damaged zstd data/,
    );
  });

  describe('a line that is too long is named, behind the faults in front of it', () => {
    const longestLine = 300;
    const message = 'the line is longer than 300 bytes; expected a line end before that';
    const filler = (count: number) => '1 3:1\n'.repeat(count);
    const long = (count: number) => `1 ${'3:1 '.repeat(count)}\n`;

    test.each([0, 1, 20, 200])('after %i lines', async (count) => {
      const text = `${filler(count)}${long(100)}1 x\n`;
      for (const path of [
        temporaryFile('long.svm', text),
        temporaryFile('long.svm.gz', gzipSync(text)),
      ]) {
        for (const blockSize of [10, 64, 200]) {
          const options = { blockSize, longestLine };
          expect(await errorMessage(path, options)).toBe(`PATH:${count + 1}: ${message}`);
          expect(await errorMessage(path, { ...options, runner })).toBe(
            `PATH:${count + 1}: ${message}`,
          );
        }
      }
    });

    test('with a bad line in front', async () => {
      const text = `${filler(3)}1 x\n${filler(2)}${long(100)}`;
      for (const name of ['bad.svm', 'bad.svm.gz']) {
        const path = temporaryFile(name, name.endsWith('gz') ? gzipSync(text) : text);
        for (const blockSize of [10, 64, 200]) {
          const found = await errorMessage(path, { blockSize, longestLine, runner });
          expect(found).toMatch(/^PATH:4: "x" is not a pair/);
        }
      }
    });

    test('in formats with names', async () => {
      const json = `{"label":1,"a":2}\n{"label":1,"a":"${'x'.repeat(400)}"}\n`;
      const csv = `label,a\n1,2\n0,"${'x'.repeat(400)}"\n`;
      const options = { blockSize: 64, longestLine };
      const found = (name: string, text: string) =>
        errorMessage(temporaryFile(name, text), { ...options, takesTexts: true } as never);
      expect(await found('long.jsonl', json)).toBe(`PATH:2: ${message}`);
      expect(await found('long.csv', csv)).toBe(`PATH:3: ${message}`);
    });

    test('but one that is not too long is read', async () => {
      const text = `1 3:1\n-1 ${' '.repeat(280)}4:1\n`;
      for (const name of ['fits.svm', 'fits.svm.gz']) {
        const path = temporaryFile(name, name.endsWith('gz') ? gzipSync(text) : text);
        const dataset = await readDataset(path, { blockSize: 64, longestLine });
        expect(dataset).toMatchObject({ rows: 2, nonzeros: 2 });
      }
    });
  });

  /** Files whose lines are really too long; minutes, and gigabytes of disk. */
  describe.runIf(process.env.DSO_TEST_FULL === '1')('lines of gigabytes', () => {
    const sizes: [string, string, number, string][] = [
      ['long.svm', '+1 1:1\n-1 2:1\n+1 ', 2.3e9, '3:1 '],
      ['long.jsonl', '{"label":1,"a":2}\n{"label":0,"a":3}\n{"label":0,"c":"', 1.5e9, 'x'],
      ['long.csv', 'label,c\n1,a\n0,', 1.5e9, 'x'],
    ];

    test.each(sizes)('%s', { timeout: 600_000 }, async (name, head, size, unit) => {
      const path = temporaryFile(name, head);
      const packed = temporaryFile(`${name}.gz`, gzipSync(head));
      const block = Buffer.from(unit.repeat(2 ** 22));
      const zipped = gzipSync(block);
      for (let written = 0; written < size; written += block.length) {
        appendFileSync(path, block);
        appendFileSync(packed, zipped);
      }
      for (const file of [path, packed]) {
        const before = process.memoryUsage().rss;
        expect(await errorMessage(file)).toBe(
          'PATH:3: the line is longer than 500 MiB; expected a line end before that',
        );
        expect(process.memoryUsage().rss - before).toBeLessThan(2.5e9);
      }
      rmSync(path);
      rmSync(packed);
    });
  });

  test('a faulty line comes before damage behind it', async () => {
    const text = `1 1:x\n${mixedText(3000, 4)}`;
    const cut = gzipSync(text).subarray(0, -1);
    const path = temporaryFile('both.gz', cut);
    expect(await errorMessage(path, { blockSize: 1000, runner })).toMatch(/^PATH:1: value "x"/);
  });

  test('missing, or not a file', async () => {
    const folder = temporaryFolder();
    expect(await errorMessage(join(folder, 'none.svm'))).toBe('PATH: no such file');
    expect(await errorMessage(folder)).toBe(
      `PATH: a directory; expected a file (did you mean '${folder}/*'?)`,
    );
    const path = temporaryFile('file.svm', '1 1:1\n');
    expect(await errorMessage(join(path, 'below'))).toBe('PATH: no such file');
  });

  test('not readable', async (context) => {
    const path = temporaryFile('secret.svm', '1 1:1\n');
    if (process.getuid?.() === 0) context.skip('the superuser may read every file');
    chmodSync(path, 0);
    expect(await errorMessage(path)).toBe('PATH: no permission to read it');
  });

  test('a file that shrinks while it is read', async () => {
    const path = temporaryFile('shrinking.svm', mixedText(300, 1));
    const shrinking = {
      threads: 2,
      run: <Result>(task: string, payload: unknown) => {
        writeFileSync(path, '1 1:1\n');
        return runner.run<Result>(task, payload);
      },
    };
    const message = 'PATH: the file became shorter while it was being read';
    expect(await errorMessage(path, { runner: shrinking, blockSize: 1000 })).toBe(message);
  });
});
