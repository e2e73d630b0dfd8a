import { onTestFinished } from 'vitest';
import { ThreadPool } from '../../../../src/engine/thread-pool.ts';

/** A pool of the tests' own worker that ends with the test. */
export function testPool(threads: number): ThreadPool {
  const pool = new ThreadPool(new URL('./worker.ts', import.meta.url), threads);
  onTestFinished(() => pool.close());
  return pool;
}
