import { expect, test } from 'vitest';
import { CallingThread } from '../../../src/engine/calling-thread.ts';
import type { Listener, Pause } from '../../../src/engine/thread.ts';
import { ThreadPool } from '../../../src/engine/thread-pool.ts';
import { DataError } from '../../../src/errors.ts';

/** Works until others have had the thread, and counts its epochs. */
async function waitForOthers(cells: Int32Array, emit: Listener, pause?: Pause): Promise<number> {
  let epochs = 0;
  while (cells[0] === 0) {
    epochs += 1;
    emit(epochs);
    const others = pause?.();
    if (others) await others;
  }
  return epochs;
}

const pool = new ThreadPool([
  new CallingThread({
    waitForOthers,
    double: (number: number) => 2 * number,
    fail() {
      throw new DataError('row 3');
    },
  }),
]);

test('answers requests without a thread', async () => {
  expect(await pool.run<number>('double', 4)).toBe(8);
  expect(await pool.runAll<number>('double', 1, (index) => 5 + index)).toEqual([10]);
});

test('an error is that of the task, and the next request is answered', async () => {
  await expect(pool.run('fail', undefined)).rejects.toThrow(DataError);
  expect(await pool.run<number>('double', 1)).toBe(2);
});

test('timers run in the middle of a task', async () => {
  const cells = new Int32Array(1);
  const events: unknown[] = [];
  const working = pool.runAll<number>('waitForOthers', 1, () => cells, {
    onEvent: (event) => events.push(event),
  });
  setTimeout(() => {
    cells[0] = 1;
  });
  const [epochs] = await working;
  expect(events.length).toBe(epochs);
});
