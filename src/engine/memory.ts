import { totalmem } from 'node:os';
import { UsageError } from '../errors.ts';
import type { Partition } from './partition.ts';

/** Bytes that Node takes by itself, and each of its threads: code, heaps and stacks. */
const processBytes = 100e6;
const threadBytes = 24e6;

/** Bytes that any solver takes at least per column, row and non-zero, data included. */
const leastBytes = { columns: 80, rows: 100, nonzeros: 16 };

/** Bytes of a process before it has any data. */
export function programBytes(threads: number): number {
  return processBytes + threads * threadBytes;
}

/** Bytes that training in memory takes at least, without the program. */
export function leastMemory({ columns, rows, nonzeros }: typeof leastBytes): number {
  return leastBytes.columns * columns + leastBytes.rows * rows + leastBytes.nonzeros * nonzeros;
}

/** Read once: a limit is in files. */
let memory: number | undefined;

/** The machine's memory, or what a container leaves of it. */
export function machineMemory(): number {
  memory ??= Math.min(process.constrainedMemory() || Infinity, totalmem());
  return memory;
}

/** Bytes that runs in parallel may take besides the data; a single one may take more. */
export function memoryOfLanes(): number {
  return machineMemory() / 8;
}

export function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

export function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

/** A limit as it was given, also one that is far too small. */
export function limitText(bytes: number): string {
  if (bytes < 2 ** 10) return `${bytes} bytes`;
  if (bytes < 2 ** 20) return `${Math.ceil(bytes / 2 ** 10)} KiB`;
  return bytes < 10 * 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : mebibytes(bytes);
}

/** Entries of one worker at most, in memory: offsets have 32 bits. */
const mostEntries = 2 ** 31 - 1;
const largestGrid = 256;

export function checkWorkers({ size, workerNonzeros }: Pick<Partition, 'size' | 'workerNonzeros'>) {
  const largest = workerNonzeros.reduce((most, entries) => Math.max(most, entries), 0);
  if (largest <= mostEntries) return;
  const enough = Math.ceil((size * largest) / mostEntries) + 1;
  throw new UsageError(
    `${largest} entries for one of the ${size} workers of the grid; one can have ${mostEntries} in memory: use more workers, --grid ${Math.min(largestGrid, enough)}`,
  );
}
