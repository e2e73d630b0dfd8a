import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { DsoError } from '../../errors.ts';
import { type CurrentRun, RunFeed } from './feeds.ts';
import { readPageFiles, routesOf } from './routes.ts';
import { RunList } from './run-list.ts';
import { type Emit, Subscribers } from './subscribers.ts';

/** The only address that is listened on. */
export const address = '127.0.0.1';

/** Bytes of the body of a POST. */
const longestBody = 1024;

/**
 * Scripts, styles, pictures and data from this server only, and nothing that is written into the
 * page itself: a name out of a data file cannot become code, and nothing can be sent elsewhere.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every response, errors included; immutable files replace the last one. */
const safeHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** 128 random bits, in characters that a double click selects as a whole. */
export function newToken(): string {
  return randomBytes(16).toString('hex');
}

/** Why a request is rejected. */
interface AccessError {
  readonly status: number;
  readonly title: string;
  readonly reason: string;
  /** Methods that are allowed, for a request with another one. */
  readonly allowed?: string;
}

type Access = Readonly<{ port: number; token: string }>;

/**
 * In this order: a client without the token learns nothing else. What a browser reports about itself
 * is checked as well, in case an address has leaked.
 */
const rules = [checkHost, checkToken, checkSite, checkOrigin, checkMethod, checkBody];

/** Why a request must not be answered, or undefined. */
function accessErrorOf(request: IncomingMessage, access: Access): AccessError | undefined {
  return rules.map((rule) => rule(request, access)).find(Boolean);
}

/** The names of this server in requests; browsers leave out the default port. */
function ownHosts(port: number): string[] {
  const names = [address, 'localhost'];
  return port === 80 ? names : names.map((name) => `${name}:${port}`);
}

/**
 * Another site may let its name resolve to this machine (DNS rebinding); its requests still carry
 * that name.
 */
function checkHost({ headersDistinct, url = '' }: IncomingMessage, { port }: Access) {
  const named = headersDistinct.host ?? [];
  const ours = named.length === 1 && ownHosts(port).includes(named[0].toLowerCase());
  // A whole address instead of a path would bring a host of its own.
  if (ours && url.startsWith('/')) return undefined;
  return forbidden('The Host header does not name this server.');
}

function checkToken({ url = '' }: IncomingMessage, { token }: Access) {
  const given = /^\/([^/?#]*)/.exec(url)?.[1] ?? '';
  return same(given, token)
    ? undefined
    : forbidden('The address has no token of this server, or a wrong one.');
}

/** In constant time, so that a guess cannot be improved step by step. */
function same(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** A link may be followed from anywhere; scripts of other sites may not send requests. */
function checkSite({ headers, method }: IncomingMessage) {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  const followed =
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  return followed ? undefined : forbidden('The request comes from a page of another site.');
}

/** Requests that change something must come from the page of this server. */
function checkOrigin({ headers, headersDistinct, method }: IncomingMessage) {
  const origins = headersDistinct.origin ?? [];
  if (origins.length === 0 && method !== 'POST') return undefined;
  const own = `http://${headers.host?.toLowerCase()}`;
  if (origins.length === 1 && origins[0] === own) return undefined;
  return forbidden('The request does not come from the page of this server.');
}

function checkMethod({ method = '' }: IncomingMessage): AccessError | undefined {
  if (['GET', 'HEAD', 'POST'].includes(method)) return undefined;
  const reason = 'Only GET, HEAD and POST are supported.';
  return { status: 405, title: 'Method not allowed', reason, allowed: 'GET, HEAD, POST' };
}

/** No request needs a body; one of unknown length might never end. */
function checkBody({ headers }: IncomingMessage): AccessError | undefined {
  const length = Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] === undefined && length <= longestBody) return undefined;
  const reason = `A body may have at most ${longestBody} bytes and must state its length.`;
  return { status: 413, title: 'Request too long', reason };
}

function forbidden(reason: string): AccessError {
  return { status: 403, title: 'Not allowed', reason };
}

/** A page for people; it repeats nothing of the request. */
function accessErrorPage({ title, reason }: AccessError): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>dso: ${title}</title>
<h1>${title}</h1>
<p>${reason}</p>
<p>dso ui and dso train --ui print the address of the dashboard. Open the whole of it.</p>
</html>
`;
}

export interface DashboardOptions {
  /** The folder of the records; it need not exist yet. */
  readonly folder?: string | undefined;
  /** The run of this process. */
  readonly own?: CurrentRun | undefined;
  /** Default: any that is free. */
  readonly port?: number | undefined;
  /** Where the page is; default: in the package. */
  readonly pageFolder?: string | undefined;
  /** Of the program. */
  readonly version: string;
  /** A failure that is not the client's. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** Milliseconds for a request to arrive. */
const requestTimeout = 10_000;
/** For pages to receive the last message. */
const shutdownDelay = 250;
const mostConnections = 256;
/** Milliseconds in which a one-time address is valid. */
const oneTimeSpan = 60_000;

/** Serves the page and the runs to this machine. While no page is open it only waits. */
export class Dashboard {
  readonly #token = newToken();
  readonly #requestedPort: number;
  readonly #server: Server;
  readonly #subscribers: Subscribers;
  readonly #feed: RunFeed;
  #oneTime: { readonly token: string; readonly until: number } | undefined;
  #port = 0;

  constructor(options: DashboardOptions) {
    const { folder, own, port = 0, pageFolder, version, onFailure = () => {} } = options;
    const token = this.#token;
    const files = readPageFiles(pageFolder);
    const runs = new RunList(folder, own);
    const emit: Emit = (name, data) => this.#subscribers.emit(name, data);
    this.#requestedPort = port;
    this.#feed = new RunFeed({ runs, folder, current: own, emit, onFailure });
    this.#subscribers = new Subscribers(this.#feed);
    const subscribers = this.#subscribers;
    const app = routesOf({ token, version, runs, subscribers, files, onFailure });
    // The library's own request and response would replace those of the whole process.
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    this.#server = createServer(
      { headersTimeout: requestTimeout, requestTimeout, noDelay: true },
      (request, response) => {
        if (this.#redirect(request, response) || this.#reject(request, response)) return;
        void listener(request, response);
      },
    );
    this.#server.maxConnections = mostConnections;
  }

  /** Resolves with the address of the page, which holds the token. */
  listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.on('error', (cause: NodeJS.ErrnoException) => {
        const reason = listenErrors[cause.code ?? ''] ?? cause.message;
        const message = `dashboard, port ${this.#requestedPort}: ${reason}`;
        reject(new DsoError('failure', message, { cause }));
      });
      this.#server.listen(this.#requestedPort, address, () => {
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve(`http://${address}:${this.#port}/${this.#token}/`);
      });
    });
  }

  /**
   * An address that leads to the page once, within a minute. It is for command lines, which other
   * users of the machine can read: by then it is worthless.
   */
  oneTimeUrl(): string {
    this.#oneTime = { token: newToken(), until: performance.now() + oneTimeSpan };
    return `http://${address}:${this.#port}/${this.#oneTime.token}`;
  }

  /** What the run of this process does before it trains; fraction 0 … 1 where it is known. */
  stage(text: string, fraction?: number): void {
    this.#feed.stage({ text, ...(fraction !== undefined && { fraction }) });
  }

  /** Sends the pages a last message and ends. */
  close(reason: string): Promise<void> {
    this.#feed.flush();
    this.#subscribers.end(reason);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#server.closeAllConnections(), shutdownDelay);
      this.#server.close(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Redirects a one-time address to the page. */
  #redirect(request: IncomingMessage, response: ServerResponse): boolean {
    const oneTime = this.#oneTime;
    if (!oneTime || performance.now() > oneTime.until || request.method !== 'GET') return false;
    if (accessErrorOf(request, { port: this.#port, token: oneTime.token })) return false;
    this.#oneTime = undefined;
    response.writeHead(303, { ...safeHeaders, Location: `/${this.#token}/` });
    response.end();
    return true;
  }

  /** Answers a request that is not allowed. */
  #reject(request: IncomingMessage, response: ServerResponse): boolean {
    for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value);
    const error = accessErrorOf(request, { port: this.#port, token: this.#token });
    if (error === undefined) return false;
    if (error.allowed !== undefined) response.setHeader('Allow', error.allowed);
    // Anything else that the client sends on this connection is ignored.
    response.setHeader('Connection', 'close');
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.writeHead(error.status);
    response.end(request.method === 'HEAD' ? undefined : accessErrorPage(error));
    request.resume();
    return true;
  }
}

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; choose another, or 0 for any free port',
  EACCES: 'permission denied; ports below 1024 are reserved for the administrator',
};
