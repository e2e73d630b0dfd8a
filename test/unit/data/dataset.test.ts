/** Weights of rows on their way: from arrays, through files, hashes, splits and other processes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { convert, writeDataset } from '../../../src/data/binary/convert.ts';
import { BinaryFile } from '../../../src/data/binary/sections.ts';
import { openDataset } from '../../../src/data/binary/stored.ts';
import { type Dataset, isWeighted, rowWeights } from '../../../src/data/dataset.ts';
import { hashData, hashShard, joinHashes } from '../../../src/data/fingerprint.ts';
import { datasetFromCsr, datasetFromRows } from '../../../src/data/from-arrays.ts';
import { generateDataset } from '../../../src/data/generate.ts';
import { readDataset } from '../../../src/data/read/read.ts';
import { packRows, unpackRows, withColumns } from '../../../src/data/row-packing.ts';
import { selectRows } from '../../../src/data/split.ts';
import { DataError } from '../../../src/errors.ts';
import { inParts } from '../../support/data.ts';
import { fc } from '../../support/property.ts';
import { anyDataset, binaryBytes, bitsOf } from './binary/support.ts';
import { temporaryFile, temporaryFolder } from './support/files.ts';

const rows = [
  { indices: [0, 2], values: [1, 2] },
  { indices: [], values: [] },
  { indices: [1, 2, 5], values: [3, 4, 5] },
];
const labels = [1, -1, 0.5];
const sample = datasetFromRows({ rows, labels, weights: [0.5, 0, 3] });

const weightsOf = (dataset: Dataset) => [...(rowWeights(dataset) ?? [])];

function withWeights(dataset: Dataset, weights: readonly number[]): Dataset {
  let row = 0;
  const parts = dataset.parts.map((part) => {
    const own = Float64Array.from(weights.slice(row, row + part.labels.length));
    row += own.length;
    return { ...part, weights: own };
  });
  return { ...dataset, parts };
}

describe('from arrays', () => {
  test('rows and compressed rows take them, on shared memory', () => {
    expect(weightsOf(sample)).toEqual([0.5, 0, 3]);
    expect(sample.parts[0].weights?.buffer).toBeInstanceOf(SharedArrayBuffer);
    const csr = { rowOffsets: [0, 1, 1], indices: [4], values: [1], labels: [1, 2] };
    expect(weightsOf(datasetFromCsr({ ...csr, weights: Float32Array.of(0.25, 8) }))).toEqual([
      0.25, 8,
    ]);
    expect(isWeighted(datasetFromCsr(csr))).toBe(false);
    expect(
      Object.is(datasetFromRows({ rows, labels, weights: [1, -0, 1] }).parts[0].weights?.[1], 0),
    ).toBe(true);
  });

  test.each([
    [[1, 2], 'array: 3 rows but 2 weights'],
    [[1, -1, 2], 'array: row 1: weight -1; expected a finite number, 0 or more'],
    [[1, 1, NaN], 'array: row 2: weight NaN; expected a finite number, 0 or more'],
    [[Infinity, 1, 1], 'array: row 0: weight Infinity; expected a finite number, 0 or more'],
    [[0, 0, 0], 'array: all rows have weight 0; expected one above 0'],
  ])('%j is rejected', (weights, message) => {
    expect(() => datasetFromRows({ rows, labels, weights })).toThrow(new DataError(message));
  });
});

test('parts without weights count 1', () => {
  const [first, ...others] = inParts(sample, 1).parts;
  const { weights: _, ...plain } = first;
  expect(weightsOf({ ...sample, parts: [plain, ...others] })).toEqual([1, 0, 3]);
});

test('splits and fewer columns keep them', () => {
  expect(weightsOf(selectRows(sample, Uint8Array.of(1, 0, 1), 1, 'side'))).toEqual([0.5, 3]);
  expect(weightsOf(withColumns(sample, 2))).toEqual([0.5, 0, 3]);
});

test('packed rows have them behind the labels, if asked for', () => {
  const lengths = Int32Array.of(3, 2);
  const bytes = packRows(sample, Int32Array.of(2, 0), true);
  expect([...new Float64Array(bytes.buffer, 16, 2)]).toEqual([3, 0.5]);
  for (const most of [1, 100]) {
    const parts = unpackRows(bytes, lengths, most, true);
    expect(parts.flatMap(({ weights }) => [...(weights ?? [])])).toEqual([3, 0.5]);
    expect(parts.flatMap(({ indices }) => [...indices])).toEqual([1, 2, 5, 0, 2]);
  }
  const plain = packRows(datasetFromRows({ rows, labels }), Int32Array.of(1), true);
  expect([...(unpackRows(plain, Int32Array.of(0), 1, true)[0].weights ?? [])]).toEqual([1]);
});

describe('the hash', () => {
  const plain = datasetFromRows({ rows, labels });

  test('is that of data without weights where all are 1, and another where one is not', () => {
    expect(hashData(withWeights(plain, [1, 1, 1]))).toBe(hashData(plain));
    const hashes = [
      [2, 1, 1],
      [1, 2, 1],
      [1, 1, 2],
      [1, 1, 0],
      [1, 1, 1 + 2 ** -52],
      [1, 1, 1.5],
    ].map((weights) => hashData(withWeights(plain, weights)));
    expect(new Set([...hashes, hashData(plain)]).size).toBe(7);
  });

  test('does not depend on parts or on who has the rows', () => {
    const whole = hashData(sample);
    expect(hashData(inParts(sample, 1))).toBe(whole);
    const shares = inParts(sample, 1).parts.map((part, row) => hashShard({ parts: [part] }, row));
    expect(joinHashes(shares, sample.columns, 3)).toBe(whole);
  });
});

describe('dsob', () => {
  test.each([{}, { pack: true }, { values: 'float64' as const }])(
    'any data, any weights, the same bits: %j',
    async (options) => {
      const path = join(temporaryFolder(), 'any.dsob');
      const drawn = fc.constantFrom(0, 1, 0.1, 3, 5e-324, 1.7e308);
      const cases = anyDataset.chain((dataset) =>
        fc
          .array(drawn, { minLength: dataset.rows, maxLength: dataset.rows })
          .map((weights) => withWeights(dataset, weights)),
      );
      await fc.assert(
        fc.asyncProperty(cases, async (dataset) => {
          await writeDataset(path, dataset, options);
          expect(bitsOf(await readDataset(path))).toEqual(bitsOf(dataset));
          const opened = openDataset(path);
          expect(bitsOf({ ...opened, parts: [...opened.stored!.scan()] })).toEqual(bitsOf(dataset));
          expect(rowWeights(opened) ?? []).toEqual(rowWeights(await readDataset(path)) ?? []);
          expect(hashData(opened)).toBe(hashData(dataset));
        }),
        { numRuns: 40 },
      );
    },
  );

  test('only sections that need them have them', async () => {
    const { train } = generateDataset({ like: 'real-sim', scale: 0.2, seed: 3 });
    const weights = Array.from({ length: train.rows }, (_, row) => (row === 7 ? 2 : 1));
    const folder = temporaryFolder();
    const [path, plain] = [join(folder, 'weighted.dsob'), join(folder, 'plain.dsob')];
    await writeDataset(path, withWeights(train, weights));
    await writeDataset(plain, train);
    const flags = new BinaryFile(path).readIndex().sections.map(({ header }) => header.flags);
    expect(flags.slice(0, 3)).toEqual([4, 0, 0]);
    await writeDataset(
      path,
      withWeights(
        train,
        weights.map(() => 1),
      ),
    );
    expect(readFileSync(path).equals(readFileSync(plain))).toBe(true);
  });

  test('a weight that none can be is damage', async () => {
    const bad = withWeights(sample, [1, -2, 1]);
    const path = temporaryFile('bad.dsob', await binaryBytes(bad));
    await expect(readDataset(path)).rejects.toThrow(
      'the section of rows 1 to 3: the weight of its row 2 is -2; expected 0 or more',
    );
  });

  test('text cannot hold them, and says so', async () => {
    const path = temporaryFile('data.dsob', await binaryBytes(sample));
    const { notices } = await convert(path, join(temporaryFolder(), 'data.svm'));
    expect(notices).toEqual(['the weights of the rows are left out: LIBSVM text cannot hold them']);
    const target = join(temporaryFolder(), 'data.svm');
    await expect(writeDataset(target, sample)).rejects.toThrow(
      'data.svm: rows have weights, which LIBSVM text cannot hold: use dsob',
    );
  });
});
