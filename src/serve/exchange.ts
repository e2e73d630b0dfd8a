import type { IncomingMessage, ServerResponse } from 'node:http';
import { Departure, departureStatus, errorText, Refusal } from './refusal.ts';
import type { StreamCounts } from './stream.ts';

interface FailureSettings {
  readonly limits: { readonly patience: number };
  readonly onFailure: (error: unknown) => void;
}

/** A request and its answer. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Without the query. */
  readonly path: string;
  readonly start = performance.now();
  readonly counts: StreamCounts = { rows: 0, failedRows: 0 };
  status = 200;
  /** Whether the answer is given, or the request given up. */
  settled = false;
  /** Whether the whole body has to arrive in a limited time. */
  timed = false;

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

  /** Says what went wrong: to the client what is its own fault, to the operator the rest. */
  fail(error: unknown, { limits, onFailure }: FailureSettings): void {
    const { request, response } = this;
    if (error instanceof Departure) {
      this.status = departureStatus;
      response.destroy();
      return;
    }
    if (!(error instanceof Refusal)) onFailure(error);
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'the server failed');
    this.status = refusal.status;
    const text = `${errorText(refusal.message)}\n`;
    if (response.headersSent) {
      // Too late for a status: the last line tells why, and the missing end that it is not all.
      // Who has not taken the lines before it does not take this one either.
      if (response.writableNeedDrain) response.destroy();
      else response.write(text, () => response.destroy());
      return;
    }
    if (refusal.allowed !== undefined) response.setHeader('Allow', refusal.allowed);
    if (refusal.status === 408) response.shouldKeepAlive = false;
    else if (!request.complete) this.#drain(limits.patience);
    this.#sendError(refusal.status, text);
  }

  #sendError(status: number, text: string): void {
    this.response.setHeader('Content-Type', 'application/json');
    this.response.setHeader('Content-Length', Buffer.byteLength(text));
    this.response.writeHead(status);
    this.response.end(text);
  }

  /**
   * Lets the rest of a body arrive for a while and forgets it. A connection that is closed while
   * its client still sends is reset, and the client would not see the answer.
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
