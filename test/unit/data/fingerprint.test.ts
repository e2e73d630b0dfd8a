import { describe, expect, test } from 'vitest';
import { openDataset } from '../../../src/data/binary/stored.ts';
import type { Dataset } from '../../../src/data/dataset.ts';
import { hashData, hashShard, joinHashes } from '../../../src/data/fingerprint.ts';
import { datasetFromRows } from '../../../src/data/from-arrays.ts';
import { columnCounts } from '../../../src/data/row-packing.ts';
import { fc } from '../../support/property.ts';
import { anyDataset, binaryBytes } from './binary/support.ts';
import { cutAt } from './support/cut.ts';
import { temporaryFile } from './support/files.ts';

/** The rows of a data set with one bit of one array changed. */
function withBit(
  dataset: Dataset,
  array: 'labels' | 'indices' | 'values',
  position: number,
  bit: number,
): Dataset {
  const [part] = dataset.parts;
  const bytes = new Uint8Array(part[array].slice().buffer);
  bytes[8 * position + (bit >> 3)] ^= 1 << (bit & 7);
  const changed = {
    labels: (buffer: ArrayBuffer) => new Float64Array(buffer),
    indices: (buffer: ArrayBuffer) => new Int32Array(buffer),
    values: (buffer: ArrayBuffer) => new Float32Array(buffer),
  }[array](bytes.buffer);
  return { ...dataset, parts: [{ ...part, [array]: changed }] };
}

const rows = Array.from({ length: 40 }, (_, row) => ({
  indices: Array.from({ length: 2 * (row % 4) }, (__, entry) => row + 3 * entry),
  values: Array.from({ length: 2 * (row % 4) }, (__, entry) => 1 + row * entry),
}));
const dataset = datasetFromRows({ rows, labels: rows.map((_, row) => (row % 3) - 1) });

describe('the hash of data', () => {
  test('is the sum of the hashes of shares, however the rows are cut', () => {
    const cuts = fc.array(fc.nat(20), { maxLength: 6 });
    fc.assert(
      fc.property(anyDataset, cuts, fc.nat(), (whole, positions, order) => {
        const shares = cutAt(whole, positions);
        let row = 0;
        const hashes = shares.map((share) => {
          const hash = hashShard(share, row);
          row += share.rows;
          return hash;
        });
        // In any order.
        const turned = [...hashes.splice(order % hashes.length), ...hashes];
        expect(joinHashes(turned, whole.columns, whole.rows)).toBe(hashData(whole));
      }),
    );
  });

  test('has 16 digits, the same on every machine and from version to version', () => {
    expect(hashData(dataset)).toBe('7249d61931cbab15');
    expect([...hashShard({ parts: [] }, 7)]).toEqual([0, 0, 0, 0]);
  });

  test('is that of the rows in memory if the entries are left on disk', async () => {
    const path = temporaryFile('data.dsob', await binaryBytes(dataset));
    const onDisk = openDataset(path);
    expect(onDisk.stored).toBeDefined();
    expect(hashData(onDisk)).toBe(hashData(dataset));
    expect(columnCounts(onDisk, 99)).toEqual(columnCounts(dataset, 99));
  });

  test('changes with every bit', () => {
    const seen = new Set([hashData(dataset)]);
    let tried = 1;
    for (const array of ['labels', 'indices', 'values'] as const) {
      const words = dataset.parts[0][array].byteLength / 8;
      for (let position = 0; position < words; position += 1) {
        for (let bit = 0; bit < 64; bit += 1) {
          seen.add(hashData(withBit(dataset, array, position, bit)));
          tried += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(5000);
    expect(seen.size).toBe(tried);
  });

  test('changes with the order of rows, their number, and the columns', () => {
    const seen = new Set<string>();
    for (let first = 0; first < rows.length; first += 1) {
      for (let second = first + 1; second < rows.length; second += 1) {
        const order = rows.map((_, row) => row);
        [order[first], order[second]] = [second, first];
        const swapped = order.map((row) => rows[row]);
        seen.add(hashData(datasetFromRows({ rows: swapped, labels: order })));
      }
    }
    expect(seen.size).toBe((40 * 39) / 2);
    const empty = (count: number) => Array.from({ length: count }, () => rows[0]);
    for (const count of [1, 2, 3]) {
      const labels = empty(count).map(() => 0);
      seen.add(hashData(datasetFromRows({ rows: empty(count), labels, columns: 1 })));
      seen.add(hashData(datasetFromRows({ rows: empty(count), labels, columns: 2 })));
    }
    expect(seen.size).toBe((40 * 39) / 2 + 6);
  });

  test('distinguishes where one row ends and the next begins', () => {
    const entries = { indices: [0, 1, 2, 3], values: [1, 1, 1, 1] };
    const cut = (position: number) => [
      { indices: entries.indices.slice(0, position), values: entries.values.slice(0, position) },
      { indices: entries.indices.slice(position), values: entries.values.slice(position) },
    ];
    const hashes = [0, 1, 2, 3, 4].map((position) =>
      hashData(datasetFromRows({ rows: cut(position), labels: [0, 0], columns: 4 })),
    );
    expect(new Set(hashes).size).toBe(5);
  });

  test('knows rows beyond 2^32', () => {
    const hashes = [0, 1, 2 ** 32, 2 ** 32 + 1, 2 ** 40].map((row) =>
      hashShard(dataset, row).join(),
    );
    expect(new Set(hashes).size).toBe(5);
  });

  test('has words that look random for rows that hardly differ', () => {
    // Each of 128 bits is set in about half of 4096 rows: 6 standard deviations are 192.
    const counts = new Int32Array(128);
    for (let row = 0; row < 4096; row += 1) {
      const words = hashShard(datasetFromRows({ rows: [rows[0]], labels: [0] }), row);
      for (let bit = 0; bit < 128; bit += 1) counts[bit] += (words[bit >> 5] >>> (bit & 31)) & 1;
    }
    for (const count of counts) expect(Math.abs(count - 2048)).toBeLessThan(192);
  });
});
