import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { DataError } from '../../errors.ts';
import type { Row } from '../../model/predict/predictor.ts';
import {
  ClientGone,
  decodeUtf8,
  errorText,
  type Limits,
  type RequestContext,
  RequestError,
} from './exchange.ts';
import type { Scorer } from './scorer.ts';

/** Rows in one body. */
interface Batch {
  readonly rows: readonly unknown[];
  /** Whether they are in an object, and so is the answer. */
  readonly wrapped: boolean;
}

/**
 * The batch in a body, undefined for a single row: `{"rows": […]}` is a batch, and so is a list
 * unless it begins with a number, which makes it one dense row.
 */
export function batchOf(body: unknown): Batch | undefined {
  if (Array.isArray(body)) {
    return typeof body[0] === 'number' ? undefined : { rows: body, wrapped: false };
  }
  const rows = (body as { readonly rows?: unknown } | null)?.rows;
  const isAlone = Array.isArray(rows) && Object.keys(body as object).length === 1;
  return isAlone ? { rows, wrapped: true } : undefined;
}

/** A value of JSON as a row; throws a DataError where it cannot be one. */
export function rowOf(value: unknown): Row {
  if (Array.isArray(value)) return numbersOf(value);
  if (typeof value !== 'object' || value === null) {
    throw new DataError(`found ${kindOf(value)}; expected an object, or a list of numbers`);
  }
  const row = value as Exclude<Row, ArrayLike<number>>;
  if (Array.isArray(row.indices) && Array.isArray(row.values)) numbersOf(row.values);
  return row;
}

/** Without this a text such as "5" would count as a number. */
function numbersOf(values: readonly unknown[]): readonly number[] {
  for (let index = 0; index < values.length; index++) {
    if (typeof values[index] === 'number') continue;
    throw new DataError(`value ${index + 1} is ${kindOf(values[index])}; expected a number`);
  }
  return values as readonly number[];
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Rows and characters after which other requests get their turn. */
const rowsPerTurn = 256;
const textPerTurn = 2 ** 17;

/**
 * The answer to a batch: all rows or none, so that a bad row is known by the status. Throws a
 * RequestError that names the row.
 */
export async function answerBatch(
  { rows, wrapped }: Batch,
  scorer: Scorer,
  limits: Limits,
): Promise<string> {
  if (rows.length > limits.rows) {
    throw new RequestError(413, `${rows.length} rows; expected at most ${limits.rows}`);
  }
  let turn = { row: 0, length: 0 };
  let text = wrapped ? '{"predictions":[' : '[';
  for (let row = 0; row < rows.length; row++) {
    if (row - turn.row >= rowsPerTurn || text.length - turn.length >= textPerTurn) {
      turn = { row, length: text.length };
      await setImmediate();
    }
    if (row > 0) text += ',';
    text += answerRow(scorer, rows[row], `row ${row + 1}`);
    if (text.length > limits.answer) {
      throw new RequestError(
        413,
        `the answer is longer than ${limits.answer} characters at row ${row + 1}; ` +
          'expected fewer rows, or application/x-ndjson, whose answers are streamed',
      );
    }
  }
  return text + (wrapped ? ']}' : ']');
}

/** The answer to one row, or a RequestError that says where and what is wrong. */
export function answerRow(scorer: Scorer, row: unknown, location?: string): string {
  try {
    return scorer.answer(row);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    throw new RequestError(
      400,
      location === undefined ? error.message : `${location}: ${error.message}`,
    );
  }
}

/** The value of a text of JSON, or a RequestError that says where it stops being one. */
export function parseJson(text: string, location: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RequestError(400, `${location}: not JSON: ${(error as Error).message}`);
  }
}

const newline = 0x0a;

/** Cuts chunks of bytes into lines; holds no more than the beginning of one line. */
export class LineCutter {
  /** Lines so far. */
  count = 0;
  readonly #limit: number;
  readonly #onLength: (bytes: number) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** `onLength` is told the bytes of the line that is held, and may throw. */
  constructor(limit: number, onLength: (bytes: number) => void = () => {}) {
    this.#limit = limit;
    this.#onLength = onLength;
  }

  /** The lines that end in this chunk, without their ends. */
  *cut(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      yield this.#line();
    }
    if (start < chunk.length) {
      this.#add(chunk.subarray(start));
      this.#onLength(this.#bytes);
    }
  }

  /** The last line, if it has no end. */
  *finish(): Generator<Buffer> {
    if (this.#bytes > 0) yield this.#line();
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= this.#limit) return;
    throw new RequestError(413, `line ${this.count + 1}: longer than ${this.#limit} bytes`);
  }

  #line(): Buffer {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    this.count++;
    if (pieces.length === 1) return pieces[0];
    this.#onLength(0);
    return Buffer.concat(pieces);
  }
}

/** Characters of a write. */
const writeLength = 2 ** 16;
const space = /^\s*$/;

/**
 * Answers a body of lines line by line. A line that cannot be answered becomes a line with an error;
 * empty lines have no answer. No more is read while the client does not read its answers, so that
 * memory is bounded by a line and a few buffers. Throws a RequestError for a client that does not
 * finish a line in time, however many bytes it sends, and for a line that is too long.
 */
export async function answerLines(
  { request, response, counts }: RequestContext,
  scorer: Scorer,
  limits: Limits,
  onLength: (bytes: number) => void,
): Promise<void> {
  const cutter = new LineCutter(limits.bytes, onLength);
  let text = '';
  const flush = async (): Promise<void> => {
    const full = text !== '' && !response.write(text);
    text = '';
    if (full) await progress(response, ['drain', 'close'], limits.timeout);
    if (response.closed) throw new ClientGone();
  };
  const answer = (line: Buffer): void => {
    const result = answerLine(line, cutter.count, scorer, counts);
    if (result !== undefined) text += `${result}\n`;
  };
  // Since the last line that was not empty.
  let waitingSince = performance.now();
  for (;;) {
    const chunk = await nextChunk(request, limits.timeout, waitingSince);
    if (chunk === undefined) break;
    const answered = counts.rows + counts.failedRows;
    for (const line of cutter.cut(chunk)) {
      answer(line);
      if (text.length >= writeLength) await flush();
    }
    await flush();
    if (counts.rows + counts.failedRows > answered) waitingSince = performance.now();
  }
  for (const line of cutter.finish()) answer(line);
  await flush();
}

function answerLine(
  bytes: Buffer,
  number: number,
  scorer: Scorer,
  counts: RequestContext['counts'],
): string | undefined {
  const location = `line ${number}`;
  try {
    const line = decodeUtf8(bytes, location);
    if (space.test(line)) return undefined;
    const text = answerRow(scorer, parseJson(line, location), location);
    counts.rows++;
    return text;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    counts.failedRows++;
    return errorText(error.message);
  }
}

/** undefined at the end. */
async function nextChunk(
  request: IncomingMessage,
  timeout: number,
  since: number,
): Promise<Buffer | undefined> {
  for (;;) {
    const chunk = request.read() as Buffer | null;
    if (chunk !== null) return chunk;
    if (request.readableEnded) return undefined;
    if (request.destroyed) throw new ClientGone();
    await progress(request, ['readable', 'end', 'close', 'error'], timeout, since);
  }
}

/** Waits for one of these events, no longer than the timeout since a moment. */
function progress(
  emitter: EventEmitter,
  events: readonly string[],
  timeout: number,
  since = performance.now(),
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const settle = (): void => resolve();
  const expire = (): void =>
    reject(new RequestError(408, `no progress within ${timeout / 1000} s`));
  const timer = setTimeout(expire, Math.max(0, since + timeout - performance.now()));
  for (const event of events) emitter.on(event, settle);
  return promise.finally(() => {
    clearTimeout(timer);
    for (const event of events) emitter.off(event, settle);
  });
}
