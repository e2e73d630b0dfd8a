import { statSync } from 'node:fs';
import { isStored, openDataset, shapeOfStored } from '../data/binary/stored.ts';
import type { Dataset } from '../data/dataset.ts';
import type { DataSource } from '../data/read/sources.ts';
import { filesOfSource, titleOfSource } from '../data/read/sources.ts';
import { leastMemory, machineMemory, mebibytes, programBytes } from '../engine/memory.ts';
import { UsageError } from '../errors.ts';
import { type ReadDatasetOptions, readDataset } from './read-dataset.ts';
import { threadCount } from './threads.ts';

/** What training takes in memory per byte of text, at least: pairs are short where values are. */
const bytesPerTextByte = 3;

export interface OpenDatasetOptions extends ReadDatasetOptions {
  /** Bytes that the process may take; default: those of the machine. */
  memory?: number;
}

/**
 * Reads data for training into memory if it will fit, and else, if it is in `.dsob` files, leaves
 * its entries there.
 */
export async function readOrOpen(
  source: DataSource,
  { memory, ...options }: OpenDatasetOptions = {},
): Promise<Dataset> {
  const room = (memory ?? machineMemory()) - programBytes(threadCount(options.threads));
  if (isStored(source)) {
    const fits = leastMemory(shapeOfStored(source)) <= room;
    return fits ? readDataset(source, options) : openDataset(source);
  }
  if (memory !== undefined && !(bytesPerTextByte * textBytes(source) <= room)) {
    throw new UsageError(
      `memory is ${mebibytes(memory)}, which may be too little for ${titleOfSource(source)}; from disk, training reads .dsob files alone: dso convert makes one (dso convert DATA -o data.dsob, then dso train data.dsob)`,
    );
  }
  return readDataset(source, options);
}

/** Bytes of the text; Infinity where that shows only when it is read. */
function textBytes(source: DataSource): number {
  let total = 0;
  for (const path of filesOfSource(source)) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile() || /\.(gz|zst)$/.test(path)) return Infinity;
    total += stats.size;
  }
  return total;
}
