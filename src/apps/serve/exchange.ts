import { isUtf8 } from 'node:buffer';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';

/** Why a request cannot be answered, as a message for the client. */
export class RequestError extends Error {
  readonly status: number;
  /** Methods that the path has, for a request with another one. */
  readonly allowed: string | undefined;

  constructor(status: number, message: string, allowed?: string) {
    super(message);
    this.name = 'RequestError';
    this.status = status;
    this.allowed = allowed;
  }
}

/** The client has left, so there is no answer. */
export class ClientGone extends Error {}

/** The status of a request whose client left, in logs and metrics, as other servers have it. */
const clientGoneStatus = 499;

export function errorText(message: string): string {
  return `{"error":${JSON.stringify(message)}}`;
}

/** A request and its answer. */
export class RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Without the query. */
  readonly path: string;
  readonly start = performance.now();
  /** Rows that were answered, and lines that were answered by an error. */
  readonly counts = { rows: 0, failedRows: 0 };
  status = 200;
  /** Whether it is answered or abandoned. */
  settled = false;
  /** Whether the whole body has to arrive in a limited time. */
  timed = false;
  /** Bytes of the body that count against the limit of all. */
  held = 0;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    this.path = pathOf(request.url ?? '');
  }

  send(status: number, type: string, text: string): void {
    this.status = status;
    // A flat list is the quickest way to write a head.
    const length = String(Buffer.byteLength(text));
    this.response.writeHead(status, ['Content-Type', type, 'Content-Length', length]);
    this.response.end(text);
  }

  /** Sends the client its own errors; other errors go to `onFailure`. */
  fail(error: unknown, timeout: number, onFailure: (error: unknown) => void): void {
    const { request, response } = this;
    if (error instanceof ClientGone) {
      this.status = clientGoneStatus;
      response.destroy();
      return;
    }
    const known = error instanceof RequestError;
    if (!known) onFailure(error);
    const failure = known ? error : new RequestError(500, 'the server failed');
    const text = `${errorText(failure.message)}\n`;
    if (response.headersSent) {
      this.status = failure.status;
      // Too late for a status: the last line has the error, and the missing end shows that it is
      // not all. A client that has not read the lines before it does not read this one either.
      if (response.writableNeedDrain) response.destroy();
      else response.write(text, () => this.#cutOff(timeout));
      return;
    }
    if (failure.allowed !== undefined) response.setHeader('Allow', failure.allowed);
    if (failure.status === 503) response.setHeader('Retry-After', '1');
    if (failure.status === 408) response.shouldKeepAlive = false;
    else if (!request.complete) this.#drain(timeout);
    this.send(failure.status, 'application/json', text);
  }

  /** Ends the connection in the middle of an answer, and reads until the client has seen it. */
  #cutOff(timeout: number): void {
    const { request, response } = this;
    request.socket.end();
    if (request.readableEnded) response.destroy();
    else request.once('end', () => response.destroy());
    this.#drain(timeout);
  }

  /**
   * Discards the rest of a body. A connection that is closed while its client still sends is reset,
   * and the client would not see the answer.
   */
  #drain(milliseconds: number): void {
    const { request } = this;
    const timer = setTimeout(() => request.socket.destroy(), milliseconds);
    timer.unref();
    request.once('close', () => clearTimeout(timer));
    request.resume();
  }
}

/** Without the query, and without the host that requests to a proxy name. */
function pathOf(url: string): string {
  const local = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
  const query = local.indexOf('?');
  return query < 0 ? local : local.slice(0, query);
}

export interface Limits {
  /** Most bytes of a body, or of a line where lines are streamed. */
  readonly bytes: number;
  /** Bytes of all bodies, lines and answers in memory, of those above 64 KiB. */
  readonly bodies: number;
  /** Milliseconds for a body to arrive, or for the next line of a stream. */
  readonly timeout: number;
  /** Rows of a batch. */
  readonly rows: number;
  /** Characters of the answer to a batch, which is in memory as a whole. */
  readonly answer: number;
}

/**
 * Collects a body; rejects one that is too long. It has no promises or timers, which would be a
 * large part of the cost of a small request.
 */
export function collectBody(
  context: RequestContext,
  { bytes }: Limits,
  listener: {
    /** So many bytes are in memory; throws a RequestError if that is too much. */
    onLength(bytes: number): void;
    onBody(bytes: Buffer): void;
    onFailure(error: unknown): void;
  },
): void {
  const { request } = context;
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) > bytes) throw tooLong(bytes);
  let chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
    try {
      if (length > bytes) throw tooLong(bytes);
      listener.onLength(length);
    } catch (error) {
      listener.onFailure(error);
    }
    if (!context.settled) return;
    request.off('data', take);
    chunks = [];
  };
  request.on('data', take);
  request.on('end', () => {
    if (context.settled) return;
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length);
    // An idle connection keeps its last request, and so it would keep the body.
    chunks = [];
    listener.onBody(body);
  });
  request.on('error', () => listener.onFailure(new ClientGone()));
}

function tooLong(bytes: number): RequestError {
  return new RequestError(413, `the body is longer than ${bytes} bytes`);
}

/** Bytes as text; a RequestError if they are not UTF-8. */
export function decodeUtf8(bytes: Buffer, location: string): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new RequestError(400, `${location}: not UTF-8`);
}

type BodyKind = 'json' | 'lines';

const kinds: Readonly<Record<string, BodyKind>> = {
  'application/json': 'json',
  'application/x-ndjson': 'lines',
  'application/ndjson': 'lines',
  'application/jsonl': 'lines',
};

/** The kind of a body by its headers; a RequestError for one that cannot be read. */
export function bodyKind({ headers }: IncomingMessage): BodyKind {
  const type = headers['content-type'];
  const encoding = headers['content-encoding'];
  // The headers of almost all requests.
  if (type === 'application/json' && encoding === undefined) return 'json';
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new RequestError(415, `Content-Encoding ${encoding}; expected none`);
  }
  const [name, ...parameters] = (type ?? 'none').toLowerCase().split(';');
  const kind = Object.hasOwn(kinds, name.trim()) ? kinds[name.trim()] : undefined;
  if (kind === undefined) {
    throw new RequestError(
      415,
      `Content-Type ${type}; expected application/json or application/x-ndjson`,
    );
  }
  const charset = parameters.find((parameter) => parameter.trim().startsWith('charset='));
  if (charset !== undefined && !/^\s*charset="?utf-?8"?\s*$/.test(charset)) {
    throw new RequestError(415, `Content-Type ${type}; expected the charset utf-8`);
  }
  return kind;
}

/** The code of an error for a client that closes its side in the middle of a request. */
export const endInRequest = 'HPE_INVALID_EOF_STATE';

const messages: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the head of the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'the head of the request is too long'],
};

/** The error of a bad head, by the code of Node's error. */
export function headError(code: string | undefined): RequestError {
  const [status, message] = messages[code ?? ''] ?? [400, 'not a request of HTTP'];
  return new RequestError(status, message);
}

/** An answer for a connection on which Node has no request to answer. */
export function plainAnswer({ status, message, allowed }: RequestError): string {
  const text = `${errorText(message)}\n`;
  const allow = allowed === undefined ? '' : `Allow: ${allowed}\r\n`;
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n${allow}` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}
