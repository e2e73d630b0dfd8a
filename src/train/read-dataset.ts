import type { Dataset } from '../data/dataset.ts';
import { type ReadOptions, readDataset as read } from '../data/read.ts';
import type { TaskRunner } from '../data/runner.ts';
import { threadCount, threadPool } from './threads.ts';

export interface ReadDatasetOptions extends Omit<ReadOptions, 'runner'> {
  /** Parsing threads; default: all cores. */
  threads?: number;
}

/**
 * Reads LIBSVM text or `.dsob` data from a file, `.gz`, `.zst` or standard input (`-`), on all cores.
 */
export async function readDataset(
  source: string,
  { threads, ...options }: ReadDatasetOptions = {},
): Promise<Dataset> {
  return read(source, { ...options, runner: threadRunner(threads) });
}

/** Reads on threads, which start with the first task. */
export function threadRunner(threads?: number): TaskRunner {
  const count = threadCount(threads);
  return {
    threads: count,
    run: (task, payload, transfer) => threadPool(count).run(task, payload, transfer),
  };
}
