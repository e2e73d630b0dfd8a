import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Departure, Refusal } from './refusal.ts';

export interface BodyLimits {
  /** Most bytes of a body, or of a line where lines are streamed. */
  readonly bytes: number;
  /** Milliseconds for a body to arrive, or for a stream to make progress. */
  readonly patience: number;
}

/** What becomes of a body that is collected. */
export interface BodyListener {
  onBody(bytes: Buffer): void;
  onFailure(error: Refusal | Departure): void;
}

/**
 * Collects a body; refuses one that is too long. It is as short as it can be, without promises or
 * timers, since it is a good part of the cost of a small request.
 */
export function collectBody(
  request: IncomingMessage,
  { bytes }: BodyLimits,
  listener: BodyListener,
): void {
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) > bytes) throw tooLong(bytes);
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= bytes) return;
    request.off('data', take);
    listener.onFailure(tooLong(bytes));
  };
  request.on('data', take);
  request.on('end', () => {
    if (length > bytes) return;
    listener.onBody(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length));
  });
  request.on('error', () => listener.onFailure(new Departure()));
}

function tooLong(bytes: number): Refusal {
  return new Refusal(413, `the body is longer than ${bytes} bytes`);
}

/** Bytes as text; a Refusal if they are not UTF-8. */
export function decodeUtf8(bytes: Buffer, place: string): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new Refusal(400, `${place}: not UTF-8`);
}

export type BodyKind = 'json' | 'lines';

const kinds: Readonly<Record<string, BodyKind>> = {
  'application/json': 'json',
  'application/x-ndjson': 'lines',
  'application/ndjson': 'lines',
  'application/jsonl': 'lines',
};

/** What the headers say that a body is; a Refusal for what cannot be read. */
export function bodyKind({ headers }: IncomingMessage): BodyKind {
  const type = headers['content-type'];
  const encoding = headers['content-encoding'];
  // What almost all requests say needs no closer look.
  if (type === 'application/json' && encoding === undefined) return 'json';
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Refusal(415, `Content-Encoding ${encoding}; wanted none`);
  }
  const [name, ...parameters] = (type ?? 'none').toLowerCase().split(';');
  const kind = Object.hasOwn(kinds, name.trim()) ? kinds[name.trim()] : undefined;
  if (kind === undefined) {
    throw new Refusal(415, `Content-Type ${type}; wanted application/json or application/x-ndjson`);
  }
  const charset = parameters.find((parameter) => parameter.trim().startsWith('charset='));
  if (charset !== undefined && !/^\s*charset="?utf-?8"?\s*$/.test(charset)) {
    throw new Refusal(415, `Content-Type ${type}; wanted the charset utf-8`);
  }
  return kind;
}
