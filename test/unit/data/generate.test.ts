import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import {
  type GenerateProgress,
  generateDataset,
  writeGenerated,
} from '../../../src/data/generate.ts';
import { readDataset } from '../../../src/data/read/read.ts';
import { scaleShape, shapeNames } from '../../../src/data/shapes.ts';
import { UsageError } from '../../../src/errors.ts';
import { temporaryFolder } from './support/files.ts';
import { flat } from './support/flat.ts';

const small = { like: 'real-sim', scale: 0.05, seed: 3 } as const;

function pathsIn(folder: string, ending = '') {
  const [trainPath, testPath] = ['train', 'test'].map((part) =>
    join(folder, `${part}.svm${ending}`),
  );
  return { trainPath, testPath };
}

function* rowsOf(dataset: Dataset) {
  for (const { rowOffsets, indices, values } of dataset.parts) {
    for (let row = 0; row + 1 < rowOffsets.length; row += 1) {
      const range = [rowOffsets[row], rowOffsets[row + 1]] as const;
      yield { indices: indices.subarray(...range), values: values.subarray(...range) };
    }
  }
}

const labelsOf = (dataset: Dataset) => dataset.parts.flatMap((part) => [...part.labels]);

describe('shapes', () => {
  test('at scale 1 are those of the paper', () => {
    const real = scaleShape('real-sim', 1);
    expect([real.rows, real.columns, real.testRows]).toEqual([57760, 20950, 14440]);
    expect(real.rows * real.perRow).toBeCloseTo(2.97e6);
    expect(real.perRow / real.columns).toBeCloseTo(0.00245, 5);
    const web = scaleShape('webspam', 1);
    expect([web.rows, web.columns]).toEqual([350000, 16610000]);
    expect(web.perRow / web.columns).toBeCloseTo(0.00022, 5);
    const splice = scaleShape('splice', 1);
    expect([splice.rows, splice.columns, splice.perRow]).toEqual([50e6, 11.7e6, 2000]);
  });

  test('rows grow with the scale, columns with its root', () => {
    const quarter = scaleShape('real-sim', 0.25);
    expect([quarter.rows, quarter.columns, quarter.testRows]).toEqual([14440, 10475, 3610]);
    expect(quarter.perRow).toBe(scaleShape('real-sim', 1).perRow);
    expect(scaleShape('splice', 1e-9)).toMatchObject({ rows: 2, testRows: 2, columns: 8000 });
  });

  test('wrong options', () => {
    expect(() => scaleShape('spam', 1)).toThrow(
      new UsageError('unknown shape "spam"; expected one of real-sim, webspam, splice'),
    );
    for (const scale of [0, -1, Number.NaN, Infinity]) {
      expect(() => scaleShape('splice', scale)).toThrow(`scale ${scale}; expected`);
    }
    expect(() => scaleShape('splice', 1e5)).toThrow(UsageError);
  });
});

describe('rows', () => {
  const { train, test: held } = generateDataset(small);

  test('have the numbers of the shape', () => {
    const shape = scaleShape('real-sim', 0.05);
    expect([train.rows, held.rows]).toEqual([shape.rows, shape.testRows]);
    expect([train.columns, held.columns]).toEqual([shape.columns, shape.columns]);
    expect(train.nonzeros / train.rows / shape.perRow).toBeCloseTo(1, 1);
    const largest = train.parts.map(({ indices }) => indices.reduce((a, b) => Math.max(a, b)));
    expect(Math.max(...largest)).toBe(shape.columns - 1);
  });

  test('are unit vectors of positive values', () => {
    for (const { values } of rowsOf(train)) {
      const square = values.reduce((sum, value) => sum + value * value, 0);
      expect(Math.abs(square - 1)).toBeLessThan(1e-5);
      expect(Math.min(...values)).toBeGreaterThan(0);
    }
  });

  test('have Zipf columns: the frequency falls with the rank', () => {
    const counts = new Float64Array(train.columns);
    for (const { indices } of rowsOf(train)) for (const index of indices) counts[index] += 1;
    const sorted = counts.sort().reverse();
    const share = (from: number, to: number) =>
      sorted.subarray(from, to).reduce((sum, count) => sum + count, 0) / train.nonzeros;
    // A tenth of the columns holds far more than a tenth of the entries, the last half little.
    expect(share(0, train.columns / 10)).toBeGreaterThan(0.35);
    expect(share(train.columns / 2, train.columns)).toBeLessThan(0.2);
    expect(share(train.columns / 2, train.columns)).toBeGreaterThan(0.02);
  });

  test('frequent columns are spread over the indices', () => {
    let sum = 0;
    for (const { indices } of rowsOf(train)) for (const index of indices) sum += index;
    expect(sum / train.nonzeros / train.columns).toBeGreaterThan(0.4);
    expect(sum / train.nonzeros / train.columns).toBeLessThan(0.6);
  });

  test('carry a signal: class means learnt from one part classify the other', () => {
    const weights = new Float64Array(train.columns);
    const labels = labelsOf(train);
    const positive = labels.filter((label) => label === 1).length;
    expect(positive / train.rows).toBeCloseTo(0.31, 1);
    let row = 0;
    for (const { indices, values } of rowsOf(train)) {
      const label = labels[row++];
      const share = label / (label === 1 ? positive : train.rows - positive);
      indices.forEach((index, entry) => {
        weights[index] += share * values[entry];
      });
    }
    const scores = [...rowsOf(held)].map(({ indices, values }) =>
      indices.reduce((sum, index, entry) => sum + weights[index] * values[entry], 0),
    );
    const threshold = [...scores].sort((a, b) => a - b)[Math.floor(scores.length * 0.69)];
    const wrong = labelsOf(held).filter(
      (label, position) => (scores[position] > threshold ? 1 : -1) !== label,
    );
    expect(wrong.length / held.rows).toBeLessThan(0.2);
  });

  test('differ between the parts and between seeds', () => {
    const first = (dataset: Dataset) => [...dataset.parts[0].indices.subarray(0, 50)];
    expect(first(train)).not.toEqual(first(held));
    expect(first(generateDataset({ ...small, seed: 4 }).train)).not.toEqual(first(train));
  });

  test.each(shapeNames)('both classes are there even in the smallest %s', (like) => {
    for (const part of Object.values(generateDataset({ like, scale: 1e-7 }))) {
      expect(new Set(labelsOf(part))).toEqual(new Set([1, -1]));
    }
  });

  test('of splice are equally long and of equal values', () => {
    for (const { values } of rowsOf(generateDataset({ like: 'splice', scale: 1e-6 }).train)) {
      expect(values.length).toBe(2000);
      expect(new Set(values)).toEqual(new Set([Math.fround(0.0223607)]));
    }
  });
});

describe('files', () => {
  test('hold what is generated in memory', async () => {
    const paths = pathsIn(temporaryFolder());
    const seen: GenerateProgress[] = [];
    const summary = await writeGenerated(small, paths, (progress) => seen.push(progress));
    const { train, test: held } = generateDataset(small);
    expect(flat(await readDataset(paths.trainPath))).toEqual(flat(train));
    expect(flat(await readDataset(paths.testPath, { columns: train.columns }))).toEqual(flat(held));
    expect(summary).toEqual({
      columns: train.columns,
      train: { rows: train.rows, nonzeros: train.nonzeros },
      test: { rows: held.rows, nonzeros: held.nonzeros },
    });
    const rows = train.rows + held.rows;
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.at(-1)).toEqual({ rowsDone: rows, rows });
  });

  test('are the same bytes every time, also compressed', async () => {
    const folder = temporaryFolder();
    const [plain, gzip, zstd] = ['', '.gz', '.zst'].map((ending) => pathsIn(folder, ending));
    for (const paths of [plain, gzip, zstd]) await writeGenerated(small, paths);
    const text = readFileSync(plain.trainPath);
    expect(gunzipSync(readFileSync(gzip.trainPath)).equals(text)).toBe(true);
    expect(flat(await readDataset(zstd.testPath))).toEqual(flat(await readDataset(plain.testPath)));
    await writeGenerated(small, plain);
    expect(readFileSync(plain.trainPath).equals(text)).toBe(true);
  });

  test('look like files people have', async () => {
    const paths = pathsIn(temporaryFolder());
    await writeGenerated({ ...small, scale: 0.01 }, paths);
    const lines = readFileSync(paths.trainPath, 'latin1').split('\n');
    expect(lines.pop()).toBe('');
    for (const line of lines) {
      expect(line).toMatch(/^[+-]1( [1-9]\d*:(1|0\.0*[1-9]\d{0,5}))+$/);
    }
  });

  test('are not there after a failure', async () => {
    const folder = temporaryFolder();
    const { trainPath } = pathsIn(folder);
    const paths = { trainPath, testPath: join(folder, 'none', 'test.svm') };
    await expect(writeGenerated(small, paths)).rejects.toThrow('no such folder');
    expect(readdirSync(folder)).toEqual(['train.svm']);
    const stop = () => {
      throw new Error('stop');
    };
    const other = pathsIn(temporaryFolder());
    await expect(writeGenerated(small, other, stop)).rejects.toThrow('stop');
    expect(readdirSync(join(other.trainPath, '..'))).toEqual([]);
  });
});
