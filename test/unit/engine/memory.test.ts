import { describe, expect, test } from 'vitest';
import { checkWorkers, leastMemory, limitText, machineMemory } from '../../../src/engine/memory.ts';
import { localPartition, placeRowsAndColumns } from '../../../src/engine/partition.ts';
import { UsageError } from '../../../src/errors.ts';

describe('more than 2^31 entries', () => {
  /** Rows and columns as counts alone. More of them with fewer entries each take less time. */
  const counts = {
    rows: new Int32Array(300).fill(1.2e7),
    columns: new Int32Array(400).fill(9e6),
  };

  test('are counted and assigned', () => {
    const partition = localPartition(placeRowsAndColumns(counts, 3, 1), counts, 0, 3);
    expect([...partition.workerNonzeros]).toEqual([1.2e9, 1.2e9, 1.2e9]);
    expect(() => checkWorkers(partition)).not.toThrow();
  });

  test('are too many for one worker in memory', () => {
    const partition = localPartition(placeRowsAndColumns(counts, 1, 1), counts, 0, 1);
    expect(() => checkWorkers(partition)).toThrow(UsageError);
    expect(() => checkWorkers(partition)).toThrow(
      '3600000000 entries for one of the 1 workers of the grid; one can have 2147483647 in memory: use more workers, --grid 3',
    );
  });

  test('need more memory than most machines have', () => {
    expect(leastMemory({ rows: 1e6, columns: 1e6, nonzeros: 2 ** 32 })).toBeGreaterThan(2 ** 36);
    expect(machineMemory()).toBeGreaterThan(2 ** 26);
  });
});

test.each([
  [500, '500 bytes'],
  [1024, '1 KiB'],
  [1.5 * 2 ** 20, '1.5 MiB'],
  [5e7, '48 MiB'],
])('%d bytes are shown as %s', (bytes, text) => {
  expect(limitText(bytes)).toBe(text);
});
