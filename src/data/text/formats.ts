import type { Recipe } from '../dataset.ts';
import {
  type FieldOptions,
  type FormatName,
  isLabelOptional,
  recipeOf,
} from '../fields/options.ts';
import type { NamedRows } from '../fields/row-builder.ts';
import { planNotices } from '../fields/table-plan.ts';
import { countLines, lastLineEnd } from '../read/byte-blocks.ts';
import { type CsvPlan, parseCsv, planCsv, planNextCsv, sampledRecords } from './csv.ts';
import { type ObjectPlan, objectNotice, parseJsonLines, planObjects } from './json-lines.ts';
import {
  hasTextLabels,
  type LibsvmOptions,
  type ParsedChunk,
  type ParseOptions,
} from './libsvm.ts';
import { readLibsvm } from './libsvm-reader.ts';
import { lastRecordEnd, longestRecord, recordEnds, textOf } from './records.ts';
import { parseVowpal, type VowpalPlan } from './vowpal.ts';

export interface ParsedText {
  readonly rows: NamedRows | ParsedChunk;
  readonly lines: number;
  /** Where columns have numbers: how many these rows know of. */
  readonly columns?: number;
}

/**
 * A format of text: all that readers, streams and guessing have to know of it. A plan says how the
 * records are read; it is plain data, which threads receive.
 */
export interface TextFormat<Plan = unknown> {
  readonly name: FormatName;
  readonly title: string;
  /** Endings of file names. */
  readonly endings: readonly string[];
  /** Whether columns have names; otherwise they have numbers. */
  readonly named: boolean;
  /** Whether the first line of a file looks like this format. */
  looksLike(line: string): boolean;
  /** Whether the beginning of a file is enough for a plan. */
  enough(head: Uint8Array): boolean;
  /** Where the last whole record of a block ends; 0 if there is none. */
  lastRecordEnd(block: Uint8Array): number;
  /** Records in front of the first row. */
  headRecords(options: FieldOptions): number;
  /** `head` has whole records of the file `file`. */
  plan(head: Uint8Array, file: string, options: FieldOptions & LibsvmOptions): Plan;
  /** The plan of a further file, where that is not the plan of the first one. */
  planNext?(head: Uint8Array, file: string, options: FieldOptions, first: Plan): Plan;
  /** Reads whole records, into which it may write; throws a LineError. */
  parse(bytes: Uint8Array, plan: Plan, skipped: number): ParsedText;
  recipe(plan: Plan, options: FieldOptions): Recipe | undefined;
  notices(plan: Plan, options: FieldOptions): string[];
}

/** The first records are sampled, but no more than this many bytes. */
const sampledBytes = 1 << 24;

const jsonLines: TextFormat<ObjectPlan> = {
  name: 'jsonl',
  title: 'JSON lines',
  endings: ['jsonl', 'ndjson', 'json'],
  named: true,
  looksLike: (line) => /^\s*[{[]/.test(line),
  enough: hasLines,
  lastRecordEnd: lastLineEnd,
  headRecords: () => 0,
  plan: planObjects,
  parse: parseJsonLines,
  recipe: ({ fields }, options) => recipeOf(options, fields),
  notices: (plan) => [`read as JSON lines: ${objectNotice(plan)}`],
};

const libsvm: TextFormat<ParseOptions> = {
  name: 'libsvm',
  title: 'LIBSVM text',
  endings: ['svm', 'libsvm'],
  named: false,
  looksLike: (line) => /^\s*[^\s:#|]*\s+(?:\d+|qid):[^\s|]*(?:\s|$)/.test(line),
  enough: () => true,
  lastRecordEnd: lastLineEnd,
  headRecords: () => 0,
  plan: (head, _, { zeroBased = false, sumDuplicates = false, textLabels }) => {
    const line = firstLine(head) ?? '';
    return { zeroBased, sumDuplicates, textLabels: textLabels ?? hasTextLabels(line) };
  },
  parse: (bytes, plan) => {
    const rows = readLibsvm(bytes, plan);
    return { rows, lines: rows.lines, columns: rows.maxIndex + 1 };
  },
  recipe: () => undefined,
  notices: () => [],
};

const vowpal: TextFormat<VowpalPlan> = {
  name: 'vw',
  title: 'Vowpal Wabbit text',
  endings: ['vw'],
  named: true,
  looksLike: (line) => /^\s*(?:[-+.\deE]+\s+){0,3}(?:'\S*\s*|[^\s|,;\t]*)\|/.test(line),
  enough: () => true,
  lastRecordEnd: lastLineEnd,
  headRecords: () => 0,
  plan: (_, _file, options) => {
    const { textLabels = false } = options;
    return { labelOptional: isLabelOptional(options), textLabels };
  },
  parse: parseVowpal,
  recipe: (_, options) => recipeOf(options),
  notices: () => ['read as Vowpal Wabbit text'],
};

function separated(name: 'csv' | 'tsv', looksLike: (line: string) => boolean): TextFormat<CsvPlan> {
  const title = name.toUpperCase();
  return {
    name,
    title,
    endings: [name],
    named: true,
    looksLike,
    enough: hasRecords,
    lastRecordEnd,
    headRecords: ({ header = true }) => (header ? 1 : 0),
    plan: (head, file, options) => planCsv(head, file, { ...options, format: name }),
    planNext: (head, file, options, first) =>
      planNextCsv(head, file, { ...options, format: name }, first),
    parse: parseCsv,
    recipe: ({ fields }, options) => recipeOf(options, fields),
    notices: (plan, options) => planNotices(plan, title, options),
  };
}

/** All formats of text, in the order in which a line is compared with them. */
// biome-ignore lint/suspicious/noExplicitAny: every format knows its own plan
export const textFormats: readonly TextFormat<any>[] = [
  jsonLines,
  libsvm,
  vowpal,
  separated('csv', (line) => /[,;\t]/.test(line)),
  separated('tsv', () => false),
];

/** Undefined for a format that is not text. */
export function textFormat(name?: FormatName): (typeof textFormats)[number] | undefined {
  return textFormats.find((format) => format.name === name);
}

/** At most this many bytes are searched for the first line. */
export const guessedBytes = 1 << 16;

/** The format that a name promises, compressed or not. */
export function formatOfName(path: string): FormatName | undefined {
  const ending = /\.([a-z]+)(?:\.gz|\.zst)?$/i.exec(path)?.[1].toLowerCase() ?? '';
  if (ending === 'parquet' || ending === 'dsob') return ending;
  return textFormats.find(({ endings }) => endings.includes(ending))?.name;
}

/** What the first line of data looks like; LIBSVM where it looks like nothing. */
export function formatOfText(head: Uint8Array): FormatName {
  const line = firstLine(head) ?? '';
  return (textFormats.find(({ looksLike }) => looksLike(line)) ?? libsvm).name;
}

/** Whether the first line of data is complete. */
export function hasFirstLine(head: Uint8Array): boolean {
  return head.length >= guessedBytes || firstLine(head, true) !== undefined;
}

/**
 * The first line that is neither blank nor a comment; the last one of `head` may lack a part of it,
 * unless it has to be `whole`.
 */
function firstLine(head: Uint8Array, whole = false): string | undefined {
  const lines = textOf(head, 0, head.length)
    .replace(/^\ufeff/, '')
    .split('\n');
  if (whole) lines.pop();
  return lines.find((line) => line.trim() !== '' && !/^\s*#/.test(line));
}

function hasRecords(head: Uint8Array): boolean {
  const { records } = recordEnds(head, sampledRecords + 1);
  // A header may be longer than the sample.
  const limit = records > 0 ? sampledBytes : longestRecord;
  return records > sampledRecords || head.length >= limit;
}

function hasLines(head: Uint8Array): boolean {
  return head.length >= sampledBytes || countLines(head) >= sampledRecords;
}
