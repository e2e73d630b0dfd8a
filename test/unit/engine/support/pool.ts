import { onTestFinished } from 'vitest';
import { startThreads, type ThreadPool } from '../../../../src/engine/thread-pool.ts';

/** A pool of the tests' own worker that ends with the test. */
export function testPool(threads: number): ThreadPool {
  const pool = startThreads(new URL('./worker.ts', import.meta.url), threads);
  onTestFinished(() => pool.close());
  return pool;
}
