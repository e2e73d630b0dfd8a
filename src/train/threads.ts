import { availableParallelism } from 'node:os';
import type { Transferable } from 'node:worker_threads';
import { ThreadPool } from '../engine/thread-pool.ts';
import { DsoError, UsageError } from '../errors.ts';

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

/** A joint task of all threads. When one fails, the others may wait for it: they are ended too. */
export async function together<Result>(
  pool: ThreadPool,
  task: string,
  count: number,
  payloadOf: (index: number) => unknown,
  onEvent?: (event: unknown) => void,
  transferOf?: (index: number) => Transferable[],
  first = 0,
): Promise<Result[]> {
  try {
    return await pool.runAll<Result>(task, count, payloadOf, onEvent, transferOf, first);
  } catch (error) {
    await discard(pool);
    throw new DsoError('failure', error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}
