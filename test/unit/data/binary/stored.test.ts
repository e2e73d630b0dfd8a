import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type WriteOptions, writeDataset } from '../../../../src/data/binary/convert.ts';
import { isStored, openDataset, shapeOfStored } from '../../../../src/data/binary/stored.ts';
import type { Dataset } from '../../../../src/data/dataset.ts';
import { hashData } from '../../../../src/data/fingerprint.ts';
import { DataError } from '../../../../src/errors.ts';
import { dsobSeeds, fileOf, sealed } from '../../../fuzz/dsob-files.ts';
import { zipfDataset } from '../../../support/data.ts';
import { countEntries } from '../../../support/partition.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const dataset = zipfDataset({ rows: 3000, columns: 500, perRow: 100 });

async function stored(options: WriteOptions = {}): Promise<string> {
  const path = join(temporaryFolder(), 'data.dsob');
  await writeDataset(path, dataset, options);
  return path;
}

/** Rows as lists, since the cut into parts means nothing. */
function rowsOf({ parts, stored: entries }: Dataset) {
  const rows: unknown[] = [];
  for (const { labels, rowOffsets, indices, values } of entries?.scan() ?? parts) {
    for (const [row, label] of labels.entries()) {
      const [from, to] = [rowOffsets[row], rowOffsets[row + 1]];
      rows.push([label, [...indices.subarray(from, to)], [...values.subarray(from, to)]]);
    }
  }
  return rows;
}

describe('a data set that is left on disk', () => {
  test.each([
    ['plain', {}],
    ['packed', { pack: true }],
    ['with float64 values', { values: 'float64' }],
  ] as const)('has the same rows: %s', async (_, options) => {
    const path = await stored(options);
    const opened = openDataset(path);
    expect(shapeOfStored(path)).toEqual({
      rows: dataset.rows,
      columns: dataset.columns,
      nonzeros: dataset.nonzeros,
    });
    expect(rowsOf(opened)).toEqual(rowsOf(dataset));
    // As often as one likes.
    expect(hashData(opened)).toBe(hashData(dataset));
    expect(hashData(opened)).toBe(hashData(dataset));
  });

  test('knows labels, lengths and columns without the entries', async () => {
    const { parts, stored: entries } = openDataset(await stored());
    const counts = countEntries(dataset, false);
    const lengths = parts.flatMap(({ labels, rowOffsets }) =>
      Array.from(labels, (_, row) => rowOffsets[row + 1] - rowOffsets[row]),
    );
    expect(lengths).toEqual([...counts.rows]);
    expect(entries?.countColumns(dataset.columns)).toEqual(counts.columns);
    expect(parts.every(({ indices }) => indices.length === 0)).toBe(true);
  });

  test('may be in several files', async () => {
    const paths = [await stored(), await stored({ pack: true })];
    const opened = openDataset(paths);
    expect(opened.rows).toBe(2 * dataset.rows);
    expect(rowsOf(opened)).toEqual([...rowsOf(dataset), ...rowsOf(dataset)]);
    const { columns } = countEntries(dataset, false);
    expect(opened.stored?.countColumns(dataset.columns)).toEqual(columns.map((count) => 2 * count));
  });

  test('is no text, no compressed file and no standard input', async () => {
    const path = await stored();
    const text = join(temporaryFolder(), 'data.svm');
    writeFileSync(text, '+1 1:1\n');
    expect(isStored(path)).toBe(true);
    expect([text, '-', join(path, 'nowhere')].map((source) => isStored(source))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('is checked whenever it is read', async () => {
    const path = await stored();
    const bytes = readFileSync(path);
    // In the last quarter of the rows: entries, which opening does not look at.
    const at = Math.floor(bytes.length * 0.75);
    bytes[at] ^= 1;
    writeFileSync(path, bytes);
    const opened = openDataset(path);
    expect(() => rowsOf(opened)).toThrow(DataError);
    expect(() => rowsOf(opened)).toThrow(`${path}: byte`);
    writeFileSync(path, bytes.subarray(0, at));
    expect(() => openDataset(path)).toThrow(DataError);
  });

  test('is of the columns that are counted', async () => {
    const [{ sections, columns }] = await dsobSeeds();
    const forgedSections = sections.map((section) => {
      if (section.header.kind !== 'COLS') return section;
      const body = section.body.slice();
      const view = new DataView(body.buffer);
      // One entry more of the first column, one less of the second; in front there is a run's head.
      view.setUint32(8, view.getUint32(8, true) + 1, true);
      view.setUint32(12, view.getUint32(12, true) - 1, true);
      return sealed({ ...section, body });
    });
    const path = join(temporaryFolder(), 'data.dsob');
    writeFileSync(path, fileOf(forgedSections, columns));
    const opened = openDataset(path);
    expect(() => rowsOf(opened)).toThrow(DataError);
    expect(() => rowsOf(opened)).toThrow('the counts of the columns are not those of the entries');
  });

  test('takes no memory for rows that its file has no bytes for', async () => {
    const [{ sections, columns }] = await dsobSeeds();
    const path = join(temporaryFolder(), 'data.dsob');
    for (const forged of [{ count: 2 ** 32 - 1 }, { entries: 2 ** 27 }, { used: 2 ** 32 - 1 }]) {
      const [rows, ...rest] = sections;
      const section = { ...rows, header: { ...rows.header, ...forged } };
      writeFileSync(path, fileOf([section, ...rest], columns));
      expect(() => openDataset(path)).toThrow(DataError);
      expect(() => openDataset(path)).toThrow(/bytes for \d+ rows and \d+ entries/);
    }
  });
});
