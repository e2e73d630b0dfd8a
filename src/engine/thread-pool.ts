import { availableParallelism } from 'node:os';
import type { Transferable } from 'node:worker_threads';
import { DsoError, UsageError } from '../errors.ts';
import { type Listener, type Requests, RequestThread, threadEntry } from './thread.ts';

/** A small nursery, collected often: threads work on arrays outside of their heaps. */
const resourceLimits = { maxYoungGenerationSizeMb: 4 };

/** Requests that a thread may have: one at work, one waiting. */
const queued = 2;

/** What a joint task of several threads may need besides their payloads. */
interface JointTask {
  readonly onEvent?: Listener;
  /** What moves to a thread instead of being copied. */
  readonly transferOf?: (index: number) => Transferable[];
  /** Number of the first thread; default 0. */
  readonly first?: number;
}

/**
 * Worker threads that stay for the life of a command: they parse, partition and train. `run` gives
 * a task to the least busy thread; `runAll` gives every thread its share of one joint task.
 */
export class ThreadPool {
  readonly threads: number;
  readonly #members: readonly Requests[];

  constructor(members: readonly Requests[]) {
    this.threads = members.length;
    this.#members = members;
  }

  run<Result>(task: string, payload: unknown, transfer?: ArrayBuffer[]): Promise<Result> {
    const idlest = this.#members.reduce((one, other) =>
      other.pending < one.pending ? other : one,
    );
    return idlest.request(task, payload, transfer);
  }

  /** Starts the first `count` threads, which otherwise start with their first request. */
  start(count: number): void {
    for (const member of this.#members.slice(0, count)) member.start();
  }

  /** The same on one of the first `count` threads; undefined if none has started and waits for work. */
  tryRun<Result>(
    count: number,
    task: string,
    payload: unknown,
    transfer?: ArrayBuffer[],
  ): Promise<Result> | undefined {
    const free = this.#members
      .slice(0, count)
      .find(({ started, pending }) => started && pending < queued);
    return free?.request(task, payload, transfer);
  }

  /** Runs `task` on `count` threads at the same time, each with its own payload. */
  async runAll<Result>(
    task: string,
    count: number,
    payloadOf: (index: number) => unknown,
    { onEvent, transferOf = () => [], first = 0 }: JointTask = {},
  ): Promise<Result[]> {
    const members = this.#members.slice(first, first + count);
    return Promise.all(
      members.map((member, index) =>
        member.request<Result>(task, payloadOf(index), transferOf(index), onEvent),
      ),
    );
  }

  /** Ends the threads when all requests have been answered. */
  async closeWhenIdle(): Promise<void> {
    while (this.#members.some(({ pending }) => pending > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await this.close();
  }

  async close(): Promise<void> {
    // Idle threads do not keep the process alive, not even until they have ended.
    const hold = setInterval(() => {}, 1000);
    await Promise.all(this.#members.map((member) => member.terminate()));
    clearInterval(hold);
  }
}

export function startThreads(entry: URL, threads: number): ThreadPool {
  const make = () => new RequestThread(entry, { resourceLimits });
  return new ThreadPool(Array.from({ length: threads }, make));
}

/** Starting a thread takes tens of milliseconds, so reading and training share theirs. */
let current: ThreadPool | undefined;

/** A pool of at least `threads` threads, which start when they are needed. */
export function threadPool(threads: number): ThreadPool {
  if (!current || current.threads < threads) {
    void current?.closeWhenIdle();
    current = startThreads(threadEntry('worker'), threads);
  }
  return current;
}

/** Starts threads that will be needed soon, while there is other work to do. */
export function warmThreads(threads?: number): void {
  const count = threadCount(threads);
  threadPool(count).start(count);
}

export function threadCount(threads: number | undefined): number {
  if (threads === undefined) return availableParallelism();
  if (Number.isInteger(threads) && threads >= 1 && threads <= 1024) return threads;
  throw new UsageError(`threads is ${threads}; it must be a whole number from 1 to 1024`);
}

/** A joint task. When one thread fails, the others may wait for it: the pool is given up. */
export async function runTogether<Result>(
  pool: ThreadPool,
  ...task: Parameters<ThreadPool['runAll']>
): Promise<Result[]> {
  try {
    return await pool.runAll<Result>(...task);
  } catch (cause) {
    if (current === pool) current = undefined;
    await pool.close();
    if (cause instanceof DsoError) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new DsoError('failure', message, { cause });
  }
}
