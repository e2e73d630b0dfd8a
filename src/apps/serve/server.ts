import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as ListeningServer, type Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { HostNames } from '../host-header.ts';
import { BodyMemory } from './body-memory.ts';
import { Connections } from './connections.ts';
import {
  bodyKind,
  collectBody,
  decodeUtf8,
  endInRequest,
  headError,
  type Limits,
  plainAnswer,
  RequestContext,
  RequestError,
} from './exchange.ts';
import type { Metrics } from './metrics.ts';
import type { LoadedModel } from './model-reloader.ts';
import { answerBatch, answerLines, answerRow, batchOf, parseJson } from './rows.ts';
import { descriptionOf, healthOf } from './scorer.ts';

/** A request that was answered, for the log. */
export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly rows: number;
  readonly milliseconds: number;
  readonly client: string;
}

export interface ServerSettings {
  /** What the model is called. */
  readonly name: string;
  readonly limits: Limits;
  /** The names by which requests may call this server. */
  readonly hosts: HostNames;
  readonly metrics: Metrics;
  readonly current: () => LoadedModel;
  readonly onRequest?: (record: RequestRecord) => void;
  /** A failure that is not the client's. */
  readonly onFailure: (error: unknown) => void;
}

const json = 'application/json';
/** Of all paths together. */
const allMethods = 'GET, HEAD, POST';
/** Longer than load balancers hold a connection, which would otherwise send into a closed one. */
const idleMilliseconds = 65_000;
/** Milliseconds: longer than a request takes to arrive. */
const shutdownDelay = 100;

type Page = (settings: ServerSettings) => { readonly type: string; readonly text: string };

const pages: Readonly<Record<string, Page>> = {
  '/healthz': ({ name, current }) => jsonPage(healthOf(name, current())),
  '/model': ({ name, current }) => jsonPage(descriptionOf(name, current())),
  '/metrics': ({ metrics, current }) => {
    const { model, loadedAt } = current();
    const text = metrics.text({ loadedAt, gap: model.certificate.relativeGap });
    return { type: 'text/plain; version=0.0.4; charset=utf-8', text };
  },
};

function jsonPage(content: object): ReturnType<Page> {
  return { type: json, text: `${JSON.stringify(content)}\n` };
}

/** Answers HTTP requests with the predictions of the current model. */
export class ScoringServer {
  readonly #settings: ServerSettings;
  readonly #server: Server;
  readonly #open = new Set<RequestContext>();
  readonly #connections = new Connections();
  readonly #timer: NodeJS.Timeout;
  readonly #memory: BodyMemory;
  /** Ends when the last of the large bodies is answered: parsed, each takes many times its size. */
  #largeBodies = Promise.resolve();
  /** The Host header of the last request: almost always that of the next one too. */
  #lastHost: string | undefined;
  #stopping = false;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    const { timeout, bodies } = settings.limits;
    this.#memory = new BodyMemory(bodies, (bytes) => {
      settings.metrics.bodyBytes = bytes;
    });
    const interval = Math.min(1000, Math.ceil(timeout / 4));
    this.#timer = setInterval(() => {
      this.#expireBodies();
      this.#memory.tidy();
    }, interval);
    this.#timer.unref();
    this.#server = createServer(
      {
        headersTimeout: timeout,
        // Checked below, and answered in words.
        requireHostHeader: false,
        // Streams may last long: bodies are timed as they are read.
        requestTimeout: 0,
        connectionsCheckingInterval: interval,
        keepAliveTimeout: idleMilliseconds,
        noDelay: true,
      },
      (request, response) => this.#serve(request, response),
    );
    // Later than the answers 408 to heads and bodies that do not arrive.
    this.#server.setTimeout(timeout + 2 * interval, (socket) => this.#expireSocket(socket));
    this.#server.on('connection', (socket: Socket) =>
      this.#connections.add(socket, (count) => {
        settings.metrics.connections = count;
      }),
    );
    this.#server.on('checkExpectation', (request, response) => {
      const expected = 'expected 100-continue, or none';
      const refusal = new RequestError(417, `Expect ${request.headers.expect}; ${expected}`);
      this.#serve(request, response, refusal);
    });
    this.#server.on('connect', ({ url }, socket) => this.#refuseTunnel(url, socket as Socket));
    this.#server.on('clientError', (error, socket) => this.#rejectConnection(error, socket));
  }

  /** Resolves with the port; rejects with what the system says. */
  async listen(port: number, host: string): Promise<AddressInfo> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return this.#server.address() as AddressInfo;
  }

  /**
   * Finishes what is under way, within the time that a body may take, and accepts nothing more.
   * Resolves with the number of requests that were cut off.
   */
  async stop(): Promise<number> {
    this.#stopping = true;
    for (const { response } of this.#open) response.shouldKeepAlive = false;
    // A connection may look idle though its next request is on the way, and would be reset if it
    // were closed now. For a moment requests are still answered, each as the last of its connection.
    await sleep(Math.min(shutdownDelay, this.#settings.limits.timeout));
    await readWhatArrived();
    const stopped = this.#close();
    await readWhatArrived();
    this.#endIdle();
    return stopped;
  }

  /** Ends the connections on which no request is under way. */
  #endIdle(): void {
    this.#connections.endIdle(new Set([...this.#open].map(({ request }) => request.socket)));
  }

  #close(): Promise<number> {
    return new Promise((resolve) => {
      let cut = 0;
      const timer = setTimeout(() => {
        cut = this.#open.size;
        this.#server.closeAllConnections();
      }, this.#settings.limits.timeout);
      // The method of the HTTP server would close idle connections at once, and no longer time
      // heads that do not arrive.
      ListeningServer.prototype.close.call(this.#server, () => {
        clearTimeout(timer);
        clearInterval(this.#timer);
        resolve(cut);
      });
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse, refusal?: RequestError): void {
    // It crossed the end of the connection: there is no way to answer it.
    if (request.socket.writableEnded) {
      request.resume();
      return;
    }
    const context = new RequestContext(request, response);
    this.#open.add(context);
    this.#connections.begin(request.socket, response);
    this.#settings.metrics.underWay++;
    if (this.#stopping) response.shouldKeepAlive = false;
    try {
      const { host: [host, ...more] = [] } = request.headersDistinct;
      if (more.length > 0) throw new RequestError(400, 'more than one Host header; expected one');
      if (host === undefined && request.httpVersion === '1.1') {
        throw new RequestError(400, 'no Host header; expected one');
      }
      this.#checkHost(host);
      if (refusal) throw refusal;
      if (context.path === '/predict') this.#predict(context);
      else this.#showPage(context);
    } catch (error) {
      this.#fail(context, error);
    }
  }

  #checkHost(host: string | undefined): void {
    if (host === this.#lastHost) return;
    if (!this.#settings.hosts.accepts(host)) {
      throw new RequestError(
        421,
        `Host ${host}: not a name of this server; it answers to its address, to localhost, and to ` +
          'the names that --host-name gives',
      );
    }
    this.#lastHost = host;
  }

  #fail(context: RequestContext, error: unknown): void {
    if (context.settled) return;
    context.fail(error, this.#settings.limits.timeout, this.#settings.onFailure);
    this.#settle(context);
  }

  /** Counts a request that is answered or abandoned. */
  #settle(context: RequestContext): void {
    const { request, response, path, status, start, counts } = context;
    const { metrics, onRequest } = this.#settings;
    context.settled = true;
    this.#open.delete(context);
    this.#connections.settle(request.socket);
    // A large answer stays in memory until the client has read it.
    if (context.held > 0 && response.closed) this.#memory.release(context);
    else if (context.held > 0) response.once('close', () => this.#memory.release(context));
    const milliseconds = performance.now() - start;
    metrics.underWay--;
    metrics.rows += counts.rows;
    metrics.failedRows += counts.failedRows;
    const known = path === '/predict' || Object.hasOwn(pages, path);
    metrics.count(known ? path : 'other', status, milliseconds / 1000);
    // A stream had its head sent before it was known that its connection has to end.
    if (!this.#server.listening) {
      response.once('finish', () => this.#endIdle());
    }
    onRequest?.({
      method: request.method ?? '',
      path,
      status,
      rows: counts.rows,
      milliseconds,
      client: request.socket.remoteAddress ?? '',
    });
  }

  #predict(context: RequestContext): void {
    const { request } = context;
    if (request.method !== 'POST') {
      throw new RequestError(405, `${request.method} /predict; expected POST`, 'POST');
    }
    if (bodyKind(request) === 'lines') {
      void this.#finish(context, () => this.#answerLines(context));
      return;
    }
    context.timed = true;
    collectBody(context, this.#settings.limits, {
      onLength: (bytes) => this.#memory.hold(context, bytes),
      onBody: (bytes) => {
        context.timed = false;
        if (context.held === 0) void this.#answer(context, bytes);
        else this.#largeBodies = this.#largeBodies.then(() => this.#answer(context, bytes));
      },
      onFailure: (error) => this.#fail(context, error),
    });
  }

  /** The promise of a batch; undefined for a single row, which is answered at once. */
  #answer(context: RequestContext, bytes: Buffer): Promise<void> | undefined {
    const { limits, current } = this.#settings;
    const { scorer } = current();
    const send = (text: string, rows: number): void => {
      context.counts.rows = rows;
      this.#memory.holdAnswer(context, text.length);
      context.send(200, json, `${text}\n`);
    };
    try {
      const body = parseJson(decodeUtf8(bytes, 'the body'), 'the body');
      const batch = batchOf(body);
      if (batch) {
        return this.#finish(context, async () =>
          send(await answerBatch(batch, scorer, limits), batch.rows.length),
        );
      }
      // Without a promise, which would cost as much as scoring the row.
      send(answerRow(scorer, body), 1);
      this.#settle(context);
    } catch (error) {
      this.#fail(context, error);
    }
    return undefined;
  }

  async #answerLines(context: RequestContext): Promise<void> {
    const { limits, current } = this.#settings;
    const { response } = context;
    response.setHeader('Content-Type', 'application/x-ndjson');
    const hold = (bytes: number) => this.#memory.hold(context, bytes);
    await answerLines(context, current().scorer, limits, hold);
    response.end();
  }

  async #finish(context: RequestContext, answer: () => Promise<void>): Promise<void> {
    try {
      await answer();
      this.#settle(context);
    } catch (error) {
      this.#fail(context, error);
    }
  }

  /** One timer for all: one for each request would cost as much as scoring a row. */
  #expireBodies(): void {
    const { timeout } = this.#settings.limits;
    const now = performance.now();
    for (const context of this.#open) {
      if (!context.timed || now - context.start < timeout) continue;
      const message = `the body did not arrive within ${timeout / 1000} s`;
      this.#fail(context, new RequestError(408, message));
    }
  }

  /**
   * A connection without traffic for long: it is idle, or its client does not read the answer, which
   * is in memory. While an answer is computed there is no traffic.
   */
  #expireSocket(socket: Socket): void {
    if (this.#openOn(socket) === undefined || socket.writableLength > 0) socket.destroy();
  }

  /** The request of a connection that is under way; of several the last, whose body may arrive. */
  #openOn(socket: Socket): RequestContext | undefined {
    return [...this.#open].findLast(({ request }) => request.socket === socket);
  }

  #showPage(context: RequestContext): void {
    const { request, path } = context;
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) {
      throw new RequestError(404, 'no such path; expected /predict, /healthz, /metrics or /model');
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new RequestError(405, `${request.method} ${path}; expected GET`, 'GET, HEAD');
    }
    const { type, text } = page(this.#settings);
    context.send(200, type, text);
    this.#settle(context);
  }

  /** For data that is not HTTP, or that stops in the middle of a head or body. */
  #rejectConnection(error: NodeJS.ErrnoException, stream: unknown): void {
    const socket = stream as Socket;
    const context = this.#openOn(socket);
    const left = error.code === 'ECONNRESET' || (context && error.code === endInRequest);
    if (!socket.writable || left) {
      socket.destroy();
      return;
    }
    // A request that has arrived as a whole is answered, whatever follows it.
    if (this.#connections.endAfterAnswers(socket)) {
      if (context !== undefined && !context.request.complete) {
        this.#fail(context, new RequestError(400, 'the body is not one of HTTP'));
      }
      return;
    }
    this.#answerPlainly(socket, headError(error.code));
  }

  /** Node leaves the connection of a CONNECT to its listener, with nothing to read it. */
  #refuseTunnel(url: string | undefined, socket: Socket): void {
    socket.on('error', () => socket.destroy());
    socket.resume();
    if (this.#connections.endAfterAnswers(socket)) return;
    const message = `CONNECT ${url}; this server is no proxy`;
    this.#answerPlainly(socket, new RequestError(405, message, allMethods));
  }

  /** The last answer of a connection on which Node has no request to answer. */
  #answerPlainly(socket: Socket, failure: RequestError): void {
    this.#settings.metrics.count('other', failure.status, 0);
    socket.end(plainAnswer(failure));
  }
}

/** What has arrived is read between two turns of the event loop. */
async function readWhatArrived(): Promise<void> {
  await turn();
  await turn();
}
