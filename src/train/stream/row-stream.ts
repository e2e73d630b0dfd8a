import type { DatasetPart, Recipe } from '../../data/dataset.ts';
import { LabelList } from '../../data/fields/label-list.ts';
import type { FieldOptions } from '../../data/fields/options.ts';
import { Assembler } from '../../data/fields/vocabulary.ts';
import { checkPositive, isFirstPositive, type Label } from '../../data/labels.ts';
import { type ByteChunks, lineTooLong, longestLine } from '../../data/read/byte-blocks.ts';
import { LineError } from '../../data/read/line-error.ts';
import { withoutMark } from '../../data/read/tasks.ts';
import {
  formatOfName,
  formatOfText,
  hasFirstLine,
  type TextFormat,
  textFormat,
  textFormats,
} from '../../data/text/formats.ts';
import type { LibsvmOptions } from '../../data/text/libsvm.ts';
import { recordEnds } from '../../data/text/records.ts';
import { DataError, UsageError } from '../../errors.ts';

const newline = 10;

export type StreamOptions = FieldOptions &
  LibsvmOptions & {
    /** Bytes of a record; default: 500 MiB. */
    readonly longestLine?: number;
  };

/** Rows that came together; labels are numbers or, with `labelTexts`, indices of that list. */
export interface RowBlock extends DatasetPart {
  readonly labelTexts?: readonly string[];
}

/**
 * Rows of text that comes slowly or never ends. Whole records are passed on at once, so a row does
 * not wait for the next one. Where the text is cut in transit has no effect on the rows: the first
 * record alone decides about columns.
 */
export class RowStream {
  readonly #name: string;
  readonly #options: StreamOptions;
  readonly #onNotice: ((message: string) => void) | undefined;
  readonly #assembler: Assembler;
  #beginning: Beginning | undefined;
  #rest: Uint8Array = new Uint8Array(0);
  /** What follows without a line end. */
  #held: Uint8Array[] = [];
  #lines = 0;
  #columns = 0;

  /** `onNotice`: what users should know of the format. */
  constructor(name: string, options: StreamOptions, onNotice?: (message: string) => void) {
    this.#name = name;
    this.#options = options;
    this.#onNotice = onNotice;
    // Labels are looked at row by row, so this list is never filled.
    this.#assembler = new Assembler(options, new LabelList(undefined, false, true));
  }

  get columns(): number {
    return Math.max(this.#columns, this.#assembler.vocabulary.columns);
  }

  /** The names so far; more may follow. */
  get featureNames(): readonly string[] | undefined {
    return this.#beginning?.format.named ? this.#assembler.vocabulary.featureNames : undefined;
  }

  get recipe(): Recipe | undefined {
    const { format, plan } = this.#beginning ?? {};
    return format?.recipe(plan, this.#options);
  }

  async *blocks(chunks: ByteChunks): AsyncGenerator<RowBlock> {
    const { longestLine: longest = longestLine } = this.#options;
    let length = 0;
    for await (const chunk of chunks) {
      this.#held.push(chunk);
      length += chunk.length;
      // Putting a long line together again and again would take time in proportion to its square.
      if (chunk.includes(newline)) {
        this.#join();
        yield* this.#take(false);
        length = this.#rest.length;
      }
      if (length <= longest) continue;
      throw new DataError(`${this.#name}:${this.#lines + 1}: ${lineTooLong(longest)}`);
    }
    this.#join();
    yield* this.#take(true);
  }

  #join(): void {
    const pieces = this.#rest.length === 0 ? this.#held : [this.#rest, ...this.#held];
    this.#rest = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    this.#held = [];
  }

  *#take(atEnd: boolean): Generator<RowBlock> {
    this.#beginning ??= this.#begin(atEnd);
    if (!this.#beginning) return;
    const { lastRecordEnd } = this.#beginning.format;
    const end = atEnd ? this.#rest.length : lastRecordEnd(this.#rest);
    if (end === 0) return;
    const text = this.#rest.subarray(0, end);
    this.#rest = this.#rest.subarray(end);
    yield* this.#rows(this.#beginning, text);
  }

  /** Undefined while too little is known. */
  #begin(atEnd: boolean): Beginning | undefined {
    const beginning = beginningOf(this.#rest, atEnd, this.#name, this.#options);
    if (!beginning) return undefined;
    const { format, plan, skipped, lines } = beginning;
    this.#rest = this.#rest.subarray(skipped);
    this.#lines = lines;
    const [notice] = format.notices(plan, this.#options);
    if (notice) this.#onNotice?.(`${notice.replace(/^read as /, '')} (by the first row)`);
    return beginning;
  }

  /** Rows before a line that cannot be read are learned from, however the text was cut. */
  *#rows(beginning: Beginning, text: Uint8Array): Generator<RowBlock> {
    try {
      yield* this.#parsed(beginning, text);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      const before = text.subarray(0, startOfLine(text, error.line));
      const whole = before.subarray(0, beginning.format.lastRecordEnd(before));
      const line = this.#lines + error.line;
      if (whole.length > 0) yield* this.#parsed(beginning, whole);
      throw new DataError(`${this.#name}:${line}: ${error.message}`, { cause: error });
    }
  }

  *#parsed({ format, plan }: Beginning, text: Uint8Array): Generator<RowBlock> {
    // Parsers may write into the text, which may be needed again.
    const { rows, lines, columns = 0 } = format.parse(new Uint8Array(text), plan, 0);
    this.#lines += lines;
    this.#columns = Math.max(this.#columns, columns);
    if (rows.labels.length === 0) return;
    const { labelTexts, ...unlabelled } = rows;
    const part =
      'names' in unlabelled
        ? withName(this.#name, () => this.#assembler.add(unlabelled))
        : unlabelled;
    yield { ...part, ...(labelTexts && { labelTexts }) };
  }
}

/** Errors of rows come without the name of the stream. */
export function withName<Result>(name: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    throw new DataError(`${name}: ${error.message}`, { cause: error });
  }
}

/** Where a line begins, counted from 1. */
function startOfLine(text: Uint8Array, line: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) start = text.indexOf(newline, start) + 1;
  return start;
}

interface Beginning {
  readonly format: TextFormat;
  readonly plan: unknown;
  /** Bytes in front of the first row, a line of names say, and the lines that they are. */
  readonly skipped: number;
  readonly lines: number;
}

/** What the first record shows; undefined as long as it is not all there. */
function beginningOf(
  text: Uint8Array,
  atEnd: boolean,
  name: string,
  options: StreamOptions,
): Beginning | undefined {
  if (!atEnd && !hasFirstLine(text)) return undefined;
  const formatName = options.format ?? formatOfName(name) ?? formatOfText(text);
  const format = textFormat(formatName);
  if (!format) {
    const titles = textFormats.map(({ title }) => title).join(', ');
    throw new UsageError(
      `${name}: ${formatName} is not read line by line; --progressive reads ${titles}`,
    );
  }
  const headed = format.headRecords(options);
  const first = endOfRecords(text, headed + 1);
  if (!atEnd && first === 0) return undefined;
  const records = withoutMark(first > 0 ? text.subarray(0, first) : text);
  const plan = format.plan(records, name, options);
  const skipped = headed > 0 ? endOfRecords(records, headed) || records.length : 0;
  return {
    format,
    plan,
    skipped: text.length - withoutMark(text).length + skipped,
    lines: records.subarray(0, skipped).filter((byte) => byte === newline).length,
  };
}

/** Behind the first `count` records that are not blank; 0 if there are fewer. */
function endOfRecords(text: Uint8Array, count: number): number {
  let found = 0;
  let position = 0;
  while (found < count) {
    const { end } = recordEnds(text.subarray(position), 1);
    if (end === 0) return 0;
    const record = text.subarray(position, position + end);
    if (!record.every((byte) => byte === newline || byte === 13 || byte === 32)) found += 1;
    position += end;
  }
  return position;
}

/** The items of an iterator, which is awaited with a timeout and until a signal. */
export class CancellableIterator<Item> {
  readonly #iterator: AsyncIterator<Item>;
  readonly #stopped: Promise<'end'>;
  #pending: Promise<Item | 'end'> | undefined;

  /** The signal ends the waiting; the iterator is left as it is. */
  constructor(items: AsyncIterable<Item>, signal?: AbortSignal) {
    this.#iterator = items[Symbol.asyncIterator]();
    this.#stopped = new Promise((resolve) => {
      if (signal?.aborted) resolve('end');
      signal?.addEventListener('abort', () => resolve('end'), { once: true });
    });
  }

  /** The next item, or `late` if it takes more than `timeout` milliseconds: it is still awaited. */
  async next(timeout = Infinity): Promise<Item | 'end' | 'late'> {
    this.#pending ??= this.#iterator.next().then(({ done, value }) => (done ? 'end' : value));
    // Once the signal has come, nothing awaits it any more.
    this.#pending.catch(() => {});
    const late = Promise.withResolvers<'late'>();
    const timer = timeout < Infinity ? setTimeout(late.resolve, timeout, 'late') : undefined;
    try {
      const found = await Promise.race([this.#stopped, this.#pending, late.promise]);
      if (found !== 'late') this.#pending = undefined;
      return found;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Rows whose labels decide which of two classes is the positive one, unless their names do. */
const deciding = 1000;

/** The two classes of a stream, as they appear. */
export class BinaryLabels {
  /** In the order they were met, which is also +1 and −1. */
  readonly #labels: Label[] = [];
  readonly #counts: [number, number] = [0, 0];
  readonly #wanted: Label | undefined;
  /** Whether the label that came first is the model's negative class. */
  isReversed = false;

  constructor(positive?: Label) {
    this.#wanted = positive;
  }

  /** +1 for the label that came first, −1 for the other one; `row` counts from 1. */
  targetOf(label: Label, row: number): 1 | -1 {
    const known = this.#labels.findIndex((one) => String(one) === String(label));
    const index = known < 0 ? this.count : known;
    if (index === 2) {
      const [first, second] = this.#labels.map(shown);
      throw new DataError(
        `row ${row} has label ${shown(label)}, the third after ${first} and ${second}; learning from a stream expects two classes (a regression loss such as --loss square takes any number)`,
      );
    }
    // A number that is met as a text too is a text.
    const isNew = known < 0 || typeof label === 'string';
    if (isNew) this.#labels[index] = label;
    if (known < 0 && this.count === 2) checkPositive(this.#wanted, this.#labels);
    const counted = this.#counts[0] + this.#counts[1] < deciding;
    if (counted) this.#counts[index] += 1;
    if (isNew || counted) this.isReversed = this.count === 2 && !this.#isFirstPositive;
    return index === 0 ? 1 : -1;
  }

  /** How many have been met. */
  get count(): number {
    return this.#labels.length;
  }

  /** As a model has them: the negative one first. */
  get classes(): readonly [Label, Label] {
    const areNumbers = this.#labels.every((label) => typeof label === 'number');
    const [first, second] = areNumbers ? this.#labels : this.#labels.map(String);
    return this.#isFirstPositive ? [second, first] : [first, second];
  }

  /** Of labels that are as frequent as each other the later one in order is positive. */
  get #isFirstPositive(): boolean {
    const [first, second] = this.#labels;
    const areNumbers = typeof first === 'number' && typeof second === 'number';
    const isOrdered = areNumbers ? first < second : String(first) < String(second);
    const [rows, others] = this.#counts;
    return isOrdered
      ? isFirstPositive([first, second], [rows, others], this.#wanted)
      : !isFirstPositive([second, first], [others, rows], this.#wanted);
  }

  /** Why a stream that has ended with fewer than two makes no model. */
  get problem(): string {
    const found = this.count === 0 ? 'no labels' : `all labels are ${this.#labels[0]}`;
    return `${found}; classification needs two classes`;
  }
}

/** A text in quotes: it may hold commas and line ends. */
function shown(label: Label): string {
  return typeof label === 'string' ? JSON.stringify(label) : String(label);
}
