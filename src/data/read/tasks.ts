import { readSection } from '../binary/read.ts';
import type { FormatName } from '../fields/options.ts';
import type { GroupPayload, OpenPayload } from '../tables/parquet-file.ts';
import { type ParsedText, type TextFormat, textFormat } from '../text/formats.ts';
import { type FileRange, lineTooLong, longestLine, readLines } from './byte-blocks.ts';
import { LineError } from './line-error.ts';

/** The result of a task. Errors are data: only the reader knows which one comes first. */
export type ParseOutcome = ParsedText | Fault;

export type Fault =
  /** A line, counted from 1 at the start of the task's text, that cannot be read … */
  | {
      readonly line: number;
      readonly message: string;
      /** … and the rows in front of it, which may have a fault that only the reader sees. */
      readonly before?: ParsedText | undefined;
    }
  /** The text could not be read. */
  | { readonly failure: string };

/** How the text of a task is read. */
export interface TextPlan {
  readonly format: FormatName;
  readonly plan: unknown;
}

export interface RangePayload extends FileRange, TextPlan {
  /** Bytes of a line. */
  readonly longest?: number | undefined;
}

export interface BytesPayload extends TextPlan {
  /** Whole records. */
  readonly bytes: Uint8Array;
  /** Whether these are the first bytes of the input … */
  readonly first: boolean;
  /** … and how many of its records are not rows. */
  readonly skipped: number;
}

function parseRange(payload: RangePayload): ParseOutcome {
  const { longest = longestLine } = payload;
  try {
    const { lines: bytes, cut } = readLines(payload, longest);
    const parsed = parseBytes({ ...payload, bytes, first: payload.start === 0, skipped: 0 });
    if (!cut || !('rows' in parsed)) return parsed;
    return { line: parsed.lines + 1, message: lineTooLong(longest), before: parsed };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

function parseBytes({ bytes, first, skipped, format, plan }: BytesPayload): ParseOutcome {
  const text = first ? withoutMark(bytes) : bytes;
  return parse(textFormat(format)!, text, plan, skipped);
}

function parse(
  format: TextFormat,
  bytes: Uint8Array,
  plan: unknown,
  skipped: number,
): ParseOutcome {
  try {
    return format.parse(bytes, plan, skipped);
  } catch (error) {
    if (!(error instanceof LineError)) return { failure: (error as Error).message };
    const { line, message } = error;
    // Some faults are looked for in front of others, some behind them, and how text is cut into tasks
    // must not show: the first one is what is found without the lines behind it.
    const end = format.lastRecordEnd(bytes.subarray(0, lineStart(bytes, line)));
    if (end === 0) return { line, message };
    const before = parse(format, bytes.subarray(0, end), plan, skipped);
    return 'rows' in before ? { line, message, before } : before;
  }
}

/** Where a line begins, counted from 1. */
function lineStart(bytes: Uint8Array, line: number): number {
  let start = 0;
  for (let before = line - 1; before > 0; before -= 1) start = bytes.indexOf(10, start) + 1;
  return start;
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
  'read-section': readSection,
  'parquet-open': async (payload: OpenPayload) => (await parquet()).openParquet(payload),
  'parquet-group': async (payload: GroupPayload) => (await parquet()).readGroup(payload),
  'parquet-close': async (id: number) => (await parquet()).closeParquet(id),
};

/** Few runs need its decoders, which take time to load. */
const parquet = () => import('../tables/parquet-file.ts');

let turn: Promise<unknown> = Promise.resolve();

/** Runs the tasks in the calling thread, where signals and timers get their turn between two of them. */
export const inlineRunner: TaskRunner = {
  threads: 1,
  async run<Result>(task: string, payload: unknown) {
    turn = turn.then(() => new Promise(setImmediate));
    await turn;
    return parseTasks[task](payload) as Result;
  },
};

interface Pending {
  readonly outcome: Promise<unknown>;
  readonly take: () => Promise<void>;
}

/** Runs a bounded number of tasks and passes on their outcomes in the order of the input. */
export class TaskQueue {
  readonly #most: number;
  readonly #pending: Pending[] = [];

  /** Two tasks per thread: one at work, one waiting. */
  constructor(threads: number) {
    this.#most = 2 * threads;
  }

  /** `take` gets the outcome in the order of the input; the next outcome waits for it. */
  async run<Outcome>(
    start: () => Promise<Outcome>,
    take: (outcome: Outcome) => void | Promise<void>,
  ): Promise<void> {
    while (this.#pending.length >= this.#most) await this.#takeFirst();
    const outcome = start();
    // Awaited in turn; until then a failure must not count as unhandled.
    outcome.catch(() => {});
    this.#pending.push({ outcome, take: async () => take(await outcome) });
  }

  /** Runs an action after everything before it has been passed on. */
  after(action: () => void | Promise<void>): void {
    this.#pending.push({ outcome: Promise.resolve(), take: async () => action() });
  }

  async finish(): Promise<void> {
    while (this.#pending.length > 0) await this.#takeFirst();
  }

  async #takeFirst(): Promise<void> {
    try {
      await this.#pending.shift()!.take();
    } catch (error) {
      const rest = this.#pending.splice(0);
      await Promise.allSettled(rest.map(({ outcome }) => outcome));
      throw error;
    }
  }
}

/**
 * Runs named tasks in worker threads or in the calling thread. The data room knows no threads: their
 * owner registers `parseTasks` with them and passes a runner in.
 */
export interface TaskRunner {
  readonly threads: number;
  /** Bytes of input from which on it is worth its start; default: 1 MiB. */
  readonly worthwhile?: number;
  run<Result>(task: string, payload: unknown, transfer?: ArrayBuffer[]): Promise<Result>;
  /** Starts a thread for tasks that may never end; absent: they run in the calling thread. */
  ownThread?(): OwnThread;
}

/** A thread that can be ended in the middle of a task. */
export interface OwnThread {
  request<Result>(task: string, payload: unknown): Promise<Result>;
  terminate(): Promise<void>;
}
