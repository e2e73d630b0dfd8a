import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeIndex, encodeIndex } from '../../../../src/data/binary/sections.ts';
import { hashData } from '../../../../src/data/fingerprint.ts';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { readDataset } from '../../../../src/data/read/read.ts';
import { DataError } from '../../../../src/errors.ts';
import { temporaryFile, temporaryFolder } from '../support/files.ts';
import { binaryBytes, bitsOf } from './support.ts';

const sample = datasetFromRows({
  rows: [
    { indices: [0, 4, 300], values: [0.5, -2, 1e-40] },
    { indices: [], values: [] },
    { indices: [2], values: [3.25] },
  ],
  labels: [1, -1, 0.1],
});

async function errorMessage(path: string): Promise<string> {
  try {
    await readDataset(path);
  } catch (error) {
    expect(error).toBeInstanceOf(DataError);
    return (error as Error).message.replace(path, 'PATH');
  }
  return 'accepted';
}

/** The bytes with a change, and the four bytes behind each sealed part made right again. */
function forged(bytes: Uint8Array, sealed: [number, number], change: (view: DataView) => void) {
  const copy = Uint8Array.from(bytes);
  const view = new DataView(copy.buffer);
  change(view);
  const [from, to] = sealed;
  view.setUint32(to - 4, crc32(copy.subarray(from, to - 4)), true);
  return copy;
}

describe.each([
  ['plain', {}],
  ['packed float64', { pack: true, values: 'float64' as const }],
])('a damaged file (%s)', (_, options) => {
  test('any changed byte is an error that names file and position', async () => {
    const bytes = await binaryBytes(sample, { ...options, names: 'a\nb\n' });
    const path = join(temporaryFolder(), 'data.dsob');
    for (let offset = 0; offset < bytes.length; offset += 1) {
      const damaged = Uint8Array.from(bytes);
      damaged[offset] ^= 1 << (offset % 8);
      writeFileSync(path, damaged);
      const message = await errorMessage(path);
      expect(message, `byte ${offset}`).toMatch(/^PATH: byte \d+: ./);
    }
  });

  test('so it is in a stream', async () => {
    const bytes = await binaryBytes(sample, { ...options, names: 'a\nb\n' });
    const path = join(temporaryFolder(), 'data.dsob.gz');
    for (let offset = 0; offset < bytes.length; offset += 1) {
      const damaged = Uint8Array.from(bytes);
      damaged[offset] ^= 0x10;
      writeFileSync(path, gzipSync(damaged, { level: 0 }));
      expect(await errorMessage(path), `byte ${offset}`).toMatch(/^PATH: byte \d+: ./);
    }
  });

  test('any missing or further byte is an error', async () => {
    const bytes = await binaryBytes(sample, options);
    const path = join(temporaryFolder(), 'data.dsob');
    const step = (length: number) => (length < bytes.length - 40 ? 3 : 1);
    for (let length = 1; length <= bytes.length + 1; length += step(length)) {
      const cut = new Uint8Array(length);
      cut.set(bytes.subarray(0, length));
      writeFileSync(path, cut);
      const message = await errorMessage(path);
      if (length === bytes.length) expect(message).toBe('accepted');
      else expect(message, `${length} bytes`).toMatch(/^PATH: byte \d+: ./);
      writeFileSync(`${path}.gz`, gzipSync(cut, { level: 0 }));
      const streamed = await errorMessage(`${path}.gz`);
      if (length === bytes.length) expect(streamed).toBe('accepted');
      else expect(streamed, `${length} bytes`).toMatch(/^PATH(\.gz)?: byte \d+: ./);
    }
  });
});

describe('what the checksums cannot tell', () => {
  test('a newer version', async () => {
    const bytes = await binaryBytes(sample);
    const newer = forged(bytes, [0, 16], (view) => view.setUint32(8, 2, true));
    expect(await errorMessage(temporaryFile('new.dsob', newer))).toBe(
      'PATH: byte 8: version 2 of the format; this program reads version 1',
    );
  });

  test('text or nothing under the name', async () => {
    const expected = 'PATH: byte 0: not dsob data, as the name says';
    expect(await errorMessage(temporaryFile('text.dsob', '1 1:1\n'))).toBe(expected);
    expect(await errorMessage(temporaryFile('text.dsob.gz', gzipSync('1 1:1\n')))).toBe(expected);
    expect(await errorMessage(temporaryFile('empty.dsob', ''))).toBe(expected);
  });

  test('a section of a kind or with flags that version 1 does not have', async () => {
    const bytes = await binaryBytes(sample);
    const kind = forged(bytes, [16, 64], (view) => view.setUint8(16, 0x58));
    expect(await errorMessage(temporaryFile('kind.dsob.gz', gzipSync(kind)))).toBe(
      'PATH: byte 16: a section of kind "XOWS", unknown to version 1',
    );
    const flags = forged(bytes, [16, 64], (view) => view.setUint32(20, 8, true));
    expect(await errorMessage(temporaryFile('flags.dsob.gz', gzipSync(flags)))).toBe(
      'PATH: byte 16: flags 8 in a section of kind ROWS, which does not have them',
    );
  });

  test('a length beyond the end of a stream takes no memory', async () => {
    const bytes = await binaryBytes(sample);
    const long = forged(bytes, [16, 64], (view) => view.setBigUint64(24, 2n ** 32n, true));
    const before = process.memoryUsage().arrayBuffers;
    expect(await errorMessage(temporaryFile('long.dsob.gz', gzipSync(long)))).toMatch(
      /^PATH: byte \d+: the data ends here; is it truncated\?$/,
    );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 28);
  });

  test('a section of several pieces of memory is read from a stream', async () => {
    const indices = Int32Array.from({ length: 2_900_000 }, (_, column) => column);
    const values = Float32Array.from(indices, (column) => column + 1);
    const long = datasetFromRows({ rows: [{ indices, values }], labels: [1] });
    const bytes = await binaryBytes(long, { values: 'float64' });
    expect(bytes.length).toBeGreaterThan(2 ** 25);
    const read = await readDataset(temporaryFile('large.dsob.gz', gzipSync(bytes, { level: 1 })));
    expect(hashData(read)).toBe(hashData(long));
  });

  test('an index that is not that of the sections', async () => {
    const bytes = await binaryBytes(sample);
    // The rows begin with row 5, say the header of the section and its copy in the index.
    const header = forged(bytes, [16, 64], (view) => view.setUint32(32, 5, true));
    expect(await errorMessage(temporaryFile('header.dsob', header))).toBe(
      'PATH: byte 16: the header of the section is not the one that the index has',
    );
    expect(await errorMessage(temporaryFile('header.dsob.gz', gzipSync(header)))).toMatch(
      /^PATH: byte \d+: the index lists other sections than there are$/,
    );
  });

  test('the index of other data', async () => {
    const bytes = await binaryBytes(sample);
    const other = datasetFromRows({ rows: [{ indices: [1], values: [2] }], labels: [1] });
    const foreign = await binaryBytes(other);
    const mixed = Buffer.concat([foreign.subarray(0, 16), bytes.subarray(16)]);
    expect(await errorMessage(temporaryFile('same.dsob', mixed))).toBe('accepted');
    const swapped = Uint8Array.from(bytes);
    swapped.set(foreign.subarray(16, 16 + 48), 16);
    expect(await errorMessage(temporaryFile('swapped.dsob', swapped))).toBe(
      'PATH: byte 16: the header of the section is not the one that the index has',
    );
  });

  test.each([
    ['indices that do not ascend', { indices: [4, 0] }, 'the indices of its row 1 do not ascend'],
    ['a repeated index', { indices: [4, 4] }, 'the indices of its row 1 do not ascend'],
    ['a negative index', { indices: [-3, 4] }, 'the indices of its row 1 do not ascend'],
    ['a column that is not there', { indices: [0, 9] }, 'column 10 in a section; the file has 5'],
    ['no number', { values: [1, NaN] }, 'its value 2 is NaN; expected a finite number'],
    ['an infinite value', { values: [-Infinity, 1] }, 'its value 1 is -Infinity; expected'],
    ['an infinite label', { labels: [Infinity] }, 'the label of its row 1 is Infinity; expected'],
  ])('%s', async (_, change, expected) => {
    const given = { labels: [1], indices: [0, 4], values: [1, 2], ...change };
    const part = {
      labels: Float64Array.from(given.labels),
      rowOffsets: Int32Array.of(0, 2),
      indices: Int32Array.from(given.indices),
      values: Float32Array.from(given.values),
    };
    const indicesFit = given.indices[0] < given.indices[1] && given.indices[0] >= 0;
    for (const options of [{}, { values: 'float64' as const }, { pack: true }]) {
      // Distances that are negative cannot be packed.
      if (options.pack && !indicesFit) continue;
      const bytes = await binaryBytes({ parts: [part], columns: 5 }, options);
      for (const [name, content] of [
        ['bad.dsob', bytes],
        ['bad.dsob.gz', gzipSync(bytes)],
      ] as const) {
        const message = await errorMessage(temporaryFile(name, content));
        expect(message).toMatch(/^PATH: byte \d+: /);
        expect(message).toContain(expected);
      }
    }
  });

  test('more than 2³¹ non-zeros and a file of terabytes fit into the index', () => {
    // Labels, offsets, indices and values.
    const length = 2 ** 19 + (2 ** 18 + 8) + 2 ** 29 + 2 ** 29;
    const header = { kind: 'ROWS', flags: 0, length, count: 2 ** 16 } as const;
    const rest = { entries: 2 ** 27, used: 2 ** 29, headChecksum: 1, checksum: 2 };
    const sections = Array.from({ length: 3000 }, (_, number) => ({
      offset: 16 + number * (48 + length),
      header: { ...header, ...rest, first: number * 2 ** 16 },
    }));
    const totals = {
      rows: 3000 * 2 ** 16,
      columns: 2 ** 31 - 1,
      nonzeros: 3000 * 2 ** 27,
      names: 0,
    };
    const { header: own, bytes } = encodeIndex({ totals, sections });
    const offset = 16 + 3000 * (48 + length);
    expect(offset).toBeGreaterThan(3e12);
    const decode = (start: number) => decodeIndex(own, bytes.subarray(48), start);
    expect(decode(offset)).toEqual({ totals, sections });
    expect(() => decode(offset + 8)).toThrow(`the sections end at byte ${offset}; expected`);
    const fewer = encodeIndex({ totals: { ...totals, nonzeros: 5 }, sections });
    expect(() => decodeIndex(fewer.header, fewer.bytes.subarray(48), offset)).toThrow(
      `its sections have ${totals.nonzeros} nonzeros; expected 5`,
    );
  });

  test('no rows', async () => {
    const bytes = await binaryBytes({ parts: [], columns: 3 });
    expect(await errorMessage(temporaryFile('none.dsob', bytes))).toBe(
      'PATH: no rows; expected at least one',
    );
  });

  test('more columns on demand', async () => {
    const path = temporaryFile('data.dsob', await binaryBytes(sample));
    expect((await readDataset(path, { columns: 1000 })).columns).toBe(1000);
    expect(bitsOf(await readDataset(path, { columns: 5 }))).toEqual(bitsOf(sample));
  });
});

const python = spawnSync('python3', ['--version']).error === undefined;

test.runIf(python)('the reader of the documentation agrees (needs python3)', async () => {
  const document = readFileSync(
    new URL('../../../../docs/data-format.md', import.meta.url),
    'utf8',
  );
  const weightedSample = {
    ...sample,
    parts: sample.parts.map((part) => ({ ...part, weights: Float64Array.of(0.5, 1, 7) })),
  };
  const program = /```python\n([\s\S]*?)```/.exec(document)![1];
  const path = temporaryFile(
    'data.dsob',
    await binaryBytes(weightedSample, { pack: true, names: 'a\nb\n' }),
  );
  const show = '\nfor row in rows(sys.argv[1]): print(row)\n';
  const run = spawnSync('python3', ['-c', program + show, path], { encoding: 'utf8' });
  expect(run.stderr).toBe('');
  expect(run.stdout.trim().split('\n')).toEqual([
    '(1.0, 0.5, [0, 4, 300], [0.5, -2.0, 9.99994610111476e-41])',
    '(-1.0, 1.0, [], [])',
    '(0.1, 7.0, [2], [3.25])',
  ]);
});
