import { DataError, UsageError } from '../../errors.ts';
import type { TextFormat } from '../text/formats.ts';
import { BlockPool, type ByteChunks, lineBlocks, peekUntil } from './byte-blocks.ts';
import { type Collector, LinePosition } from './collector.ts';
import type { PartsOptions } from './pieces.ts';
import {
  type NamedOutcome,
  type NamedPayload,
  type TaskQueue,
  type TaskRunner,
  withoutMark,
} from './tasks.ts';

/** What the first file has decided for the others. */
interface FirstFile {
  readonly format: string;
  readonly name: string;
  readonly plan: unknown;
}

export interface NamedText {
  readonly chunks: ByteChunks;
  readonly name: string;
  readonly format: TextFormat;
  readonly blockSize: number;
  readonly runner: TaskRunner;
}

/** Reads files whose columns have names, one after the other, and hands on rows with numbers. */
export class NamedReader {
  readonly #options: PartsOptions;
  readonly #collector: Collector;
  readonly #queue: TaskQueue;
  #first: FirstFile | undefined;

  constructor(options: PartsOptions, collector: Collector, queue: TaskQueue) {
    this.#options = options;
    this.#collector = collector;
    this.#queue = queue;
  }

  /** Text: this thread cuts it into blocks of whole records, which are parsed on all threads. */
  async readText({ chunks, name, format, blockSize, runner }: NamedText): Promise<void> {
    const { enough, lastRecordEnd, headRecords } = format;
    const { head, whole, chunks: all } = await peekUntil(chunks, enough);
    const sample = withoutMark(whole ? head : head.subarray(0, lastRecordEnd(head)));
    // A file without a record has no columns either.
    if (whole && isEmpty(sample)) return;
    const plan = this.#plan(sample, name, format);
    const pool = new BlockPool(blockSize);
    const position = new LinePosition(name);
    let first = true;
    let headed = headRecords(this.#options);
    for await (const bytes of lineBlocks(all, pool, lastRecordEnd)) {
      // Blank lines in front of the header may be a block of their own.
      const skipped = isEmpty(first ? withoutMark(bytes) : bytes) ? 0 : headed;
      headed -= skipped;
      const payload: NamedPayload = { bytes, first, skipped, format: format.name, plan };
      const parse = () =>
        runner.run<NamedOutcome>('parse-named', payload).finally(() => pool.release(bytes));
      await this.#queue.run(parse, (outcome) => this.#take(position, name, outcome));
      first = false;
    }
  }

  async #take(position: LinePosition, name: string, outcome: NamedOutcome): Promise<void> {
    const rows = await position.rowsOf(outcome);
    if (rows.labels.length === 0) return;
    await this.#options.takePart(this.#collector.addNamed(rows, name));
  }

  #plan(sample: Uint8Array, name: string, format: TextFormat): unknown {
    this.checkFormat(format.title, name);
    if (this.#first) {
      const { plan } = this.#first;
      return format.planNext?.(sample, name, this.#options, plan) ?? plan;
    }
    const plan = format.plan(sample, name, this.#options);
    const recipe = format.recipe(plan, this.#options);
    if (recipe) this.#collector.recipe = recipe;
    this.#collector.notices.push(...format.notices(plan, this.#options));
    this.#first = { format: format.title, name, plan };
    return plan;
  }

  checkFormat(format: string, name: string): void {
    checkNamedFormat(this.#options, name, format);
    if (!this.#first || this.#first.format === format) return;
    const other = `${this.#first.name} is ${this.#first.format}`;
    throw new DataError(`${name}: ${format}, but ${other}; expected files of one format`);
  }
}

/** Whether the options can be met by a format whose columns have names. */
export function checkNamedFormat(options: PartsOptions, name: string, format: string): void {
  const { like, isShare, wide } = options;
  if (isShare) {
    throw new UsageError(
      `${name}: ${format} has names for columns, which several processes cannot number alike; convert it first (dso convert DATA -o data.dsob)`,
    );
  }
  if (wide === 'all') {
    throw new DataError(`${name}: float64 values are kept of LIBSVM text alone; this is ${format}`);
  }
  if (like && !like.featureNames && like.recipe?.hashBits === undefined) {
    throw new DataError(
      `${name}: ${format} has names for columns, but the training data had numbers; expected LIBSVM text or .dsob`,
    );
  }
}

function isEmpty(text: Uint8Array): boolean {
  return text.every((byte) => byte === 10 || byte === 13 || byte === 32);
}
