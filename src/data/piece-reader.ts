import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { DataError } from '../errors.ts';
import { explainAccess } from './access.ts';
import { isBinary, magic, sectionHeaderBytes } from './binary/layout.ts';
import { type BinarySink, queueSections, readBinaryStream } from './binary/read.ts';
import type { SectionPlace } from './binary/sections.ts';
import { Collector, TextPlace } from './collector.ts';
import { type ByteChunks, compressionOf, decompress } from './decompress.ts';
import { BlockPool, lineBlocks } from './line-blocks.ts';
import { NameLines } from './name-lines.ts';
import { peek } from './peek.ts';
import type { Piece } from './pieces.ts';
import type { PartsOptions } from './read-options.ts';
import type { TaskRunner } from './runner.ts';
import { standardInput, titleOfSource } from './sources.ts';
import { TaskQueue } from './task-queue.ts';
import {
  type BytesPayload,
  inlineRunner,
  type ParseOptions,
  type ParseOutcome,
  type RangePayload,
} from './tasks.ts';

const megabyte = 1 << 20;
/** Below this the calling thread is done before a worker has started. */
const smallInput = megabyte;
/** Text and numbers of a larger block would fall out of the cache of the core that parses it. */
const largestBlock = 4 * megabyte;

/** Reads one piece after the other; tasks of a piece still run while the next one is begun. */
export class PieceReader {
  readonly collector = new Collector();
  readonly #options: PartsOptions;
  readonly #runner: TaskRunner;
  readonly #queue: TaskQueue;
  readonly #alone: boolean;
  readonly #names = new NameLines();
  /** Bytes of all pieces, and of those that were read before the current one. */
  readonly #bytes: number;
  #before = 0;

  constructor(pieces: readonly Piece[], options: PartsOptions) {
    const { runner } = options;
    this.#options = options;
    this.#runner = runner && runner.threads > 1 ? runner : inlineRunner;
    this.#queue = new TaskQueue(this.#runner.threads);
    this.#alone = pieces.length === 1;
    this.#bytes = pieces.reduce((sum, piece) => sum + bytesOf(piece), 0);
  }

  async read(piece: Piece): Promise<void> {
    const { path } = piece.file;
    try {
      await this.#read(piece);
    } catch (error) {
      throw explainAccess(error, titleOfSource(path));
    }
    this.#before += bytesOf(piece);
  }

  /** Waits until everything that was read has been handed on. */
  async finish(): Promise<void> {
    await this.#queue.finish();
  }

  async handNamesOn(): Promise<void> {
    const { takeNames } = this.#options;
    if (this.#alone || !takeNames) return;
    for (const lines of this.#names.take()) await takeNames(lines);
  }

  async #read(piece: Piece): Promise<void> {
    const { path, size, regular } = piece.file;
    if (path === standardInput) return this.#readStream(process.stdin, titleOfSource(path));
    if (regular) {
      const head = await readHead(path);
      if (isBinary(head)) return this.#readBinary(piece);
      if (size > 0 && compressionOf(head, path) === 'none') return this.#readRanges(piece);
      if (!holds(piece, size / 2)) return;
      this.collector.uncut.push(piece.file);
      this.collector.bytes += size;
    }
    const stream = createReadStream(path, { highWaterMark: megabyte });
    await this.#readStream(this.#watched(stream, size), path);
  }

  /** Plain text: workers read and parse byte ranges of it. */
  async #readRanges(piece: Piece): Promise<void> {
    const { path, size } = piece.file;
    checkName(path);
    const [from, to] = clipped(piece);
    const { blockSize } = this.#options;
    const share = Math.ceil(this.#bytes / (4 * this.#runner.threads));
    const length = blockSize ?? Math.min(Math.max(share, megabyte), largestBlock);
    const place = new TextPlace(path, from);
    const options = parseOptions(this.#options);
    const runner = this.#isSmall(this.#bytes) ? inlineRunner : this.#runner;
    this.collector.files.text += 1;
    this.collector.bytes += to - from;
    for (let start = from; start < to; start += length) {
      const end = Math.min(start + length, to);
      const payload: RangePayload = { path, start, end, size, options };
      const parse = () => runner.run<ParseOutcome>('parse-range', payload);
      await this.#queue.run(parse, this.#takeText(place));
      this.#report(start - from);
    }
  }

  async #readBinary(piece: Piece): Promise<void> {
    const { path } = piece.file;
    const [from, to] = clipped(piece);
    const wants = ({ offset, header }: SectionPlace) =>
      holds(piece, offset + (sectionHeaderBytes + header.length) / 2);
    const runner = this.#isSmall(this.#bytes) ? inlineRunner : this.#runner;
    const onProgress = (fraction: number) => this.#report(fraction * (to - from));
    const sink = { ...this.#binarySink(path), onProgress };
    this.collector.files.dsob += 1;
    this.collector.bytes += to - from;
    this.collector.addIndex(await queueSections({ path, wants, runner }, this.#queue, sink));
  }

  /** Anything else: this thread reads and decompresses, workers parse blocks of whole lines. */
  async #readStream(source: AsyncIterable<Uint8Array>, name: string): Promise<void> {
    const { head, chunks } = await peek(source);
    const plain = decompress(chunks, compressionOf(head, head.length > 0 ? name : ''), name);
    const inner = await peek(plain);
    if (!isBinary(inner.head)) {
      checkName(name);
      this.collector.files.text += 1;
      return this.#readText(inner.chunks, name);
    }
    // Sections of a stream are handed on at once.
    await this.#queue.finish();
    this.collector.files.dsob += 1;
    this.collector.addIndex(await readBinaryStream(inner.chunks, name, this.#binarySink(name)));
  }

  async #readText(text: ByteChunks, name: string): Promise<void> {
    const { blockSize } = this.#options;
    const pool = new BlockPool(blockSize ?? largestBlock);
    const place = new TextPlace(name);
    const options = parseOptions(this.#options);
    let first = true;
    for await (const bytes of lineBlocks(text, pool)) {
      const payload: BytesPayload = { bytes, first, options };
      const only = first && this.#isSmall(bytes.length);
      const inline = only && (this.#alone || this.#isSmall(this.#bytes));
      const runner = inline ? inlineRunner : this.#runner;
      const parse = () =>
        runner.run<ParseOutcome>('parse-bytes', payload).finally(() => pool.release(bytes));
      await this.#queue.run(parse, this.#takeText(place));
      first = false;
    }
  }

  #takeText(place: TextPlace): (outcome: ParseOutcome) => Promise<void> {
    return async (outcome) => {
      const chunk = await place.chunkOf(outcome);
      this.collector.addText(chunk);
      const { rowOffsets, labels, indices, values } = chunk;
      if (labels.length === 0) return;
      const wide = 'wide' in outcome ? outcome.wide : undefined;
      await this.#options.takePart({ rowOffsets, labels, indices, values }, wide);
    };
  }

  #binarySink(path: string): BinarySink {
    const { takePart, takeNames, wide } = this.#options;
    return {
      takePart: async (part, values) => {
        this.collector.addRows(part);
        await takePart(part, values);
      },
      takeNames: this.#alone ? takeNames : (lines) => this.#keepNames(path, lines),
      wide: wide !== undefined,
    };
  }

  #keepNames(path: string, lines: Uint8Array): void {
    if (this.#options.takeNames) this.#names.add(path, lines);
  }

  #isSmall(bytes: number): boolean {
    return bytes < smallInput && !this.#options.blockSize;
  }

  /** Tells how much has gone by: so many bytes of the current piece. */
  #report(bytes: number): void {
    const { onProgress } = this.#options;
    if (this.#bytes > 0) onProgress?.(Math.min(1, (this.#before + bytes) / this.#bytes));
  }

  async *#watched(chunks: AsyncIterable<Uint8Array>, size: number) {
    let bytes = 0;
    for await (const chunk of chunks) {
      yield chunk;
      bytes += chunk.length;
      this.#report(Math.min(size, bytes));
    }
  }
}

function holds({ start, end }: Piece, place: number): boolean {
  return start <= place && place < end;
}

function clipped({ file, start, end }: Piece): [number, number] {
  return [Math.max(0, start), Math.min(file.size, end)];
}

function bytesOf(piece: Piece): number {
  const [from, to] = clipped(piece);
  return Math.max(0, to - from);
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

function parseOptions(options: PartsOptions): ParseOptions {
  const { zeroBased = false, sumDuplicates = false, wide } = options;
  return { zeroBased, sumDuplicates, wide: wide === 'all' };
}
