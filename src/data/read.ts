import { createReadStream, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { DataError } from '../errors.ts';
import { Collector } from './collector.ts';
import type { Dataset } from './dataset.ts';
import { type ByteChunks, compressionOf, decompress, magicLength } from './decompress.ts';
import type { LibsvmOptions } from './libsvm.ts';
import { BlockPool, lineBlocks } from './line-blocks.ts';
import type { TaskRunner } from './runner.ts';
import { type BytesPayload, inlineRunner, type ParseOutcome, type RangePayload } from './tasks.ts';

export interface ReadOptions extends LibsvmOptions {
  /** Where to parse; default: the calling thread. */
  readonly runner?: TaskRunner;
  /** At least so many columns, even if the data has fewer. */
  readonly columns?: number;
  /** Bytes of text per task; default: a few tasks per thread, 1 to 4 MB each. */
  readonly blockSize?: number;
}

const megabyte = 1 << 20;
/** Below this the calling thread is done before a worker has started. */
const smallInput = megabyte;
/** Text and numbers of a larger block would fall out of the cache of the core that parses it. */
const largestBlock = 4 * megabyte;

/**
 * Reads LIBSVM text from a file (plain, gzip or zstd, told apart by content) or, for `-`, from
 * standard input. Every fault of the input is a DataError; of several faulty lines the first one
 * is reported, whatever the number of threads.
 */
export async function readDataset(source: string, options: ReadOptions = {}): Promise<Dataset> {
  try {
    if (source === '-') return await readStream(process.stdin, 'standard input', options);
    const stats = await stat(source);
    if (stats.isDirectory()) throw new DataError(`${source}: a directory; expected a file`);
    if (stats.isFile()) {
      const head = await readHead(source);
      if (stats.size > 0 && compressionOf(head, source) === 'none') {
        return await readRanges(source, stats, options);
      }
    }
    return await readStream(createReadStream(source, { highWaterMark: megabyte }), source, options);
  } catch (error) {
    throw explainAccess(error, source === '-' ? 'standard input' : source);
  }
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(magicLength), 0, magicLength, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A plain file: workers read and parse byte ranges of it. */
async function readRanges(path: string, { size }: Stats, options: ReadOptions): Promise<Dataset> {
  const runner = size < smallInput && !options.blockSize ? inlineRunner : runnerOf(options);
  const share = Math.ceil(size / (4 * runner.threads));
  const length = options.blockSize ?? Math.min(Math.max(share, megabyte), largestBlock);
  const collector = new Collector(path);
  const queue = new TaskQueue(runner, collector);
  for (let start = 0; start < size; start += length) {
    const end = Math.min(start + length, size);
    const payload: RangePayload = { path, start, end, size, options: parseOptions(options) };
    await queue.run('parse-range', payload);
  }
  await queue.finish();
  return collector.dataset(options.columns ?? 0);
}

/** Anything else: this thread reads and decompresses, workers parse blocks of whole lines. */
async function readStream(
  source: AsyncIterable<Uint8Array>,
  name: string,
  options: ReadOptions,
): Promise<Dataset> {
  const { head, chunks } = await peek(source);
  const plain = decompress(chunks, compressionOf(head, head.length > 0 ? name : ''), name);
  const pool = new BlockPool(options.blockSize ?? largestBlock);
  const collector = new Collector(name);
  const queue = new TaskQueue(runnerOf(options), collector);
  const small = new TaskQueue(inlineRunner, collector);
  let first = true;
  try {
    for await (const bytes of lineBlocks(plain, pool)) {
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

function parseOptions({ zeroBased = false, sumDuplicates = false }: ReadOptions): LibsvmOptions {
  return { zeroBased, sumDuplicates };
}

/** The first few bytes of a stream, and the whole stream. */
async function peek(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]();
  const taken: Uint8Array[] = [];
  let head = new Uint8Array(0);
  while (head.length < magicLength) {
    const next = await iterator.next();
    if (next.done) break;
    taken.push(next.value);
    head = Buffer.concat(taken).subarray(0, magicLength);
  }
  return { head, chunks: rejoin(taken, iterator) };
}

async function* rejoin(taken: Uint8Array[], rest: AsyncIterator<Uint8Array>): ByteChunks {
  yield* taken;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** Keeps a bounded number of tasks going and hands their outcomes on in the order of the input. */
class TaskQueue {
  readonly #runner: TaskRunner;
  readonly #collector: Collector;
  readonly #pending: Promise<ParseOutcome>[] = [];

  constructor(runner: TaskRunner, collector: Collector) {
    this.#runner = runner;
    this.#collector = collector;
  }

  async run(task: string, payload: unknown, done?: () => void): Promise<void> {
    while (this.#pending.length >= 2 * this.#runner.threads) await this.#takeFirst();
    const outcome = this.#runner.run<ParseOutcome>(task, payload).finally(done);
    // Awaited in turn; until then a failure must not count as unhandled.
    outcome.catch(() => {});
    this.#pending.push(outcome);
  }

  async finish(): Promise<void> {
    while (this.#pending.length > 0) await this.#takeFirst();
  }

  async #takeFirst(): Promise<void> {
    try {
      this.#collector.add(await this.#pending.shift()!);
    } catch (error) {
      await Promise.allSettled(this.#pending.splice(0));
      throw error;
    }
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
