import { statSync } from 'node:fs';
import * as binary from '../data/binary/convert.ts';
import { isStored, openDataset, shapeOfStored } from '../data/binary/stored.ts';
import type { Dataset } from '../data/dataset.ts';
import {
  type FileShard,
  type ReadOptions,
  readDataset as read,
  readShard as readPart,
  type ShardOptions,
} from '../data/read/read.ts';
import { type DataSource, filesOfSource, titleOfSource } from '../data/read/sources.ts';
import { inlineRunner, type TaskRunner } from '../data/read/tasks.ts';
import { collectGarbage } from '../engine/arena.ts';
import { leastMemory, limitText, machineMemory, programBytes } from '../engine/memory.ts';
import { RequestThread, threadEntry } from '../engine/thread.ts';
import { threadCount, threadPool, warmThreads } from '../engine/thread-pool.ts';
import { UsageError } from '../errors.ts';

export interface ReadDatasetOptions extends Omit<ReadOptions, 'runner'> {
  /** Parsing threads; default: all cores. */
  threads?: number;
}

/** Number of non-zeros from which the data is laid out on all threads. */
const worthThreads = 1e6;

/** The calling thread, if it may be taken, reads data of up to this many bytes alone. */
const fewBytes = 4 << 20;

interface Caller {
  /** Whether the calling thread may be one of those that parse; default: it is never blocked. */
  readonly callingThread?: boolean;
}

type ReadShardOptions = Omit<ShardOptions, 'runner'> & Pick<ReadDatasetOptions, 'threads'>;

/**
 * Reads LIBSVM, CSV, TSV, JSON lines, Vowpal Wabbit text, Parquet or `.dsob` data from a file, `.gz`,
 * `.zst` or standard input (`-`), on all cores.
 * A pattern (`part-*.svm`) or a list means several files, whose rows follow one another.
 */
export async function readDataset(
  source: DataSource,
  { threads, callingThread, ...options }: ReadDatasetOptions & Caller = {},
): Promise<Dataset> {
  const runner = threadRunner(threads, callingThread);
  const dataset = await read(source, { ...options, runner });
  if (callingThread && dataset.nonzeros >= worthThreads) warmThreads(threads);
  return dataset;
}

/** Reads what one of several processes has to read of the data, on all cores. */
export async function readShard(
  source: DataSource,
  { threads, ...options }: ReadShardOptions,
): Promise<FileShard> {
  return readPart(source, { ...options, runner: threadRunner(threads) });
}

/** Reads on threads, which start with the first task. */
function threadRunner(threads?: number, callingThread = false): TaskRunner {
  const count = threadCount(threads);
  return {
    threads: count,
    ...(callingThread && { worthwhile: fewBytes }),
    run(task, payload, transfer) {
      const pool = threadPool(count);
      if (!callingThread) return pool.run(task, payload, transfer);
      // It works beside all threads but one, which starts once there is a core for it.
      pool.start(count - 1);
      return pool.tryRun(count - 1, task, payload, transfer) ?? inlineRunner.run(task, payload);
    },
    ownThread: () => new RequestThread(threadEntry('worker'), {}),
  };
}

/** Bytes of memory that training takes per byte of text, at least. */
const bytesPerTextByte = 3;

interface OpenDatasetOptions extends ReadDatasetOptions, Caller {
  /** Bytes that the process may take; default: those of the machine. */
  memory?: number;
}

/** Reads data into memory if training will fit there; else leaves the entries of `.dsob` files on disk. */
export async function readOrOpen(
  source: DataSource,
  { memory, ...options }: OpenDatasetOptions = {},
): Promise<Dataset> {
  const available = (memory ?? machineMemory()) - programBytes(threadCount(options.threads));
  if (isStored(source)) {
    const fits = leastMemory(shapeOfStored(source)) <= available;
    return fits ? readDataset(source, options) : openDataset(source);
  }
  if (memory !== undefined && !(bytesPerTextByte * textBytes(source) <= available)) {
    throw new UsageError(
      `the memory limit is ${limitText(memory)}, which may be too little for ${titleOfSource(source)}; from disk, training reads .dsob files alone: dso convert makes one (dso convert DATA -o data.dsob, then dso train data.dsob)`,
    );
  }
  return readDataset(source, options);
}

/** Bytes of the text; Infinity if they are not known before it is read. */
function textBytes(source: DataSource): number {
  const sizes = filesOfSource(source).map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() && !/\.(gz|zst)$/.test(path) ? stats.size : Infinity;
  });
  return sizes.reduce((total, size) => total + size, 0);
}

export interface ConvertOptions extends Omit<binary.ConvertOptions, 'runner' | 'collect'> {
  /** Reading threads; default: all cores. */
  threads?: number;
}

/** Writes data from a file or standard input (`-`) as `.dsob`, or as text for any other ending. */
export async function convertDataset(
  source: DataSource,
  target: string,
  { threads, ...options }: ConvertOptions = {},
): Promise<binary.DataSummary> {
  return binary.convert(source, target, { ...options, ...machinery(threads) });
}

type DescribeOptions = binary.ReadingOptions & Pick<ConvertOptions, 'threads' | 'onProgress'>;

/** Reads all of a file, checks and describes it. */
export async function describeData(
  source: DataSource,
  { threads, ...options }: DescribeOptions = {},
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
