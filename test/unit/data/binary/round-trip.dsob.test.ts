import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeCounts } from '../../../../src/data/binary/columns.ts';
import {
  convert,
  describeData,
  readFeatureNames,
  writeDataset,
} from '../../../../src/data/binary/convert.ts';
import { decodeRowHeads, headBytes } from '../../../../src/data/binary/rows.ts';
import { BinaryFile } from '../../../../src/data/binary/sections.ts';
import { openDataset } from '../../../../src/data/binary/stored.ts';
import type { DatasetPart } from '../../../../src/data/dataset.ts';
import { datasetFromCsr } from '../../../../src/data/from-arrays.ts';
import { generateDataset } from '../../../../src/data/generate.ts';
import { readDataset } from '../../../../src/data/read/read.ts';
import { fc } from '../../../support/property.ts';
import { temporaryFile, temporaryFolder } from '../support/files.ts';
import { WorkerRunner } from '../support/worker-runner.ts';
import { anyDataset, binaryBytes, bitsOf } from './support.ts';

let runner: WorkerRunner;
beforeAll(() => {
  runner = new WorkerRunner(3);
});
afterAll(() => runner.close());

describe('write and read', () => {
  test.each([
    ['int32 and float32', {}],
    ['packed', { pack: true }],
    ['float64', { values: 'float64' as const }],
    ['packed float64', { pack: true, values: 'float64' as const }],
  ])('%s: the same bits for any data', async (_, options) => {
    const path = join(temporaryFolder(), 'any.dsob');
    await fc.assert(
      fc.asyncProperty(anyDataset, async (dataset) => {
        writeFileSync(path, await binaryBytes(dataset, options));
        expect(bitsOf(await readDataset(path))).toEqual(bitsOf(dataset));
      }),
      { numRuns: 150 },
    );
  });

  test('-0 and 0 among the values of other writers keep their bits', async () => {
    const part: DatasetPart = {
      labels: Float64Array.of(-0, 1),
      rowOffsets: Int32Array.of(0, 2, 2),
      indices: Int32Array.of(0, 1),
      values: Float32Array.of(-0, 0),
    };
    const dataset = { parts: [part], rows: 2, columns: 2, nonzeros: 2 };
    const path = temporaryFile('zeros.dsob', await binaryBytes(dataset));
    expect(bitsOf(await readDataset(path))).toEqual(bitsOf(dataset));
  });

  test('many sections, on threads, from gzip and from a stream: the same', async () => {
    const { train } = generateDataset({ like: 'real-sim', scale: 0.2, seed: 3 });
    const folder = temporaryFolder();
    const expected = JSON.stringify(bitsOf(train));
    const found = async (...given: Parameters<typeof readDataset>) =>
      JSON.stringify(bitsOf(await readDataset(...given))) === expected;
    for (const pack of [false, true]) {
      const path = join(folder, `${pack}.dsob`);
      await writeDataset(path, train, { pack });
      await writeDataset(`${path}.gz`, train, { pack });
      const disguised = join(folder, `${pack}.bin`);
      writeFileSync(disguised, gzipSync(readFileSync(path), { level: 1 }));
      expect((await describeData(path)).blocks).toBeGreaterThan(2);
      expect(await found(path, { runner })).toBe(true);
      for (const source of [path, `${path}.gz`, disguised]) {
        expect(await found(source), source).toBe(true);
      }
    }
  });

  test('bytes do not depend on how the rows are handed over', async () => {
    const { train } = generateDataset({ like: 'real-sim', scale: 0.1, seed: 4 });
    const rows = train.parts.flatMap(({ labels, rowOffsets, indices, values }) =>
      Array.from(labels, (label, row) => {
        const [from, to] = [rowOffsets[row], rowOffsets[row + 1]];
        return {
          labels: Float64Array.of(label),
          rowOffsets: Int32Array.of(0, to - from),
          indices: indices.slice(from, to),
          values: values.slice(from, to),
        };
      }),
    );
    const whole = await binaryBytes(train);
    expect(Buffer.compare(await binaryBytes({ ...train, parts: rows }), whole)).toBe(0);
  });

  test('a row longer than a section, between short ones', async () => {
    const long = 300_000;
    const dataset = datasetFromCsr({
      rowOffsets: [0, 1, 1 + long, 2 + long],
      indices: [5, ...Array.from({ length: long }, (_, column) => 2 * column), 7],
      values: new Float32Array(long + 2).fill(0.5),
      labels: [1, -1, 1],
    });
    for (const pack of [false, true]) {
      const path = temporaryFile('long.dsob', await binaryBytes(dataset, { pack }));
      expect(bitsOf(await readDataset(path))).toEqual(bitsOf(dataset));
      expect(await describeData(path)).toMatchObject({ blocks: 3, rows: 3 });
    }
  });
});

describe('the index', () => {
  test('gives heads of rows and counts of columns without a pass over the entries', async () => {
    const { train } = generateDataset({ like: 'real-sim', scale: 0.2, seed: 5 });
    const path = join(temporaryFolder(), 'data.dsob');
    await writeDataset(path, train, { pack: true });
    const file = new BinaryFile(path);
    const { totals, sections } = file.readIndex();
    const { rows, columns, nonzeros } = train;
    expect(totals).toEqual({ rows, columns, nonzeros, names: 0 });
    const heads = sections
      .filter(({ header }) => header.kind === 'ROWS')
      .map((section) => decodeRowHeads(section, file.body(section, headBytes(section.header))));
    const bits = bitsOf(train);
    expect(
      heads.flatMap(({ rowOffsets }) =>
        Array.from(rowOffsets.subarray(1), (offset, row) => offset - rowOffsets[row]),
      ),
    ).toEqual(bits.lengths);
    expect(heads.flatMap(({ labels }) => Array.from(labels))).toEqual(
      train.parts.flatMap(({ labels }) => Array.from(labels)),
    );
    const counts = new Uint32Array(columns);
    for (const section of sections.filter(({ header }) => header.kind === 'COLS')) {
      for (const run of decodeCounts(section, file.body(section)))
        counts.set(run.counts, run.first);
    }
    file.close();
    const expected = new Uint32Array(columns);
    for (const index of bits.indices) expected[index] += 1;
    expect(counts).toEqual(expected);
  });
});

describe('names', () => {
  test('are preserved, also through a second conversion and back to a file', async () => {
    const folder = temporaryFolder();
    const text = temporaryFile('data.svm', '1 1:1 3:0.5\n-1 2:1\n');
    const names = temporaryFile('names.txt', 'buy\r\nüber\n\nlast');
    const paths = [1, 2].map((number) => join(folder, `${number}.dsob`));
    await convert(text, paths[0], { names });
    await convert(paths[0], paths[1], { pack: true });
    for (const path of paths) {
      expect(await readFeatureNames(path)).toEqual(['buy', 'über', '', 'last']);
      expect(await describeData(path)).toMatchObject({ names: 4, columns: 3 });
    }
    const back = join(folder, 'back.txt');
    await convert(paths[1], join(folder, 'back.svm'), { names: back });
    expect(readFileSync(back, 'utf8')).toBe('buy\nüber\n\nlast\n');
  });

  test('of a data set in memory', async () => {
    const path = join(temporaryFolder(), 'data.dsob');
    const dataset = datasetFromCsr({ rowOffsets: [0, 1], indices: [1], values: [2], labels: [1] });
    await writeDataset(path, dataset, { names: ['a', 'b c'] });
    expect(await readFeatureNames(path)).toEqual(['a', 'b c']);
    const broken = writeDataset(path, dataset, { names: ['a\nb'] });
    await expect(broken).rejects.toThrow('feature name "a\\nb"; expected one without line ends');
    expect(await readFeatureNames(path)).toEqual(['a', 'b c']);
  });

  test('that two columns have are refused, when they are written and when they are read', async () => {
    const folder = temporaryFolder();
    const text = temporaryFile('data.svm', '1 1:1 3:0.5\n-1 2:1\n');
    const names = temporaryFile('names.txt', 'a\nb\na\n');
    const target = join(folder, 'twice.dsob');
    const message = 'feature 1 and feature 3 are called "a"; expected different names';
    await expect(convert(text, target, { names })).rejects.toThrow(`${names}: ${message}`);
    expect(existsSync(target)).toBe(false);
    const dataset = datasetFromCsr({ rowOffsets: [0, 1], indices: [1], values: [2], labels: [1] });
    const written = writeDataset(target, dataset, { names: ['a', 'b', 'a'] });
    await expect(written).rejects.toThrow(message);
    const path = temporaryFile('old.dsob', await binaryBytes(dataset, { names: 'a\nb\na\n' }));
    await expect(readDataset(path)).rejects.toThrow(message);
    expect(() => openDataset(path)).toThrow(message);
  });
});
