import type { DatasetPart } from '../data/dataset.ts';
import type { NamedRows } from '../data/fields/named-rows.ts';
import type { FormatName } from '../data/fields/options.ts';
import { planNotices, planTable } from '../data/fields/table-plan.ts';
import { lastLineEnd } from '../data/line-blocks.ts';
import { withoutMark } from '../data/read/tasks.ts';
import type { Recipe, RecipeField } from '../data/recipe.ts';
import { parseCsv } from '../data/text/csv.ts';
import { readCsvHead } from '../data/text/csv-head.ts';
import { formatOfName, formatOfText, hasTextLabels, tellsFormat } from '../data/text/format.ts';
import { parseJsonLines } from '../data/text/json-lines.ts';
import { objectFields, planObjects } from '../data/text/json-plan.ts';
import { parseLibsvm } from '../data/text/libsvm.ts';
import { lastRecordEnd, recordEnds } from '../data/text/record-ends.ts';
import { parseVowpal } from '../data/text/vowpal.ts';
import { UsageError } from '../errors.ts';
import type { StreamOptions } from './row-stream.ts';

export interface ParsedText {
  readonly rows: NamedRows | (DatasetPart & { readonly labelTexts?: readonly string[] });
  readonly lines: number;
  /** Where columns have numbers: how many these rows know of. */
  readonly columns?: number;
}

/** How the records of a stream are read. */
export interface TextFormat {
  readonly named: boolean;
  readonly recipe?: Recipe;
  /** Reads whole records, into which it may write; throws a LineError. */
  parse(text: Uint8Array): ParsedText;
  lastEnd(text: Uint8Array): number;
}

export interface Beginning {
  readonly format: TextFormat;
  /** Bytes in front of the first row, a line of names say, and the lines that they are. */
  readonly skipped: number;
  readonly lines: number;
  readonly notice?: string;
}

/** What the first record tells; undefined as long as it is not all there. */
export function beginningOf(
  text: Uint8Array,
  atEnd: boolean,
  name: string,
  options: StreamOptions,
): Beginning | undefined {
  if (!atEnd && !tellsFormat(text)) return undefined;
  const format = options.format ?? formatOfName(name) ?? formatOfText(text);
  const first = firstRecords(text, isTable(format) && (options.header ?? true) ? 2 : 1);
  if (!atEnd && first === 0) return undefined;
  const plain = withoutMark(first > 0 ? text.subarray(0, first) : text);
  const mark = text.length - withoutMark(text).length;
  switch (format) {
    case 'libsvm':
      return { format: libsvm(plain, options), skipped: mark, lines: 0 };
    case 'vw':
      return { format: vowpal(options), skipped: mark, lines: 0, notice: 'Vowpal Wabbit text' };
    case 'jsonl':
      return { ...objects(plain, name, options), skipped: mark, lines: 0 };
    case 'csv':
    case 'tsv':
      return table(plain, name, { ...options, format }, mark);
    default:
      throw new UsageError(
        `${name}: ${format} is not read line by line; --progressive reads LIBSVM, CSV, TSV, JSON lines and Vowpal Wabbit text`,
      );
  }
}

const isTable = (format: FormatName) => format === 'csv' || format === 'tsv';

/** Behind so many records that are not blank; 0 if there are fewer. */
function firstRecords(text: Uint8Array, count: number): number {
  let found = 0;
  let place = 0;
  while (found < count) {
    const { end } = recordEnds(text.subarray(place), 1);
    if (end === 0) return 0;
    if (!isBlank(text.subarray(place, place + end))) found += 1;
    place += end;
  }
  return place;
}

function isBlank(record: Uint8Array): boolean {
  return record.every((byte) => byte === 10 || byte === 13 || byte === 32);
}

function libsvm(first: Uint8Array, options: StreamOptions): TextFormat {
  const { zeroBased = false, sumDuplicates = false } = options;
  const textLabels = options.textLabels ?? hasTextLabels(first);
  return {
    named: false,
    lastEnd: lastLineEnd,
    parse(text) {
      const rows = parseLibsvm(text, { zeroBased, sumDuplicates, textLabels });
      return { rows, lines: rows.lines, columns: rows.maxIndex + 1 };
    },
  };
}

function vowpal({ textLabels = false, hashBits }: StreamOptions): TextFormat {
  const plan = { labelOptional: false, textLabels };
  return {
    named: true,
    recipe: hashBits === undefined ? {} : { hashBits },
    lastEnd: lastLineEnd,
    parse: (text) => parseVowpal(text, plan),
  };
}

function objects(
  first: Uint8Array,
  name: string,
  options: StreamOptions,
): Pick<Beginning, 'format' | 'notice'> {
  const plan = planObjects(first, name, options);
  const format: TextFormat = {
    named: true,
    recipe: recipeOf(objectFields(plan), options),
    lastEnd: lastLineEnd,
    parse: (text) => parseJsonLines(text, plan),
  };
  return { format, notice: `JSON lines, label ${JSON.stringify(plan.label)}` };
}

function table(first: Uint8Array, name: string, options: StreamOptions, mark: number): Beginning {
  const head = readCsvHead(first, name, options);
  const plan = { ...planTable(head, options), delimiter: head.delimiter };
  const header = options.header ?? true;
  const skipped = header ? Math.max(0, firstRecords(first, 1)) || first.length : 0;
  const title = options.format === 'tsv' ? 'TSV' : 'CSV';
  return {
    format: {
      named: true,
      recipe: recipeOf(plan.fields, options),
      lastEnd: lastRecordEnd,
      parse: (text) => parseCsv(text, plan, 0),
    },
    skipped: mark + skipped,
    lines: first.subarray(0, skipped).filter((byte) => byte === 10).length,
    notice: `${planNotices(plan, title, options)[0].replace(/^read as /, '')} (by the first row)`,
  };
}

function recipeOf(fields: readonly RecipeField[], { hashBits, missing }: StreamOptions): Recipe {
  return {
    ...(hashBits !== undefined && { hashBits }),
    fields,
    ...(missing !== undefined && { missing }),
  };
}
