import { readSection } from '../binary/tasks.ts';
import { type FileRange, readLines } from '../file-range.ts';
import type { TaskRunner } from '../runner.ts';
import { type CsvPlan, parseCsv, type TextRows } from '../text/csv.ts';
import { parseJsonLines } from '../text/json-lines.ts';
import type { ObjectPlan } from '../text/json-plan.ts';
import { type LibsvmOptions, type ParsedChunk, parseLibsvm } from '../text/libsvm.ts';
import { parseVowpal, type VowpalPlan } from '../text/vowpal.ts';
import { wideValues } from '../text/wide-values.ts';
import { LineError } from './line-error.ts';

/** What a task answers. Errors travel as data: the reader alone knows which of them comes first. */
export type ParseOutcome =
  | {
      readonly chunk: ParsedChunk;
      /** The values as float64, where asked for. */
      readonly wide?: Float64Array;
    }
  | Fault;

export type Fault =
  /** A line, counted from 1 at the start of the task's text, that cannot be read. */
  | { readonly line: number; readonly message: string }
  /** The text itself could not be had. */
  | { readonly failure: string };

export type NamedOutcome = TextRows | Fault;

export type TextPlan =
  | { readonly format: 'csv'; readonly plan: CsvPlan }
  | { readonly format: 'jsonl'; readonly plan: ObjectPlan }
  | { readonly format: 'vw'; readonly plan: VowpalPlan };

export interface NamedPayload {
  /** Whole records. */
  readonly bytes: Uint8Array;
  /** Whether these are the first bytes of the input … */
  readonly first: boolean;
  /** … and how many of its records are no rows. */
  readonly skipped: number;
  readonly text: TextPlan;
}

export interface ParseOptions extends LibsvmOptions {
  /** Whether values are wanted as float64 as well. */
  readonly wide?: boolean;
}

export interface RangePayload extends FileRange {
  readonly options: ParseOptions;
}

export interface BytesPayload {
  /** Whole lines. */
  readonly bytes: Uint8Array;
  /** Whether these are the first bytes of the input. */
  readonly first: boolean;
  readonly options: ParseOptions;
}

function parseRange(payload: RangePayload): ParseOutcome {
  return outcomeOf(() => {
    const lines = readLines(payload);
    return parse(payload.start === 0 ? withoutMark(lines) : lines, payload.options);
  });
}

function parseBytes({ bytes, first, options }: BytesPayload): ParseOutcome {
  return outcomeOf(() => parse(first ? withoutMark(bytes) : bytes, options));
}

function parse(text: Uint8Array, options: ParseOptions): ParseOutcome {
  const chunk = parseLibsvm(text, options);
  if (!options.wide) return { chunk };
  return { chunk, wide: wideValues(text, chunk, options.zeroBased ?? false) };
}

function parseNamed({ bytes, first, skipped, text }: NamedPayload): NamedOutcome {
  return outcomeOf(() => {
    const records = first ? withoutMark(bytes) : bytes;
    if (text.format === 'csv') return parseCsv(records, text.plan, skipped);
    if (text.format === 'jsonl') return parseJsonLines(records, text.plan);
    return parseVowpal(records, text.plan);
  });
}

function outcomeOf<Outcome>(read: () => Outcome): Outcome | Fault {
  try {
    return read();
  } catch (error) {
    if (error instanceof LineError) return { line: error.line, message: error.message };
    return { failure: (error as Error).message };
  }
}

/** Editors on Windows put a byte order mark in front of UTF-8. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return marked ? bytes.subarray(3) : bytes;
}

/** The tasks that `readDataset` hands to a runner, by name, for worker threads to register. */
// biome-ignore lint/suspicious/noExplicitAny: every task knows its own payload
export const parseTasks: Record<string, (payload: any) => unknown> = {
  'parse-range': parseRange,
  'parse-bytes': parseBytes,
  'parse-named': parseNamed,
  'read-section': readSection,
};

/** Runs the tasks in the calling thread. */
export const inlineRunner: TaskRunner = {
  threads: 1,
  run: async <Result>(task: string, payload: unknown) => parseTasks[task](payload) as Result,
};
