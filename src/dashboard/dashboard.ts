import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { PageFiles } from '../apps/dashboard/page-files.ts';
import { routesOf } from '../apps/dashboard/routes.ts';
import { RunShelf } from '../apps/dashboard/run-list.ts';
import { DsoError } from '../errors.ts';
import { address, newToken, refusalOf, refusalPage, safeHeaders } from './access.ts';
import { Audience } from './audience.ts';
import { FolderFeed } from './folder-feed.ts';
import { type Emit, OwnFeed } from './own-feed.ts';
import type { OwnRun } from './own-run.ts';
import { attempt } from './repeating.ts';

export interface DashboardOptions {
  /** The folder of the records, which need not be there yet. */
  readonly folder?: string | undefined;
  /** The run of this process. */
  readonly own?: OwnRun | undefined;
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
const patience = 10_000;
/** For pages to take the farewell. */
const parting = 250;
const mostConnections = 256;
/** Milliseconds in which a ticket lets somebody in. */
const admission = 60_000;

/**
 * Serves the page and the runs to this machine. While no page listens it does nothing but wait for
 * one.
 */
export class Dashboard {
  readonly #token = newToken();
  readonly #wantedPort: number;
  readonly #server: Server;
  readonly #audience: Audience;
  readonly #ownFeed: OwnFeed | undefined;
  readonly #folderFeed: FolderFeed | undefined;
  #ticket: { readonly text: string; readonly until: number } | undefined;
  #port = 0;

  constructor(options: DashboardOptions) {
    const { folder, own, port = 0, pageFolder, version, onFailure = () => {} } = options;
    const token = this.#token;
    const files = new PageFiles(pageFolder);
    const shelf = new RunShelf(folder, own);
    const emit: Emit = (name, data) => this.#audience.emit(name, data);
    this.#wantedPort = port;
    this.#ownFeed = own && new OwnFeed(own, emit, onFailure);
    this.#folderFeed =
      folder === undefined ? undefined : new FolderFeed(folder, shelf, emit, onFailure);
    this.#audience = new Audience({
      // A folder that cannot be read is no reason to send the page away.
      onFirst: () => attempt(() => this.#startFeeds(), onFailure),
      onJoin: (tell) => attempt(() => this.#welcome(shelf, tell), onFailure),
      onLast: () => this.#stopFeeds(),
      refresh: (id, tell) => {
        const summary = shelf.summary(id);
        if (summary === undefined) tell('gone', { id });
        else tell('run', summary);
      },
    });
    const app = routesOf({ token, version, shelf, audience: this.#audience, files, onFailure });
    // The library's own request and response would replace those of the whole process.
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    this.#server = createServer(
      { headersTimeout: patience, requestTimeout: patience, noDelay: true },
      (request, response) => {
        if (this.#admit(request, response) || this.#refuse(request, response)) return;
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
        const message = `dashboard, port ${this.#wantedPort}: ${reason}`;
        reject(new DsoError('failure', message, { cause }));
      });
      this.#server.listen(this.#wantedPort, address, () => {
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve(`http://${address}:${this.#port}/${this.#token}/`);
      });
    });
  }

  /**
   * An address that leads to the page once, within a minute. It is for command lines, which other
   * users of the machine can read: by then it is worth nothing.
   */
  entrance(): string {
    this.#ticket = { text: newToken(), until: performance.now() + admission };
    return `http://${address}:${this.#port}/${this.#ticket.text}`;
  }

  /** What the run of this process does before it trains; fraction 0 … 1 where it is known. */
  stage(text: string, fraction?: number): void {
    this.#ownFeed?.stage({ text, ...(fraction !== undefined && { fraction }) });
  }

  /** Tells the pages and ends, whether or not they listen. */
  close(reason: string): Promise<void> {
    this.#ownFeed?.flush();
    this.#audience.end(reason);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#server.closeAllConnections(), parting);
      this.#server.close(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #startFeeds(): void {
    this.#ownFeed?.start();
    this.#folderFeed?.start();
  }

  #welcome(shelf: RunShelf, tell: Emit): void {
    this.#ownFeed?.repeat();
    const running = shelf.list().filter(({ status }) => status === 'running');
    for (const summary of running) tell('run', summary);
  }

  #stopFeeds(): void {
    this.#ownFeed?.stop();
    this.#folderFeed?.stop();
  }

  /** Leads somebody with a ticket to the page. */
  #admit(request: IncomingMessage, response: ServerResponse): boolean {
    const ticket = this.#ticket;
    if (!ticket || performance.now() > ticket.until || request.method !== 'GET') return false;
    if (refusalOf(request, { port: this.#port, token: ticket.text })) return false;
    this.#ticket = undefined;
    response.writeHead(303, { ...safeHeaders, Location: `/${this.#token}/` });
    response.end();
    return true;
  }

  /** Answers a request itself that must not be heard. */
  #refuse(request: IncomingMessage, response: ServerResponse): boolean {
    for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value);
    const refusal = refusalOf(request, { port: this.#port, token: this.#token });
    if (refusal === undefined) return false;
    if (refusal.allowed !== undefined) response.setHeader('Allow', refusal.allowed);
    // What else the client may send on this connection is of no interest.
    response.setHeader('Connection', 'close');
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.writeHead(refusal.status);
    response.end(request.method === 'HEAD' ? undefined : refusalPage(refusal));
    request.resume();
    return true;
  }
}

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use; choose another one, or 0 for any',
  EACCES: 'no permission to listen there; ports below 1024 are for the administrator',
};
