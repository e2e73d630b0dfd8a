import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { answerBatch, answerRow, parseJson } from './batch.ts';
import { type BodyLimits, bodyKind, decodeUtf8, readBody } from './body.ts';
import { descriptionOf, healthOf } from './description.ts';
import { Exchange } from './exchange.ts';
import type { Metrics } from './metrics.ts';
import type { LoadedModel } from './model-keeper.ts';
import { errorText, Refusal } from './refusal.ts';
import { questionOf } from './rows.ts';
import { answerLines } from './stream.ts';

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
  readonly limits: BodyLimits & { readonly rows: number };
  readonly metrics: Metrics;
  readonly current: () => LoadedModel;
  readonly onRequest?: (record: RequestRecord) => void;
  /** A failure that is not the client's. */
  readonly onFailure: (error: unknown) => void;
}

const json = 'application/json';
/** Longer than load balancers keep a connection, which would otherwise send into a closed one. */
const idleMilliseconds = 65_000;

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
  readonly #open = new Set<Exchange>();
  readonly #sockets = new Set<Socket>();
  #stopping = false;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    const { patience } = settings.limits;
    this.#server = createServer(
      {
        headersTimeout: patience,
        // Streams may go on for long: bodies are timed as they are read.
        requestTimeout: 0,
        connectionsCheckingInterval: Math.min(1000, Math.ceil(patience / 4)),
        keepAliveTimeout: idleMilliseconds,
        noDelay: true,
      },
      (request, response) => void this.#serve(request, response),
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('clientError', (error, socket) => this.#refuseConnection(error, socket));
  }

  /** Resolves with the port; rejects with what the system says. */
  listen(port: number, host: string): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve(this.#server.address() as AddressInfo);
      });
    });
  }

  /**
   * Accepts nothing more and finishes what is under way, within the time that a body may take.
   * Resolves with the number of requests that were cut off.
   */
  stop(): Promise<number> {
    this.#stopping = true;
    for (const { response } of this.#open) response.shouldKeepAlive = false;
    // Node takes a connection without a single byte for a request under way.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    return new Promise((resolve) => {
      let cut = 0;
      const timer = setTimeout(() => {
        cut = this.#open.size;
        this.#server.closeAllConnections();
      }, this.#settings.limits.patience);
      this.#server.close(() => {
        clearTimeout(timer);
        resolve(cut);
      });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics } = this.#settings;
    const exchange = new Exchange(request, response);
    this.#open.add(exchange);
    metrics.underWay++;
    if (this.#stopping) response.shouldKeepAlive = false;
    try {
      if (exchange.path === '/predict') await this.#predict(exchange);
      else this.#showPage(exchange);
    } catch (error) {
      exchange.fail(error, this.#settings);
    }
    metrics.underWay--;
    this.#open.delete(exchange);
    this.#record(exchange);
    // A stream had its head sent before it was known that its connection has to end.
    if (this.#stopping) response.once('finish', () => this.#server.closeIdleConnections());
  }

  #record({ request, path, status, start, counts }: Exchange): void {
    const { metrics, onRequest } = this.#settings;
    const milliseconds = performance.now() - start;
    metrics.rows += counts.rows;
    metrics.failedRows += counts.failedRows;
    const known = path === '/predict' || Object.hasOwn(pages, path);
    metrics.count(known ? path : 'other', status, milliseconds / 1000);
    onRequest?.({
      method: request.method ?? '',
      path,
      status,
      rows: counts.rows,
      milliseconds,
      client: request.socket.remoteAddress ?? '',
    });
  }

  async #predict(exchange: Exchange): Promise<void> {
    const { request, response, counts } = exchange;
    if (request.method !== 'POST') {
      throw new Refusal(405, `${request.method} /predict; wanted POST`, 'POST');
    }
    const { limits } = this.#settings;
    if (bodyKind(request) === 'lines') {
      const { scorer } = this.#settings.current();
      response.setHeader('Content-Type', 'application/x-ndjson');
      await answerLines(request, response, scorer, limits, counts);
      response.end();
      return;
    }
    const body = parseJson(decodeUtf8(await readBody(request, limits), 'the body'), 'the body');
    const { scorer } = this.#settings.current();
    const question = questionOf(body);
    if (question.kind === 'row') {
      exchange.send(200, json, `${answerRow(scorer, question.row)}\n`);
      counts.rows = 1;
      return;
    }
    exchange.send(200, json, `${await answerBatch(question, scorer, limits.rows)}\n`);
    counts.rows = question.rows.length;
  }

  #showPage(exchange: Exchange): void {
    const { request, path } = exchange;
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) {
      throw new Refusal(404, 'no such path; wanted /predict, /healthz, /metrics or /model');
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new Refusal(405, `${request.method} ${path}; wanted GET`, 'GET, HEAD');
    }
    const { type, text } = page(this.#settings);
    exchange.send(200, type, text);
  }

  /** What is no request of HTTP, or stops in the middle of its head. */
  #refuseConnection(error: NodeJS.ErrnoException, stream: unknown): void {
    const socket = stream as Socket;
    const busy = [...this.#open].some(({ request }) => request.socket === socket);
    if (!socket.writable || busy || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, message] = connectionErrors[error.code ?? ''] ?? [400, 'not a request of HTTP'];
    this.#settings.metrics.count('other', status, 0);
    const text = `${errorText(message)}\n`;
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
        `Content-Type: ${json}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
  }
}

const connectionErrors: Readonly<Record<string, [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the head of the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'the head of the request is too long'],
};
