import * as binary from '../data/binary/convert.ts';
import { collectGarbage } from '../parallel/collect-garbage.ts';
import { type DataSource, threadRunner } from './read-dataset.ts';
import { threadCount, threadPool } from './threads.ts';

export interface ConvertOptions extends Omit<binary.ConvertOptions, 'runner' | 'collect'> {
  /** Reading threads; default: all cores. */
  threads?: number;
}

/**
 * Writes data from a file or standard input (`-`) in another format: `.dsob`, or text for any other
 * ending.
 */
export async function convertDataset(
  source: DataSource,
  target: string,
  { threads, ...options }: ConvertOptions = {},
): Promise<binary.DataSummary> {
  return binary.convert(source, target, { ...options, ...machinery(threads) });
}

/** Reads all of a file, checks it and tells what it is. */
export async function describeData(
  source: DataSource,
  {
    threads,
    ...options
  }: binary.ReadingOptions & {
    threads?: number;
    onProgress?: (fraction: number) => void;
  } = {},
): Promise<binary.DataDescription> {
  return binary.describeData(source, { ...options, ...machinery(threads) });
}

function machinery(threads?: number) {
  const count = threadCount(threads);
  return {
    runner: threadRunner(count),
    collect: async () => {
      collectGarbage();
      if (count > 1) await threadPool(count).runAll('collect-garbage', count, () => undefined);
    },
  };
}

export {
  type DataDescription,
  type DataSummary,
  formatOf,
  readFeatureNames,
  type WriteOptions,
  writeDataset,
} from '../data/binary/convert.ts';
