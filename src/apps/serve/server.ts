import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
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
  readonly metrics: Metrics;
  readonly current: () => LoadedModel;
  readonly onRequest?: (record: RequestRecord) => void;
  /** A failure that is not the client's. */
  readonly onFailure: (error: unknown) => void;
}

const json = 'application/json';
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
  readonly #sockets = new Set<Socket>();
  readonly #timer: NodeJS.Timeout;
  #stopping = false;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    const { timeout } = settings.limits;
    const interval = Math.min(1000, Math.ceil(timeout / 4));
    this.#timer = setInterval(() => this.#expireBodies(), interval);
    this.#timer.unref();
    this.#server = createServer(
      {
        headersTimeout: timeout,
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
    this.#server.on('connection', (socket: Socket) => this.#keepTrack(socket));
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
    // Node takes a connection without a single byte for an unfinished request.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    return stopped;
  }

  #close(): Promise<number> {
    return new Promise((resolve) => {
      let cut = 0;
      const timer = setTimeout(() => {
        cut = this.#open.size;
        this.#server.closeAllConnections();
      }, this.#settings.limits.timeout);
      this.#server.close(() => {
        clearTimeout(timer);
        clearInterval(this.#timer);
        resolve(cut);
      });
    });
  }

  #keepTrack(socket: Socket): void {
    const { metrics } = this.#settings;
    this.#sockets.add(socket);
    metrics.connections = this.#sockets.size;
    socket.once('close', () => {
      this.#sockets.delete(socket);
      metrics.connections = this.#sockets.size;
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const context = new RequestContext(request, response);
    this.#open.add(context);
    this.#settings.metrics.underWay++;
    if (this.#stopping) response.shouldKeepAlive = false;
    try {
      if (context.path === '/predict') this.#predict(context);
      else this.#showPage(context);
    } catch (error) {
      this.#fail(context, error);
    }
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
    const milliseconds = performance.now() - start;
    metrics.underWay--;
    metrics.rows += counts.rows;
    metrics.failedRows += counts.failedRows;
    const known = path === '/predict' || Object.hasOwn(pages, path);
    metrics.count(known ? path : 'other', status, milliseconds / 1000);
    // A stream had its head sent before it was known that its connection has to end.
    if (!this.#server.listening) {
      response.once('finish', () => this.#server.closeIdleConnections());
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
    collectBody(request, this.#settings.limits, {
      onBody: (bytes) => {
        if (!context.settled) this.#answer(context, bytes);
      },
      onFailure: (error) => this.#fail(context, error),
    });
  }

  #answer(context: RequestContext, bytes: Buffer): void {
    context.timed = false;
    const { limits, current } = this.#settings;
    const { scorer } = current();
    const send = (text: string, rows: number): void => {
      context.counts.rows = rows;
      context.send(200, json, `${text}\n`);
    };
    try {
      const body = parseJson(decodeUtf8(bytes, 'the body'), 'the body');
      const batch = batchOf(body);
      if (batch) {
        void this.#finish(context, async () =>
          send(await answerBatch(batch, scorer, limits), batch.rows.length),
        );
        return;
      }
      // Without a promise, which would cost as much as scoring the row.
      send(answerRow(scorer, body), 1);
      this.#settle(context);
    } catch (error) {
      this.#fail(context, error);
    }
  }

  async #answerLines({ request, response, counts }: RequestContext): Promise<void> {
    const { limits, current } = this.#settings;
    response.setHeader('Content-Type', 'application/x-ndjson');
    await answerLines(request, response, current().scorer, limits, counts);
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
    if (context !== undefined) {
      context.response.shouldKeepAlive = false;
      // A request that has arrived as a whole is answered, whatever follows it.
      if (!context.request.complete) {
        this.#fail(context, new RequestError(400, 'the body is not one of HTTP'));
      }
      return;
    }
    const failure = headError(error.code);
    this.#settings.metrics.count('other', failure.status, 0);
    socket.end(plainAnswer(failure));
  }
}

/** What has arrived is read between two turns of the event loop. */
async function readWhatArrived(): Promise<void> {
  await turn();
  await turn();
}
