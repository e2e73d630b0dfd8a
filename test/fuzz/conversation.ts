/** A connection of its own to a server of HTTP, byte by byte, and what comes back taken apart. */
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** What the client does once it has sent everything: sends its end, waits, or is gone. */
export type Ending = 'end' | 'wait' | 'destroy';

export interface Heard {
  readonly bytes: Buffer;
  /** Whether the server closed the connection within the time. */
  readonly closed: boolean;
}

/** Sends pieces one after the other, and listens until the server closes the connection. */
export async function converse(
  port: number,
  pieces: readonly Buffer[],
  ending: Ending,
  milliseconds: number,
): Promise<Heard> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  const chunks: Buffer[] = [];
  const over = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    const end = () => {
      clearTimeout(timer);
      resolve(true);
    };
    // An error is followed by it: a server may close before it has read all.
    socket.on('error', () => {});
    socket.on('close', end);
    socket.on('end', () => socket.end());
  });
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const piece of pieces) {
    if (socket.destroyed) break;
    if (socket.writable) socket.write(piece);
    await turn();
  }
  if (ending === 'end') socket.end();
  if (ending === 'destroy') socket.destroy();
  const closed = await over;
  socket.destroy();
  return { bytes: Buffer.concat(chunks), closed };
}

export interface Response {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Whether all of it is there. */
  readonly whole: boolean;
}

const headEnd = '\r\n\r\n';

/** What comes behind interim responses such as `100 Continue`. */
export function withoutInterim(bytes: Buffer): Buffer {
  const isInterim = /^HTTP\/1\.1 1\d\d /.test(bytes.subarray(0, 16).toString('latin1'));
  return isInterim
    ? withoutInterim(bytes.subarray(bytes.indexOf(headEnd) + headEnd.length))
    : bytes;
}

/** Takes the first response apart; a text says what is no HTTP. */
export function nextResponse(
  bytes: Buffer,
  method: string,
): { readonly response: Response; readonly rest: Buffer } | string {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return `a response without an end of its head: ${bytes.toString().slice(0, 80)}`;
  const [first, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) [ -~]+$/.exec(first)?.[1]);
  if (Number.isNaN(status)) return `not a status line: ${first}`;
  const after = bytes.subarray(end + headEnd.length);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([!-9;-~]+): ?([ -~]*)$/.exec(line) ?? [];
    if (name === undefined) return `not a header: ${JSON.stringify(line)}`;
    headers.set(name.toLowerCase(), value);
  }
  const bodyless = method === 'HEAD' || status === 204 || status === 304;
  const length = headers.get('content-length');
  const found = bodyless
    ? { body: '', whole: true, rest: after }
    : headers.get('transfer-encoding') === 'chunked'
      ? readChunks(after)
      : readBody(after, length === undefined ? Infinity : Number(length));
  if (typeof found === 'string') return found;
  const { rest, ...body } = found;
  return { response: { status, headers, ...body }, rest };
}

type Body = { readonly body: string; readonly whole: boolean; readonly rest: Buffer };

/** Without a length the body is what there is. */
function readBody(bytes: Buffer, length: number): Body {
  const body = bytes.subarray(0, Math.min(length, bytes.length));
  const whole = length === Infinity || body.length === length;
  return { body: body.toString(), whole, rest: bytes.subarray(body.length) };
}

function readChunks(bytes: Buffer): Body | string {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const text = () => Buffer.concat(chunks).toString();
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return { body: text(), whole: false, rest: bytes.subarray(bytes.length) };
    const size = bytes.subarray(at, end).toString();
    if (!/^[\da-f]+$/i.test(size)) return `not a size of a chunk: ${JSON.stringify(size)}`;
    const length = Number.parseInt(size, 16);
    const begin = end + 2;
    if (length === 0) return { body: text(), whole: true, rest: bytes.subarray(begin + 2) };
    chunks.push(bytes.subarray(begin, begin + length));
    at = begin + length + 2;
  }
}
