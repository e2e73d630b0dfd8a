import { closeSync, openSync, readSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
// As a whole: an import of createZstdDecompress by name could not be linked on Node 22.12.
import zlib from 'node:zlib';
import { DataError } from '../../errors.ts';
import { magic } from '../binary/layout.ts';
import { grown } from '../dataset.ts';
import { textBuffer } from '../text/libsvm-reader.ts';
import { LineError } from './line-error.ts';

const newline = 10;

/** Bytes of a line. Its text, and those that are made of it, must be shorter than 2²⁹ characters. */
export const longestLine = 500 * 2 ** 20;

/** What is wrong with a line that has not ended after `limit` bytes. */
export function lineTooLong(limit: number): string {
  const size = limit >= 2 ** 20 ? `${limit / 2 ** 20} MiB` : `${limit} bytes`;
  return `the line is longer than ${size}; expected a line end before that`;
}

/** Buffers on shared memory that are used again once a block has been parsed. */
export class BlockPool {
  readonly #size: number;
  readonly #longest: number;
  readonly #idle: Uint8Array[] = [];

  /** Blocks get larger for a longer line, up to `longest`. */
  constructor(size: number, longest: number = longestLine) {
    this.#size = size;
    this.#longest = longest;
  }

  /** A larger copy; throws a LineError where the first line of the block is too long. */
  enlarged(block: Uint8Array): Uint8Array {
    const longest = Math.max(this.#longest, this.#size);
    if (block.length >= longest) throw new LineError(1, lineTooLong(longest));
    const length = Math.min(2 * block.length, longest);
    const larger = new Uint8Array(new SharedArrayBuffer(length));
    larger.set(block);
    return larger;
  }

  take(): Uint8Array {
    return this.#idle.pop() ?? new Uint8Array(new SharedArrayBuffer(this.#size));
  }

  /** Takes the buffer of a block back; one that grew for a long line is dropped. */
  release(block: Uint8Array): void {
    if (block.buffer.byteLength === this.#size) this.#idle.push(new Uint8Array(block.buffer));
  }
}

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines += 1;
  return lines;
}

/** Where the last whole line of a block ends; 0 if there is none. */
export function lastLineEnd(block: Uint8Array): number {
  return block.lastIndexOf(newline) + 1;
}

/**
 * Cuts a stream into blocks that end where `lastEnd` says, each in its own buffer of the pool, which
 * grows for a longer line. Only the last block may lack its line end. Throws a LineError, counted
 * from the end of the last block, for a line that is too long.
 */
export async function* lineBlocks(
  chunks: ByteChunks,
  pool: BlockPool,
  lastEnd: (block: Uint8Array) => number = lastLineEnd,
): AsyncGenerator<Uint8Array> {
  let block = pool.take();
  let used = 0;
  for await (const chunk of chunks) {
    for (let offset = 0; offset < chunk.length; ) {
      const count = Math.min(chunk.length - offset, block.length - used);
      block.set(chunk.subarray(offset, offset + count), used);
      used += count;
      offset += count;
      if (used < block.length) continue;
      const end = lastEnd(block);
      const next = end === 0 ? pool.enlarged(block) : remainder(block, end, pool);
      used -= end;
      if (end > 0) yield block.subarray(0, end);
      block = next;
    }
  }
  if (used > 0) yield block.subarray(0, used);
}

function remainder(block: Uint8Array, start: number, pool: BlockPool): Uint8Array {
  const rest = block.subarray(start);
  let next = pool.take();
  // A grown block may leave more than a fresh buffer holds.
  while (next.length <= rest.length) next = pool.enlarged(next);
  next.set(rest);
  return next;
}

/** The first few bytes of a stream, and the whole stream. */
export async function peek(source: AsyncIterable<Uint8Array>) {
  const { head, chunks } = await peekUntil(source, ({ length }) => length >= magic.length);
  return { head: head.subarray(0, magic.length), chunks };
}

/** The same until `isEnough`; `whole` says that the stream has no more. */
export async function peekUntil(
  source: AsyncIterable<Uint8Array>,
  isEnough: (head: Uint8Array) => boolean,
) {
  const iterator = source[Symbol.asyncIterator]();
  const taken: Uint8Array[] = [];
  let head = new Uint8Array(0);
  let length = 0;
  let whole = false;
  while (!whole) {
    const next = await iterator.next();
    whole = next.done === true;
    if (!next.done) {
      taken.push(next.value);
      length += next.value.length;
    }
    // Looking again only when there is twice as much keeps the effort in proportion.
    if (!whole && length < 2 * head.length) continue;
    head = Buffer.concat(taken);
    if (isEnough(head)) break;
  }
  return { head, whole, chunks: rejoin(taken, iterator) };
}

async function* rejoin(taken: Uint8Array[], rest: AsyncIterator<Uint8Array>): ByteChunks {
  yield* taken;
  yield* { [Symbol.asyncIterator]: () => rest };
}

export type Compression = 'none' | 'gzip' | 'zstd';
export type ByteChunks = AsyncIterable<Uint8Array>;

const outputSize = 1 << 18;
const gzipMagic = [0x1f, 0x8b];
const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];
/** The first four bytes of a zstd frame that holds no data (0x184d2a50 … 5f). */
const skippableMagic = [0x2a, 0x4d, 0x18];

export const magicLength = 4;

/** By content, since `-` has no name; but a name that says otherwise is an error. */
export function compressionOf(head: Uint8Array, name: string): Compression {
  const startsWith = (bytes: number[], from = 0) =>
    bytes.every((byte, index) => head[from + index] === byte);
  if (startsWith(gzipMagic)) return 'gzip';
  if (startsWith(zstdMagic)) return 'zstd';
  if (startsWith(skippableMagic, 1) && (head[0] & 0xf0) === 0x50) return 'zstd';
  for (const [ending, format] of [
    ['.gz', 'gzip'],
    ['.zst', 'zstd'],
  ]) {
    if (name.endsWith(ending)) throw new DataError(`${name}: not ${format} data, as the name says`);
  }
  return 'none';
}

export function decompress(chunks: ByteChunks, compression: Compression, name: string): ByteChunks {
  if (compression === 'none') return chunks;
  const plain = compression === 'gzip' ? gunzip(chunks) : unzstd(chunks, name);
  return explainDamage(plain, compression, name);
}

function gunzip(chunks: ByteChunks): ByteChunks {
  const decoder = zlib.createGunzip({ chunkSize: outputSize });
  // An error reaches the consumer of the decoder.
  pipeline(Readable.from(chunks), decoder, () => {});
  return decoder;
}

/**
 * Node's decoder ends silently where a frame ends inside a chunk, even if another frame follows
 * (parallel compressors write many). So each write is awaited, and the rest begins the next frame.
 */
async function* unzstd(chunks: ByteChunks, name: string): AsyncGenerator<Uint8Array> {
  if (zlib.createZstdDecompress === undefined) {
    throw new DataError(
      `${name}: zstd needs Node 22.15 or newer, this is ${process.version}; decompress it first`,
    );
  }
  let frame = new ZstdFrames();
  for await (const chunk of chunks) {
    for (let rest = chunk; rest.length > 0; ) {
      const left = await frame.write(rest);
      yield* frame.take();
      rest = rest.subarray(rest.length - left);
      if (left === 0) continue;
      yield* await frame.end();
      frame = new ZstdFrames();
    }
  }
  yield* await frame.end();
}

/** One decoder and the output it has ready. */
class ZstdFrames {
  readonly #decoder = zlib.createZstdDecompress({ chunkSize: outputSize });
  readonly #ended: Promise<void>;
  #ready: Uint8Array[] = [];
  #written = 0;

  constructor() {
    this.#decoder.on('data', (data: Uint8Array) => this.#ready.push(data));
    this.#ended = new Promise((resolve, reject) => {
      this.#decoder.on('end', resolve).on('error', reject);
    });
    // An error is reported by the next call that awaits it.
    this.#ended.catch(() => {});
  }

  /** How many bytes of the chunk are behind the end of the last frame. */
  async write(chunk: Uint8Array): Promise<number> {
    this.#written += chunk.length;
    const written = new Promise<void>((resolve) => this.#decoder.write(chunk, () => resolve()));
    await Promise.race([written, this.#ended]);
    return this.#written - this.#decoder.bytesWritten;
  }

  take(): Uint8Array[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  async end(): Promise<Uint8Array[]> {
    this.#decoder.end();
    await this.#ended;
    return this.take();
  }
}

async function* explainDamage(
  chunks: ByteChunks,
  compression: Compression,
  name: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'Z_BUF_ERROR') {
      const message = `${name}: the ${compression} data ends too early; is it truncated?`;
      throw new DataError(message, { cause: error });
    }
    if (/^(Z_|ZSTD_)/.test(code)) {
      const reason = (error as Error).message;
      throw new DataError(`${name}: damaged ${compression} data (${reason})`, { cause: error });
    }
    throw error;
  }
}

const lookAhead = 1 << 16;
const largestRead = 1 << 26;

/** Reused between ranges, one per thread: allocating takes as long as reading the file. */
let buffer = new Uint8Array(0);
const empty = new Uint8Array(0);

/** A file that gets shorter while it is being read. */
export class FileChanged extends Error {}

export interface FileRange {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  /** Size of the whole file. */
  readonly size: number;
}

export interface RangeLines {
  /** With a last line end; valid until the next call. */
  readonly lines: Uint8Array;
  /** Whether the line behind them is too long to be one of them. */
  readonly cut: boolean;
}

/** The whole lines that begin in [start, end), up to the first that is longer than `longest`. */
export function readLines(range: FileRange, longest: number = longestLine): RangeLines {
  const file = openSync(range.path, 'r');
  try {
    // The byte before the range shows whether a line starts with the range.
    const from = Math.max(0, range.start - 1);
    const inside = range.end - from;
    let filled = fill(file, from, 0, Math.min(inside + lookAhead, range.size - from));
    const first = range.start === 0 ? 0 : buffer.subarray(0, inside).indexOf(newline) + 1;
    if (first >= inside || (range.start > 0 && first === 0)) return { lines: empty, cut: false };
    const lines = (end: number, cut = false) => ({ lines: buffer.subarray(first, end), cut });
    const begin = buffer.subarray(first, inside - 1).lastIndexOf(newline) + 1 + first;
    let last = buffer.subarray(0, filled).indexOf(newline, inside - 1);
    while (last < 0 && from + filled < range.size) {
      if (filled - begin >= longest) return lines(begin, true);
      const step = Math.min(filled, largestRead, range.size - from - filled);
      const end = fill(file, from, filled, filled + step);
      last = buffer.subarray(0, end).indexOf(newline, filled);
      filled = end;
    }
    if ((last < 0 ? filled : last) - begin >= longest) return lines(begin, true);
    if (last >= 0) return lines(last + 1);
    reserve(filled + 1);
    buffer[filled] = newline;
    return lines(filled + 1);
  } finally {
    closeSync(file);
  }
}

/** Fills buffer[filled … target) from the file, which starts at `origin` in the buffer's terms. */
function fill(file: number, origin: number, filled: number, target: number): number {
  reserve(target);
  let position = filled;
  while (position < target) {
    const count = readSync(file, buffer, position, target - position, origin + position);
    if (count === 0) throw new FileChanged('the file became shorter while it was being read');
    position += count;
  }
  return position;
}

/** The buffer is empty after the memory for text has grown, but its bytes are still there. */
function reserve(length: number): void {
  if (buffer.length >= length) return;
  buffer =
    textBuffer(length) ??
    grown(buffer, Math.max(length, Math.min(2 * buffer.length, length + largestRead)));
}
