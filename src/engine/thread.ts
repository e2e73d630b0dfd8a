import { parentPort, type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';
import { DataError, DsoError, type ErrorKind, UsageError } from '../errors.ts';
import { post, received } from './messages.ts';

interface Request {
  readonly id: number;
  readonly task: string;
  readonly payload: unknown;
}

type Reply =
  | { readonly id: number; readonly result: unknown }
  /** Classes do not survive the way between threads: `kind` is that of a DsoError. */
  | { readonly id: number; readonly error: Error; readonly kind?: ErrorKind }
  | { readonly id: number; readonly event: unknown };

export type Listener = (event: unknown) => void;

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onEvent: Listener | undefined;
}

/** The file of src, and of the built program, that a thread starts with. */
export function threadEntry(name: 'worker' | 'comm-thread'): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? `../${name}.ts` : `./${name}.js`, import.meta.url);
}

/** What answers requests by name: a thread, or the calling one. */
export interface Requests {
  /** Requests without an answer. */
  readonly pending: number;
  /** Whether an answer need not wait for the start. */
  readonly started: boolean;
  start(): void;
  request<Result>(
    task: string,
    payload?: unknown,
    transfer?: Transferable[],
    onEvent?: Listener,
  ): Promise<Result>;
  terminate(): Promise<void>;
}

/**
 * A thread that answers requests by name; it starts with the first one, and keeps the process alive
 * only while it owes answers.
 */
export class RequestThread implements Requests {
  readonly #entry: URL;
  readonly #options: WorkerOptions;
  readonly #onReport: Listener;
  #worker: Worker | undefined;
  readonly #pending = new Map<number, Pending>();
  /** Requests made so far. */
  requests = 0;
  started = false;
  #ended: Error | undefined;

  /** `onReport` gets what the thread sends without a request. */
  constructor(entry: URL, options: WorkerOptions, onReport: Listener = () => {}) {
    this.#entry = entry;
    this.#options = options;
    this.#onReport = onReport;
  }

  /** Starts the thread now, so that a first request need not wait for it. */
  start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.#entry, this.#options);
    worker.on('message', (posted: unknown) => {
      const message = received(posted);
      this.started = true;
      if (message instanceof Object && 'id' in message) this.#hear(message as Reply);
      else this.#onReport(message);
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('messageerror', (error) => this.#fail(error));
    worker.on('exit', (code) => this.#fail(new Error(`a worker thread ended with code ${code}`)));
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  get pending(): number {
    return this.#pending.size;
  }

  request<Result>(
    task: string,
    payload?: unknown,
    transfer: Transferable[] = [],
    onEvent?: Listener,
  ): Promise<Result> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.requests++;
    return new Promise<Result>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject, onEvent });
      const worker = this.start();
      worker.ref();
      post(worker, { id, task, payload } satisfies Request, transfer);
    });
  }

  #hear(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (!pending) return;
    if ('event' in reply) {
      pending.onEvent?.(reply.event);
      return;
    }
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if ('result' in reply) pending.resolve(reply.result);
    else {
      const { error, kind } = reply;
      pending.reject(kind ? errorOf(kind, error) : error);
    }
  }

  #fail(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  /** Lets the process end without the answers. */
  unref(): void {
    this.#worker?.unref();
  }

  async terminate(): Promise<void> {
    await this.#worker?.terminate();
  }
}

function errorOf(kind: ErrorKind, cause: Error): DsoError {
  if (kind === 'data') return new DataError(cause.message, { cause });
  if (kind === 'usage') return new UsageError(cause.message, { cause });
  return new DsoError(kind, cause.message, { cause });
}

/** Lets others have the thread, if it is their turn; threads of their own have none to wait for. */
export type Pause = () => Promise<void> | undefined;

export type Task = (payload: never, emit: Listener, pause?: Pause) => unknown;

/** The thread's side: answers each request with the task it names; `before` sees it first. */
export function answerRequests(
  tasks: Readonly<Record<string, Task>>,
  before: (request: Request) => void = () => {},
): void {
  const send = (reply: Reply) => parentPort && post(parentPort, reply);
  const answer = async (request: Request) => {
    const { id, task, payload } = request;
    before(request);
    try {
      send({ id, result: await tasks[task](payload as never, (event) => send({ id, event })) });
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      send({ id, error, ...(error instanceof DsoError && { kind: error.kind }) });
    }
  };
  parentPort?.on('message', (message) => void answer(received(message) as Request));
  // Without an answer the other side would wait for ever.
  parentPort?.on('messageerror', (error) => {
    throw error;
  });
}
