import type { Dataset } from '../data/dataset.ts';
import { type ReadOptions, readDataset as read } from '../data/read.ts';
import { threadCount, threadPool } from './threads.ts';

export interface ReadDatasetOptions extends Omit<ReadOptions, 'runner'> {
  /** Parsing threads; default: all cores. */
  threads?: number;
}

/** Reads LIBSVM text from a file, `.gz`, `.zst` or standard input (`-`), on all cores. */
export async function readDataset(
  source: string,
  { threads, ...options }: ReadDatasetOptions = {},
): Promise<Dataset> {
  const count = threadCount(threads);
  return read(source, {
    ...options,
    runner: {
      threads: count,
      run: (task, payload, transfer) => threadPool(count).run(task, payload, transfer),
    },
  });
}
