import { DataError, UsageError } from '../errors.ts';
import { type FormatName, isLabelOptional, recipeOf } from './fields/options.ts';
import { planNotices, planTable, type TablePlan } from './fields/table-plan.ts';
import { BlockPool, lastLineEnd, lineBlocks } from './line-blocks.ts';
import { peekUntil } from './peek.ts';
import type { ByteChunks } from './read/byte-blocks.ts';
import { type Collector, TextPlace } from './read/collector.ts';
import type { PartsOptions } from './read/options.ts';
import { type NamedOutcome, type NamedPayload, type TextPlan, withoutMark } from './read/tasks.ts';
import type { RecipeField } from './recipe.ts';
import type { TaskRunner } from './runner.ts';
import type { TaskQueue } from './task-queue.ts';
import { type CsvHead, readCsvHead, sampledRecords } from './text/csv-head.ts';
import { objectFields, planObjects } from './text/json-plan.ts';
import { lastRecordEnd, longestRecord, recordEnds } from './text/record-ends.ts';

/** The first records are looked at, but no more than so many bytes. */
const sampledBytes = 1 << 24;

const newline = 10;

interface Cuts {
  /** Whether the beginning of a file tells how to read it. */
  isEnough(head: Uint8Array): boolean;
  /** Where the last whole record ends. */
  lastEnd(block: Uint8Array): number;
}

const cuts: Readonly<Record<string, Cuts>> = {
  csv: { isEnough: hasRecords, lastEnd: lastRecordEnd },
  jsonl: { isEnough: hasLines, lastEnd: lastLineEnd },
  // Every line tells all about itself.
  vw: { isEnough: () => true, lastEnd: lastLineEnd },
};

const titles: Readonly<Record<string, string>> = {
  csv: 'CSV',
  tsv: 'TSV',
  jsonl: 'JSON lines',
  vw: 'Vowpal Wabbit text',
  parquet: 'Parquet',
};

/** What the first file has settled for the others. */
interface Settled {
  readonly format: string;
  readonly name: string;
  /** The columns, where they are the same in all records. */
  readonly names?: readonly string[];
  readonly plan: TextPlan | TablePlan;
}

export interface NamedText {
  readonly chunks: ByteChunks;
  readonly name: string;
  readonly format: FormatName;
  readonly blockSize: number;
  readonly runner: TaskRunner;
}

/** Reads files whose columns have names, one after the other, and hands on rows with numbers. */
export class NamedReader {
  readonly #options: PartsOptions;
  readonly #collector: Collector;
  readonly #queue: TaskQueue;
  #settled: Settled | undefined;

  constructor(options: PartsOptions, collector: Collector, queue: TaskQueue) {
    this.#options = options;
    this.#collector = collector;
    this.#queue = queue;
  }

  /** Text: this thread cuts it into blocks of whole records, which are parsed on all threads. */
  async readText({ chunks, name, format, blockSize, runner }: NamedText): Promise<void> {
    const { isEnough, lastEnd } = cuts[format] ?? cuts.csv;
    const { head, whole, chunks: all } = await peekUntil(chunks, isEnough);
    const sample = withoutMark(whole ? head : head.subarray(0, lastEnd(head)));
    // A file without a record has no columns either.
    if (whole && isEmpty(sample)) return;
    const text = this.#plan(sample, name, format);
    const isTable = text.format === 'csv';
    const pool = new BlockPool(blockSize);
    const place = new TextPlace(name);
    let first = true;
    let headed = isTable && (this.#options.header ?? true);
    for await (const bytes of lineBlocks(all, pool, lastEnd)) {
      // Blank lines in front of the header may be a block of their own.
      const skipped = headed && !isEmpty(first ? withoutMark(bytes) : bytes) ? 1 : 0;
      if (skipped > 0) headed = false;
      const payload: NamedPayload = { bytes, first, skipped, text };
      const parse = () =>
        runner.run<NamedOutcome>('parse-named', payload).finally(() => pool.release(bytes));
      await this.#queue.run(parse, (outcome) => this.#take(place, name, outcome));
      first = false;
    }
  }

  async #take(place: TextPlace, name: string, outcome: NamedOutcome): Promise<void> {
    const rows = await place.rowsOf(outcome);
    if (rows.labels.length === 0) return;
    await this.#options.takePart(explained(name, () => this.#collector.addNamed(rows)));
  }

  #plan(sample: Uint8Array, name: string, format: FormatName): TextPlan {
    this.checkFormat(format, name);
    if (format === 'jsonl') return this.#planObjects(sample, name);
    if (format === 'vw') return this.#planVowpal(name);
    const head = readCsvHead(sample, name, this.#options);
    const plan = this.#planTable(head, titles[format]);
    return { format: 'csv', plan: { ...plan, delimiter: head.delimiter } };
  }

  #planTable(head: CsvHead, format: string): TablePlan {
    const { title, names } = head;
    if (this.#settled) {
      this.#checkColumns(names, title);
      return this.#settled.plan as TablePlan;
    }
    const plan = planTable(head, this.#options);
    this.#settle({ format, name: title, names, plan }, plan.fields);
    this.#collector.notices.push(...planNotices(plan, format, this.#options));
    return plan;
  }

  #planObjects(sample: Uint8Array, name: string): TextPlan {
    if (this.#settled) return this.#settled.plan as TextPlan;
    const plan = planObjects(sample, name, this.#options);
    const text = { format: 'jsonl', plan } as const;
    this.#settle({ format: titles.jsonl, name, plan: text }, objectFields(plan));
    const weight = plan.roles.find(([, role]) => role === 'weight')?.[0];
    const label = plan.label === undefined ? 'no label' : `label ${JSON.stringify(plan.label)}`;
    const weighted = weight === undefined ? '' : `, weight ${JSON.stringify(weight)}`;
    this.#collector.notices.push(`read as ${titles.jsonl}: ${label}${weighted}`);
    return text;
  }

  #planVowpal(name: string): TextPlan {
    if (this.#settled) return this.#settled.plan as TextPlan;
    const { textLabels = false } = this.#options;
    const plan = { labelOptional: isLabelOptional(this.#options), textLabels };
    const text = { format: 'vw', plan } as const;
    this.#settle({ format: titles.vw, name, plan: text });
    this.#collector.notices.push(`read as ${titles.vw}`);
    return text;
  }

  #settle(settled: Settled, fields?: readonly RecipeField[]): void {
    this.#settled = settled;
    this.#collector.recipe = recipeOf(this.#options, fields);
  }

  /** Whether what the options want can be had of files of the format. */
  checkFormat(formatName: FormatName, name: string): void {
    const format = titles[formatName];
    const { like, isShare, wide } = this.#options;
    if (isShare) {
      throw new UsageError(
        `${name}: ${format} has names for columns, which several processes cannot number alike; convert it first (dso convert DATA -o data.dsob)`,
      );
    }
    if (wide === 'all') {
      throw new DataError(
        `${name}: float64 values are kept of LIBSVM text alone; this is ${format}`,
      );
    }
    if (like && !like.featureNames && like.recipe?.hashBits === undefined) {
      throw new DataError(
        `${name}: ${format} has names for columns, but the training data had numbers; expected LIBSVM text or .dsob`,
      );
    }
    if (!this.#settled || this.#settled.format === format) return;
    const other = `${this.#settled.name} is ${this.#settled.format}`;
    throw new DataError(`${name}: ${format}, but ${other}; expected files of one format`);
  }

  #checkColumns(names: readonly string[], title: string): void {
    const { names: wanted = [], name } = this.#settled!;
    const same = names.length === wanted.length && names.every((one, at) => one === wanted[at]);
    if (same) return;
    throw new DataError(
      `${title}: its columns are not those of ${name}; expected the same in all files`,
    );
  }
}

function hasRecords(head: Uint8Array): boolean {
  const { records } = recordEnds(head, sampledRecords + 1);
  // A header may be longer than the sample.
  const limit = records > 0 ? sampledBytes : longestRecord;
  return records > sampledRecords || head.length >= limit;
}

function hasLines(head: Uint8Array): boolean {
  let lines = 0;
  for (let place = head.indexOf(newline); place >= 0; place = head.indexOf(newline, place + 1)) {
    lines += 1;
    if (lines === sampledRecords) return true;
  }
  return head.length >= sampledBytes;
}

function isEmpty(text: Uint8Array): boolean {
  return text.every((byte) => byte === 10 || byte === 13 || byte === 32);
}

/** Errors that do not know where they happened. */
function explained<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    throw new DataError(`${name}: ${error.message}`, { cause: error });
  }
}
