import { createReadStream, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { DataError } from '../errors.ts';
import { isBinary, magic } from './binary/layout.ts';
import { type BinarySink, readBinaryFile, readBinaryStream, type TakePart } from './binary/read.ts';
import type { BinaryIndex } from './binary/sections.ts';
import { Collector } from './collector.ts';
import type { Dataset, DatasetPart } from './dataset.ts';
import { type ByteChunks, compressionOf, decompress } from './decompress.ts';
import type { LibsvmOptions } from './libsvm.ts';
import { BlockPool, lineBlocks } from './line-blocks.ts';
import type { TaskRunner } from './runner.ts';
import { TaskQueue } from './task-queue.ts';
import {
  type BytesPayload,
  inlineRunner,
  type ParseOptions,
  type ParseOutcome,
  type RangePayload,
} from './tasks.ts';

export interface ReadOptions extends LibsvmOptions {
  /** Where to parse; default: the calling thread. */
  readonly runner?: TaskRunner;
  /** At least so many columns, even if the data has fewer. */
  readonly columns?: number;
  /** Bytes of text per task; default: a few tasks per thread, 1 to 4 MB each. */
  readonly blockSize?: number;
}

/** Reading piece by piece: what becomes of the pieces, and what is to be known of them. */
export interface PartsOptions extends ReadOptions {
  readonly takePart: TakePart;
  /** Lines with names of features; only binary data has some. */
  readonly takeNames?: (lines: Uint8Array) => void | Promise<void>;
  /**
   * Which values are wanted as float64 as well: those that binary data holds so, or those of text
   * too; default: none.
   */
  readonly wide?: 'stored' | 'all';
  /** How much of the input has been read, 0 … 1; not for standard input. */
  readonly onProgress?: (fraction: number) => void;
}

/** A data set but for its rows, and the index of binary data. */
export type DatasetShape = Omit<Dataset, 'parts'> & { readonly index?: BinaryIndex };

const megabyte = 1 << 20;
/** Below this the calling thread is done before a worker has started. */
const smallInput = megabyte;
/** Text and numbers of a larger block would fall out of the cache of the core that parses it. */
const largestBlock = 4 * megabyte;

/**
 * Reads LIBSVM text or binary data from a file (plain, gzip or zstd, told apart by content) or, for
 * `-`, from standard input. Every fault of the input is a DataError; of several faulty lines the
 * first one is reported, whatever the number of threads.
 */
export async function readDataset(source: string, options: ReadOptions = {}): Promise<Dataset> {
  const parts: DatasetPart[] = [];
  const takePart = (part: DatasetPart) => void parts.push(part);
  const { index: _, ...shape } = await readParts(source, { ...options, takePart });
  return { ...shape, parts };
}

/** The same, but hands the rows on as they come, in memory for a few pieces of the input. */
export async function readParts(source: string, given: PartsOptions): Promise<DatasetShape> {
  let refusal: unknown;
  const guarded =
    <Given extends unknown[]>(take: (...given: Given) => void | Promise<void>) =>
    async (...values: Given) => {
      try {
        await take(...values);
      } catch (error) {
        refusal = error;
        throw error;
      }
    };
  const { takePart, takeNames = () => {} } = given;
  try {
    const takers = { takePart: guarded(takePart), takeNames: guarded(takeNames) };
    return await readSource(source, { ...given, ...takers });
  } catch (error) {
    // A full disk behind whoever takes the rows is no fault of the input.
    if (error === refusal) throw error;
    throw explainAccess(error, source === '-' ? 'standard input' : source);
  }
}

async function readSource(source: string, options: PartsOptions): Promise<DatasetShape> {
  if (source === '-') return readStream(process.stdin, 'standard input', options);
  const stats = await stat(source);
  if (stats.isDirectory()) throw new DataError(`${source}: a directory; expected a file`);
  if (stats.isFile()) {
    const head = await readHead(source);
    if (isBinary(head)) return readBinary(source, stats, options);
    if (stats.size > 0 && compressionOf(head, source) === 'none') {
      checkName(source);
      return readRanges(source, stats, options);
    }
  }
  const stream = createReadStream(source, { highWaterMark: megabyte });
  const size = stats.isFile() ? stats.size : Number.NaN;
  return readStream(watched(stream, size, options), source, options);
}

/** A name may not promise what is not there. */
function checkName(name: string): void {
  if (!/\.dsob(\.gz|\.zst)?$/.test(name)) return;
  throw new DataError(`${name}: byte 0: not dsob data, as the name says`);
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(magic.length), 0, magic.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function binarySink({ takePart, takeNames, wide, onProgress }: PartsOptions): BinarySink {
  return { takePart, takeNames, wide: wide !== undefined, onProgress };
}

async function readBinary(
  path: string,
  { size }: Stats,
  options: PartsOptions,
): Promise<DatasetShape> {
  const runner = size < smallInput ? inlineRunner : runnerOf(options);
  return binaryShape(path, await readBinaryFile(path, runner, binarySink(options)), options);
}

function binaryShape(name: string, index: BinaryIndex, { columns = 0 }: ReadOptions): DatasetShape {
  const { rows, nonzeros } = index.totals;
  if (rows === 0) throw new DataError(`${name}: no rows; expected at least one`);
  const most = Math.max(columns, index.totals.columns);
  return { name, rows, columns: most, nonzeros, notices: [], index };
}

/** Hands the outcomes of parse tasks on, and puts the shape together from them. */
function partsQueue(runner: TaskRunner, collector: Collector, { takePart }: PartsOptions) {
  return new TaskQueue<ParseOutcome>(runner, async (outcome) => {
    collector.add(outcome);
    const wide = 'wide' in outcome ? outcome.wide : undefined;
    for (const part of collector.takeParts()) await takePart(part, wide);
  });
}

/** A plain file: workers read and parse byte ranges of it. */
async function readRanges(
  path: string,
  { size }: Stats,
  options: PartsOptions,
): Promise<DatasetShape> {
  const runner = size < smallInput && !options.blockSize ? inlineRunner : runnerOf(options);
  const share = Math.ceil(size / (4 * runner.threads));
  const length = options.blockSize ?? Math.min(Math.max(share, megabyte), largestBlock);
  const collector = new Collector(path);
  const queue = partsQueue(runner, collector, options);
  for (let start = 0; start < size; start += length) {
    const end = Math.min(start + length, size);
    const payload: RangePayload = { path, start, end, size, options: parseOptions(options) };
    await queue.run('parse-range', payload);
    options.onProgress?.(start / size);
  }
  await queue.finish();
  return collector.dataset(options.columns ?? 0);
}

/** Anything else: this thread reads and decompresses, workers parse blocks of whole lines. */
async function readStream(
  source: AsyncIterable<Uint8Array>,
  name: string,
  options: PartsOptions,
): Promise<DatasetShape> {
  const { head, chunks } = await peek(source);
  const plain = decompress(chunks, compressionOf(head, head.length > 0 ? name : ''), name);
  const inner = await peek(plain);
  if (isBinary(inner.head)) {
    return binaryShape(
      name,
      await readBinaryStream(inner.chunks, name, binarySink(options)),
      options,
    );
  }
  checkName(name);
  return readText(inner.chunks, name, options);
}

async function readText(
  text: ByteChunks,
  name: string,
  options: PartsOptions,
): Promise<DatasetShape> {
  const pool = new BlockPool(options.blockSize ?? largestBlock);
  const collector = new Collector(name);
  const queue = partsQueue(runnerOf(options), collector, options);
  const small = partsQueue(inlineRunner, collector, options);
  let first = true;
  try {
    for await (const bytes of lineBlocks(text, pool)) {
      const payload: BytesPayload = { bytes, first, options: parseOptions(options) };
      const only = first && bytes.length < smallInput && !options.blockSize;
      await (only ? small : queue).run('parse-bytes', payload, () => pool.release(bytes));
      first = false;
    }
  } finally {
    // Also after an error of the stream: a faulty line in front of it comes first.
    await small.finish();
    await queue.finish();
  }
  return collector.dataset(options.columns ?? 0);
}

function runnerOf({ runner }: ReadOptions): TaskRunner {
  return runner && runner.threads > 1 ? runner : inlineRunner;
}

function parseOptions(options: PartsOptions): ParseOptions {
  const { zeroBased = false, sumDuplicates = false, wide } = options;
  return { zeroBased, sumDuplicates, wide: wide === 'all' };
}

/** The first few bytes of a stream, and the whole stream. */
export async function peek(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]();
  const taken: Uint8Array[] = [];
  let head = new Uint8Array(0);
  while (head.length < magic.length) {
    const next = await iterator.next();
    if (next.done) break;
    taken.push(next.value);
    head = Buffer.concat(taken).subarray(0, magic.length);
  }
  return { head, chunks: rejoin(taken, iterator) };
}

async function* rejoin(taken: Uint8Array[], rest: AsyncIterator<Uint8Array>): ByteChunks {
  yield* taken;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** Tells how much of a file of `size` bytes has gone by. */
async function* watched(chunks: ByteChunks, size: number, { onProgress }: PartsOptions) {
  let bytes = 0;
  for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
    yield chunk;
    bytes += chunk.length;
    if (size > 0) onProgress?.(Math.min(1, bytes / size));
  }
}

const accessProblems: Record<string, string> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'no permission to read it',
  EPERM: 'no permission to read it',
  EISDIR: 'a directory; expected a file',
};

function explainAccess(error: unknown, name: string): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  // Only the operating system's codes: Node's own (ERR_…) are no fault of the input.
  if (!/^E[A-Z0-9]+$/.test(code)) return error;
  const problem = accessProblems[code] ?? (error as Error).message;
  return new DataError(`${name}: ${problem}`, { cause: error });
}
