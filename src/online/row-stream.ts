import type { DatasetPart } from '../data/dataset.ts';
import { Assembler } from '../data/fields/assembler.ts';
import { LabelList } from '../data/fields/label-list.ts';
import type { NamedRows } from '../data/fields/named-rows.ts';
import type { FieldOptions } from '../data/fields/options.ts';
import type { ByteChunks } from '../data/read/byte-blocks.ts';
import { LineError } from '../data/read/line-error.ts';
import type { Recipe } from '../data/recipe.ts';
import type { LibsvmOptions } from '../data/text/libsvm.ts';
import { DataError } from '../errors.ts';
import { beginningOf, type TextFormat } from './text-format.ts';

export type StreamOptions = FieldOptions & LibsvmOptions;

/** Rows that came together; labels are numbers or, with `labelTexts`, places in that list. */
export interface RowBlock extends DatasetPart {
  readonly labelTexts?: readonly string[];
}

/**
 * Rows of text that comes slowly or never ends. Whole records are handed on as soon as they are
 * there, so a row does not wait for the next one. Where the text is cut in transit has no effect on
 * the rows: what decides about columns is the first record alone.
 */
export class RowStream {
  /** What a person should know of the format. */
  readonly notices: string[] = [];
  readonly #name: string;
  readonly #options: StreamOptions;
  readonly #assembler: Assembler;
  #format: TextFormat | undefined;
  #rest: Uint8Array = new Uint8Array(0);
  #lines = 0;
  #columns = 0;

  constructor(name: string, options: StreamOptions) {
    this.#name = name;
    this.#options = options;
    // Labels are looked at row by row, so this list is never filled.
    this.#assembler = new Assembler(options, new LabelList(undefined, false, true));
  }

  get columns(): number {
    return Math.max(this.#columns, this.#assembler.vocabulary.columns);
  }

  /** The names so far; more may follow. */
  get featureNames(): readonly string[] | undefined {
    return this.#format?.named ? this.#assembler.vocabulary.featureNames : undefined;
  }

  get recipe(): Recipe | undefined {
    return this.#format?.recipe;
  }

  async *blocks(chunks: ByteChunks): AsyncGenerator<RowBlock> {
    for await (const chunk of chunks) {
      this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      yield* this.#take(false);
    }
    yield* this.#take(true);
  }

  *#take(atEnd: boolean): Generator<RowBlock> {
    const format = this.#formatOf(atEnd);
    if (!format) return;
    const end = atEnd ? this.#rest.length : format.lastEnd(this.#rest);
    if (end === 0) return;
    const text = this.#rest.subarray(0, end);
    this.#rest = this.#rest.subarray(end);
    yield* this.#rows(format, text);
  }

  /** Undefined while too little is known. */
  #formatOf(atEnd: boolean): TextFormat | undefined {
    if (this.#format) return this.#format;
    const beginning = beginningOf(this.#rest, atEnd, this.#name, this.#options);
    if (!beginning) return undefined;
    this.#format = beginning.format;
    this.#rest = this.#rest.subarray(beginning.skipped);
    this.#lines = beginning.lines;
    if (beginning.notice) this.notices.push(beginning.notice);
    return this.#format;
  }

  /** In front of a line that cannot be read, rows are learned from, however the text was cut. */
  *#rows(format: TextFormat, text: Uint8Array): Generator<RowBlock> {
    try {
      yield* this.#parsed(format, text);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      const before = text.subarray(0, startOfLine(text, error.line));
      const whole = before.subarray(0, format.lastEnd(before));
      const line = this.#lines + error.line;
      if (whole.length > 0) yield* this.#parsed(format, whole);
      throw new DataError(`${this.#name}:${line}: ${error.message}`, { cause: error });
    }
  }

  *#parsed(format: TextFormat, text: Uint8Array): Generator<RowBlock> {
    // Parsers may write into the text, which may be needed again.
    const { rows, lines, columns = 0 } = format.parse(new Uint8Array(text));
    this.#lines += lines;
    this.#columns = Math.max(this.#columns, columns);
    if (rows.labels.length === 0) return;
    const { labelTexts, ...unlabelled } = rows;
    const part = 'names' in unlabelled ? this.#assembled(unlabelled) : unlabelled;
    yield { ...part, ...(labelTexts && { labelTexts }) };
  }

  #assembled(rows: NamedRows): DatasetPart {
    try {
      return this.#assembler.add(rows);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      throw new DataError(`${this.#name}: ${error.message}`, { cause: error });
    }
  }
}

const newline = 10;

/** Where a line begins, counted from 1. */
function startOfLine(text: Uint8Array, line: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) start = text.indexOf(newline, start) + 1;
  return start;
}
