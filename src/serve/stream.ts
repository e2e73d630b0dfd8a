import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Scorer } from '../apps/serve/scorer.ts';
import { answerRow, parseJson } from './batch.ts';
import { type BodyLimits, decodeUtf8 } from './body.ts';
import { LineCutter } from './lines.ts';
import { Departure, errorText, Refusal } from './refusal.ts';

/** Rows of a stream so far. */
export interface StreamCounts {
  rows: number;
  failedRows: number;
}

/** Characters that are written together. */
const writeLength = 2 ** 16;
const space = /^\s*$/;

/**
 * Answers a body of lines line by line. A line that cannot be answered becomes a line with an error;
 * empty lines have no answer. No more is read while the client does not take its answers, so that
 * memory is bounded by a line and a few buffers. Throws a Refusal for a client that makes no progress
 * and for a line without end.
 */
export async function answerLines(
  request: IncomingMessage,
  response: ServerResponse,
  scorer: Scorer,
  limits: BodyLimits,
  counts: StreamCounts,
): Promise<void> {
  const cutter = new LineCutter(limits.bytes);
  let text = '';
  const flush = async (): Promise<void> => {
    const full = text !== '' && !response.write(text);
    text = '';
    if (full) await progress(response, ['drain', 'close'], limits.patience);
    if (response.closed) throw new Departure();
  };
  const answer = (line: Buffer): void => {
    const result = answerLine(line, cutter.count, scorer, counts);
    if (result !== undefined) text += `${result}\n`;
  };
  for (;;) {
    const chunk = await nextChunk(request, limits.patience);
    if (chunk === undefined) break;
    for (const line of cutter.cut(chunk)) {
      answer(line);
      if (text.length >= writeLength) await flush();
    }
    await flush();
  }
  for (const line of cutter.finish()) answer(line);
  await flush();
}

function answerLine(
  bytes: Buffer,
  number: number,
  scorer: Scorer,
  counts: StreamCounts,
): string | undefined {
  const place = `line ${number}`;
  try {
    const line = decodeUtf8(bytes, place);
    if (space.test(line)) return undefined;
    const text = answerRow(scorer, parseJson(line, place), place);
    counts.rows++;
    return text;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    counts.failedRows++;
    return errorText(error.message);
  }
}

/** undefined at the end. */
async function nextChunk(request: IncomingMessage, patience: number): Promise<Buffer | undefined> {
  for (;;) {
    const chunk = request.read() as Buffer | null;
    if (chunk !== null) return chunk;
    if (request.readableEnded) return undefined;
    if (request.destroyed) throw new Departure();
    await progress(request, ['readable', 'end', 'close', 'error'], patience);
  }
}

/** Waits for one of these events, but not for ever. */
function progress(
  emitter: EventEmitter,
  events: readonly string[],
  patience: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      for (const event of events) emitter.off(event, settle);
      resolve();
    };
    const timer = setTimeout(() => {
      for (const event of events) emitter.off(event, settle);
      reject(new Refusal(408, `no progress within ${patience / 1000} s`));
    }, patience);
    for (const event of events) emitter.on(event, settle);
  });
}
