import { expect, test } from 'vitest';
import { testPool } from './support/pool.ts';

test('run gives each task to the least busy thread', async () => {
  const pool = testPool(3);
  expect(pool.threads).toBe(3);
  const ids = await Promise.all([0, 1, 2].map(() => pool.run<number>('threadId', undefined)));
  expect(new Set(ids).size).toBe(3);
});

test('answers go to the call they belong to', async () => {
  const pool = testPool(2);
  const numbers = Array.from({ length: 50 }, (_, k) => k);
  const doubled = await Promise.all(numbers.map((k) => pool.run<number>('double', k)));
  expect(doubled).toEqual(numbers.map((k) => 2 * k));
});

test('runAll gives every thread its own payload and keeps the order of results', async () => {
  const pool = testPool(3);
  expect(await pool.runAll<number>('double', 3, (index) => 10 + index)).toEqual([20, 22, 24]);
  const ids = await pool.runAll<number>('threadId', 2, () => undefined);
  expect(new Set(ids).size).toBe(2);
});

test('events reach the listener before the result', async () => {
  const pool = testPool(1);
  const events: unknown[] = [];
  const [result] = await pool.runAll('count', 1, () => 4, {
    onEvent: (event) => events.push(event),
  });
  expect(result).toBe('counted');
  expect(events).toEqual([1, 2, 3, 4]);
});

test('an error in a task comes back as it is, and the thread goes on', async () => {
  const pool = testPool(1);
  await expect(pool.run('fail', 'no such row')).rejects.toThrow(RangeError);
  await expect(pool.run('fail', 'no such row')).rejects.toThrow('no such row');
  await expect(pool.runAll('fail', 1, () => 'again')).rejects.toThrow('again');
  expect(await pool.run('double', 4)).toBe(8);
});

test('a joint task that fails rejects, and every thread goes on', async () => {
  const pool = testPool(3);
  await expect(pool.runAll('fail', 3, (index) => `thread ${index}`)).rejects.toThrow(/^thread /);
  expect(await pool.runAll<number>('double', 3, (index) => index)).toEqual([0, 2, 4]);
});

test('closing ends threads in the middle of a task', async () => {
  const pool = testPool(2);
  const counters = [0, 1].map(() => new Int32Array(new SharedArrayBuffer(4)));
  const failed = expect(pool.runAll('tick', 2, (index) => counters[index])).rejects.toThrow(
    'a worker thread ended',
  );
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
  while (counters.some((counter) => Atomics.load(counter, 0) === 0)) await pause();
  await pool.close();
  await failed;
  const atEnd = counters.map((counter) => Atomics.load(counter, 0));
  await pause();
  expect(counters.map((counter) => Atomics.load(counter, 0))).toEqual(atEnd);
});

test('a thread that ends fails the calls that wait for it', async () => {
  const pool = testPool(1);
  await expect(pool.run('exit', 3)).rejects.toThrow('a worker thread ended with code 3');
});

test('closing fails the calls that still wait', async () => {
  const pool = testPool(1);
  const cells = new Int32Array(new SharedArrayBuffer(4));
  const waiting = pool.run('wait', cells);
  const failed = expect(waiting).rejects.toThrow('a worker thread ended');
  await pool.close();
  await failed;
});

test('closeWhenIdle lets running tasks end', async () => {
  const pool = testPool(1);
  const cells = new Int32Array(new SharedArrayBuffer(4));
  const waiting = pool.run<string>('wait', cells);
  const closed = pool.closeWhenIdle();
  setTimeout(() => {
    Atomics.store(cells, 0, 1);
    Atomics.notify(cells, 0);
  }, 20);
  expect(['ok', 'not-equal']).toContain(await waiting);
  await closed;
});

test('buffers can be handed over instead of copied', async () => {
  const pool = testPool(1);
  const buffer = new ArrayBuffer(1000);
  expect(await pool.run('byteLength', buffer, [buffer])).toBe(1000);
  expect(buffer.byteLength).toBe(0);
});
