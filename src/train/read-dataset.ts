import type { Dataset } from '../data/dataset.ts';
import { type DataShare, readShare as readPart, type ShareOptions } from '../data/read/read.ts';
import type { DataSource } from '../data/read/sources.ts';
import { type ReadOptions, readDataset as read } from '../data/read.ts';
import type { TaskRunner } from '../data/runner.ts';
import { threadCount, threadPool } from './threads.ts';

export interface ReadDatasetOptions extends Omit<ReadOptions, 'runner'> {
  /** Parsing threads; default: all cores. */
  threads?: number;
}

export interface ReadShareOptions extends Omit<ShareOptions, 'runner'> {
  /** Parsing threads of this process; default: all cores. */
  threads?: number;
}

/**
 * Reads LIBSVM, CSV, TSV, JSON lines, Vowpal Wabbit text, Parquet or `.dsob` data from a file, `.gz`,
 * `.zst` or standard input (`-`), on all cores.
 * A pattern (`part-*.svm`) or a list stands for several files, whose rows follow one another.
 */
export async function readDataset(
  source: DataSource,
  { threads, ...options }: ReadDatasetOptions = {},
): Promise<Dataset> {
  return read(source, { ...options, runner: threadRunner(threads) });
}

/** Reads what one of several processes has to read of the data, on all cores. */
export async function readShare(
  source: DataSource,
  { threads, ...options }: ReadShareOptions,
): Promise<DataShare> {
  return readPart(source, { ...options, runner: threadRunner(threads) });
}

/** Reads on threads, which start with the first task. */
export function threadRunner(threads?: number): TaskRunner {
  const count = threadCount(threads);
  return {
    threads: count,
    run: (task, payload, transfer) => threadPool(count).run(task, payload, transfer),
  };
}

export type { DataShare } from '../data/read/read.ts';
export {
  type DataSource,
  filesOfSource,
  nameOfSource,
  titleOfSource,
} from '../data/read/sources.ts';
