import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { DataError, UsageError } from '../../errors.ts';
import { explainAccess } from '../../files.ts';
import { isBinary, type SectionLocation, sectionHeaderBytes } from '../binary/layout.ts';
import { type BinarySink, queueSections, readBinaryStream } from '../binary/read.ts';
import {
  formatOfName,
  formatOfText,
  guessedBytes,
  hasFirstLine,
  type ParsedText,
  type TextFormat,
  textFormat,
} from '../text/formats.ts';
import type { ParseOptions } from '../text/libsvm.ts';
import {
  BlockPool,
  type ByteChunks,
  compressionOf,
  decompress,
  lineBlocks,
  peek,
  peekUntil,
} from './byte-blocks.ts';
import { Collector, LinePosition } from './collector.ts';
import { NameLines } from './feature-names.ts';
import { LineError } from './line-error.ts';
import { NamedPlans } from './named-plans.ts';
import type { PartsOptions, Piece } from './pieces.ts';
import { standardInput, titleOfSource } from './sources.ts';
import {
  type BytesPayload,
  inlineRunner,
  type ParseOutcome,
  type RangePayload,
  TaskQueue,
  type TaskRunner,
  withoutMark,
} from './tasks.ts';

const megabyte = 1 << 20;
/** Below this the calling thread is done before a worker has started. */
const smallInput = megabyte;
/** Bytes of a range of LIBSVM text: with its numbers, they stay in the cache of one core. */
const rangeBytes = megabyte;
/** Text and numbers of a larger block would fall out of the cache of the core that parses it. */
const largestBlock = 4 * megabyte;

/** Reads one piece after the other; tasks of a piece still run while the next one is begun. */
export class PieceReader {
  readonly collector: Collector;
  readonly #options: PartsOptions;
  readonly #runner: TaskRunner;
  readonly #queue: TaskQueue;
  readonly #alone: boolean;
  readonly #names = new NameLines();
  readonly #named: NamedPlans;
  /** Whether labels of LIBSVM text are texts, by the first file of it. */
  #textLabels: boolean | undefined;
  /** The first file with names for columns, and the first one with numbers. */
  #firstNamed: string | undefined;
  #firstNumbered: string | undefined;
  /** Bytes of all pieces, and of those that were read before the current one. */
  readonly #bytes: number;
  #before = 0;

  constructor(pieces: readonly Piece[], options: PartsOptions) {
    const { runner } = options;
    this.#options = options;
    this.#runner = runner && runner.threads > 1 ? runner : inlineRunner;
    this.#queue = new TaskQueue(this.#runner.threads);
    this.collector = new Collector(options);
    this.#named = new NamedPlans(options, this.collector);
    this.#textLabels = options.textLabels;
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

  /** Waits until everything that was read has been passed on. */
  async finish(): Promise<void> {
    await this.#queue.finish();
  }

  async passNames(): Promise<void> {
    const { takeNames } = this.#options;
    if (this.#alone || !takeNames) return;
    for (const lines of this.#names.take()) await takeNames(lines);
  }

  async #read(piece: Piece): Promise<void> {
    const { path, size, regular, content } = piece.file;
    if (content) return this.#readStream(content(), path);
    if (path === standardInput) return this.#readStream(process.stdin, titleOfSource(path));
    if (regular) {
      const head = await readHead(path);
      if (isBinary(head)) return this.#readBinary(piece);
      const isPlain = withoutMark(head).length > 0 && compressionOf(head, path) === 'none';
      const format = isPlain ? this.#formatOf(path, head) : textFormat(formatOfName(path));
      if (isPlain && format?.named === false) return this.#readRanges(piece, format, head);
      if (format?.named) this.#named.checkFormat(format.title, path);
      if (!holds(piece, size / 2)) return;
      this.collector.uncut.push(piece.file);
      this.collector.bytes += size;
    }
    const stream = createReadStream(path, { highWaterMark: megabyte });
    await this.#readStream(this.#watched(stream, size), path);
  }

  /** Plain text: workers read and parse byte ranges of it. */
  async #readRanges(piece: Piece, format: TextFormat, head: Uint8Array): Promise<void> {
    const { path, size } = piece.file;
    const [from, to] = clipped(piece);
    const length = this.#options.blockSize ?? rangeBytes;
    const position = new LinePosition(path, from);
    const plan = this.#libsvmPlan(path, format, head);
    const runner = this.#isSmall(this.#bytes) ? inlineRunner : this.#runner;
    this.collector.files.text += 1;
    this.collector.bytes += to - from;
    for (let start = from; start < to; start += length) {
      const end = Math.min(start + length, to);
      const { longestLine: longest } = this.#options;
      const payload: RangePayload = { path, start, end, size, format: format.name, plan, longest };
      const parse = () => runner.run<ParseOutcome>('parse-range', payload);
      await this.#queue.run(parse, this.#taker(position, path));
      this.#report(start - from);
    }
  }

  async #readBinary(piece: Piece): Promise<void> {
    const { path } = piece.file;
    this.#checkMix(path, false);
    const [from, to] = clipped(piece);
    const selects = ({ offset, header }: SectionLocation) =>
      holds(piece, offset + (sectionHeaderBytes + header.length) / 2);
    const runner = this.#isSmall(this.#bytes) ? inlineRunner : this.#runner;
    const onProgress = (fraction: number) => this.#report(fraction * (to - from));
    const sink = { ...this.#binarySink(path), onProgress };
    this.collector.files.dsob += 1;
    this.collector.bytes += to - from;
    this.collector.addIndex(await queueSections({ path, selects, runner }, this.#queue, sink));
  }

  /** Anything else: this thread reads and decompresses, workers parse blocks of whole lines. */
  async #readStream(source: AsyncIterable<Uint8Array>, name: string): Promise<void> {
    const { head, chunks } = await peek(source);
    const plain = decompress(chunks, compressionOf(head, head.length > 0 ? name : ''), name);
    const inner = await peekUntil(plain, (start) => isBinary(start) || hasFirstLine(start));
    if (!isBinary(inner.head)) {
      this.collector.files.text += 1;
      return this.#readText(inner.chunks, name, inner.head);
    }
    this.#checkMix(name, false);
    // Sections of a stream are passed on at once.
    await this.#queue.finish();
    this.collector.files.dsob += 1;
    this.collector.addIndex(await readBinaryStream(inner.chunks, name, this.#binarySink(name)));
  }

  async #readText(text: ByteChunks, name: string, head: Uint8Array): Promise<void> {
    const format = this.#formatOf(name, head);
    const planned = format.named
      ? await this.#planNamed(text, name, format)
      : { chunks: text, plan: this.#libsvmPlan(name, format, head) };
    if (!planned) return;
    const { chunks, plan } = planned;
    const { longestLine: longest } = this.#options;
    const size = this.#blockSize(this.#bytes > 0 ? this.#bytes : Infinity);
    const pool = new BlockPool(size, longest);
    const take = this.#taker(new LinePosition(name), name);
    let first = true;
    let headed = format.headRecords(this.#options);
    const blocks = lineBlocks(chunks, pool, format.lastRecordEnd);
    for await (const bytes of this.#upToFault(blocks, take)) {
      // Blank lines in front of the header may be a block of their own.
      const skipped = headed > 0 && isEmpty(first ? withoutMark(bytes) : bytes) ? 0 : headed;
      headed -= skipped;
      const payload: BytesPayload = { bytes, first, skipped, format: format.name, plan };
      // A first block that is less than half full is the whole input.
      const isAll = this.#alone && this.#isSmall(2 * bytes.length);
      const isSmall = this.#bytes > 0 && this.#isSmall(this.#bytes);
      const runner = first && (isAll || isSmall) ? inlineRunner : this.#runner;
      const parse = () =>
        runner.run<ParseOutcome>('parse-bytes', payload).finally(() => pool.release(bytes));
      await this.#queue.run(parse, take);
      first = false;
    }
  }

  /** A line that is too long is reported behind the faults of the lines in front of it. */
  async *#upToFault(
    blocks: AsyncIterable<Uint8Array>,
    take: (outcome: ParseOutcome) => Promise<void>,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* blocks;
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      const { line, message } = error;
      await this.#queue.run(async () => ({ line, message }), take);
    }
  }

  async #planNamed(text: ByteChunks, name: string, format: TextFormat) {
    this.#checkMix(name, true);
    this.collector.isNamed = true;
    const { head, whole, chunks } = await peekUntil(text, format.enough);
    const sample = withoutMark(whole ? head : head.subarray(0, format.lastRecordEnd(head)));
    if (!whole && sample.length === 0 && format.headRecords(this.#options) > 0) {
      const found = `no line end in the first ${head.length >>> 20} MiB`;
      throw new DataError(`${name}:1: ${found}; expected a line with the names of the columns`);
    }
    // A file without a record has no columns either.
    if (whole && isEmpty(sample)) return undefined;
    return { chunks, plan: this.#named.plan(sample, name, format) };
  }

  #blockSize(bytes: number): number {
    const share = Math.ceil(bytes / (4 * this.#runner.threads));
    return this.#options.blockSize ?? Math.min(Math.max(share, megabyte), largestBlock);
  }

  /** The format of data that is not binary. */
  #formatOf(name: string, head: Uint8Array): TextFormat {
    const named = this.#options.format ?? formatOfName(name);
    const format = named ?? formatOfText(head);
    if (format === 'parquet' || isParquet(head)) {
      this.#named.checkFormat('Parquet', name);
      throw new DataError(
        `${name}: Parquet among other data, or without .parquet in its name; expected nothing but Parquet files, named so or with --format parquet`,
      );
    }
    const found = textFormat(format);
    if (!found) throw new DataError(`${name}: byte 0: not dsob data, as the name says`);
    // Formats with names report more than that themselves.
    const notice = `read as ${found.title}`;
    const { notices } = this.collector;
    if (named === undefined && !found.named && head.length > 0 && !notices.includes(notice)) {
      notices.push(notice);
    }
    return found;
  }

  /** Columns of all files have names, or all of them numbers. */
  #checkMix(name: string, named: boolean): void {
    if (named) this.#firstNamed ??= name;
    else this.#firstNumbered ??= name;
    const other = named ? this.#firstNumbered : this.#firstNamed;
    if (other === undefined) return;
    const [ours, theirs] = named ? ['names', 'numbers'] : ['numbers', 'names'];
    throw new DataError(
      `${name}: its columns have ${ours}, those of ${other} ${theirs}; expected files of one kind`,
    );
  }

  #libsvmPlan(name: string, format: TextFormat, head: Uint8Array): ParseOptions {
    this.#checkMix(name, false);
    const { like, isShard, float64 } = this.#options;
    const textLabels = this.#textLabels ?? (like?.labelNames ? true : undefined);
    const plan = format.plan(head, name, {
      ...this.#options,
      ...(textLabels !== undefined && { textLabels }),
    }) as ParseOptions;
    this.#textLabels = plan.textLabels;
    if (plan.textLabels && isShard) {
      throw new UsageError(
        `${name}: labels that are no numbers, which several processes cannot number alike; expected numbers`,
      );
    }
    return { ...plan, float64: float64 === 'all' };
  }

  #taker(position: LinePosition, name: string): (outcome: ParseOutcome) => Promise<void> {
    const { takePart } = this.#options;
    const take = async (found: ParsedText['rows']): Promise<void> => {
      const { rowOffsets, labels, indices, values } = found;
      if (!('names' in found)) this.collector.addText(found, name);
      if (labels.length === 0) return;
      if ('names' in found) await takePart(this.collector.addNamed(found, name));
      else await takePart({ rowOffsets, labels, indices, values }, found.float64);
    };
    return async (outcome) => {
      if ('before' in outcome && outcome.before) await take(outcome.before.rows);
      await take(await position.rowsOf(outcome));
    };
  }

  #binarySink(path: string): BinarySink {
    const { takePart, takeNames, float64 } = this.#options;
    return {
      takePart: async (part, values) => {
        this.collector.addBinary(part);
        await takePart(part, values);
      },
      takeNames: this.#alone ? takeNames : (lines) => this.#collectNames(path, lines),
      float64: float64 !== undefined,
    };
  }

  #collectNames(path: string, lines: Uint8Array): void {
    if (this.#options.takeNames) this.#names.add(path, lines);
  }

  #isSmall(bytes: number): boolean {
    return bytes < (this.#runner.worthwhile ?? smallInput) && !this.#options.blockSize;
  }

  /** Reports progress: bytes of the current piece. */
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

function isParquet(head: Uint8Array): boolean {
  return head[0] === 0x50 && head[1] === 0x41 && head[2] === 0x52 && head[3] === 0x31;
}

function holds({ start, end }: Piece, position: number): boolean {
  return start <= position && position < end;
}

function clipped({ file, start, end }: Piece): [number, number] {
  return [Math.max(0, start), Math.min(file.size, end)];
}

function bytesOf(piece: Piece): number {
  const [from, to] = clipped(piece);
  return Math.max(0, to - from);
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(guessedBytes), 0, guessedBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function isEmpty(text: Uint8Array): boolean {
  return text.every((byte) => byte === 10 || byte === 13 || byte === 32);
}
