import { availableParallelism } from 'node:os';
import { type Transferable, Worker } from 'node:worker_threads';
import { DsoError, UsageError } from '../errors.ts';

/**
 * Threads work on arrays that lie outside of their heaps. A small
 * nursery, collected often, keeps garbage from growing to tens of megabytes per thread.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 4 };

/** A request to one thread, and its replies. */
export interface Request {
  readonly id: number;
  readonly task: string;
  readonly payload: unknown;
}

export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: Error }
  | { readonly id: number; readonly event: unknown };

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onEvent?: (event: unknown) => void;
}

/** What a joint task of several threads may need beside their payloads. */
export interface JointTask {
  readonly onEvent?: (event: unknown) => void;
  /** What moves to a thread instead of being copied. */
  readonly transferOf?: (index: number) => Transferable[];
  /** Number of the first thread; default 0. */
  readonly first?: number;
}

interface Member {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
  /** Set when the thread has ended, whatever the reason. */
  ended?: Error;
}

/**
 * Worker threads that stay for the life of a command: they parse, partition and train. `run` gives
 * a task to the least busy thread; `runAll` gives every thread its share of one joint task.
 */
export class ThreadPool {
  readonly threads: number;
  readonly #members: Member[];
  #nextId = 0;

  constructor(entry: URL, threads: number) {
    this.threads = threads;
    this.#members = Array.from({ length: threads }, () => this.#start(entry));
  }

  #start(entry: URL): Member {
    const worker = new Worker(entry, { resourceLimits });
    const waiting = new Map<number, Waiting>();
    const member: Member = { worker, waiting };
    const fail = (error: Error) => {
      member.ended = error;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    worker.on('message', (reply: Reply) => {
      const caller = waiting.get(reply.id);
      if (!caller) return;
      if ('event' in reply) {
        caller.onEvent?.(reply.event);
        return;
      }
      waiting.delete(reply.id);
      if (waiting.size === 0) worker.unref();
      if ('error' in reply) caller.reject(reply.error);
      else caller.resolve(reply.result);
    });
    worker.on('error', fail);
    worker.on('exit', (code) => fail(new Error(`a worker thread ended with code ${code}`)));
    worker.unref();
    return member;
  }

  #send<Result>(
    member: Member,
    task: string,
    payload: unknown,
    transfer: Transferable[] = [],
    onEvent?: (event: unknown) => void,
  ): Promise<Result> {
    if (member.ended) return Promise.reject(member.ended);
    const id = this.#nextId++;
    return new Promise<Result>((resolve, reject) => {
      member.waiting.set(id, {
        resolve: resolve as (result: unknown) => void,
        reject,
        ...(onEvent && { onEvent }),
      });
      member.worker.ref();
      member.worker.postMessage({ id, task, payload } satisfies Request, transfer);
    });
  }

  run<Result>(task: string, payload: unknown, transfer?: ArrayBuffer[]): Promise<Result> {
    let chosen = this.#members[0];
    for (const member of this.#members) {
      if (member.waiting.size < chosen.waiting.size) chosen = member;
    }
    return this.#send(chosen, task, payload, transfer);
  }

  /** Runs `task` on `count` threads at the same time, each with its own payload. */
  async runAll<Result>(
    task: string,
    count: number,
    payloadOf: (index: number) => unknown,
    { onEvent, transferOf = () => [], first = 0 }: JointTask = {},
  ): Promise<Result[]> {
    return Promise.all(
      Array.from({ length: count }, (_, index) => {
        const member = this.#members[first + index];
        return this.#send<Result>(member, task, payloadOf(index), transferOf(index), onEvent);
      }),
    );
  }

  /** Ends the threads once nobody waits for them. */
  async closeWhenIdle(): Promise<void> {
    while (this.#members.some(({ waiting }) => waiting.size > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await this.close();
  }

  async close(): Promise<void> {
    // Threads that nobody waits for do not keep the process alive, not even until they have ended.
    const hold = setInterval(() => {}, 1000);
    await Promise.all(this.#members.map(({ worker }) => worker.terminate()));
    clearInterval(hold);
  }
}

const entry = new URL(
  import.meta.url.endsWith('.ts') ? '../worker.ts' : './worker.js',
  import.meta.url,
);

/** Starting a thread costs tens of milliseconds, so reading and training share theirs. */
let current: ThreadPool | undefined;

/** A pool of at least `threads` threads. */
export function threadPool(threads: number): ThreadPool {
  if (!current || current.threads < threads) {
    void current?.closeWhenIdle();
    current = new ThreadPool(entry, threads);
  }
  return current;
}

/** Starts threads that will be needed soon, while there is other work to do. */
export function warmThreads(threads?: number): void {
  threadPool(threadCount(threads));
}

/** Forgets a pool whose threads can no longer be trusted. */
export async function discard(pool: ThreadPool): Promise<void> {
  if (current === pool) current = undefined;
  await pool.close();
}

export function threadCount(threads: number | undefined): number {
  if (threads === undefined) return availableParallelism();
  if (Number.isInteger(threads) && threads >= 1 && threads <= 1024) return threads;
  throw new UsageError(`threads is ${threads}; it must be a whole number from 1 to 1024`);
}

/** A joint task. When one thread fails, the others may wait for it: they are ended too. */
export async function runTogether<Result>(
  pool: ThreadPool,
  task: string,
  count: number,
  payloadOf: (index: number) => unknown,
  joint?: JointTask,
): Promise<Result[]> {
  try {
    return await pool.runAll<Result>(task, count, payloadOf, joint);
  } catch (error) {
    await discard(pool);
    throw new DsoError('failure', error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}
