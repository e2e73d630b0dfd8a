import { expect, test } from 'vitest';
import { Limited } from '../../../ui/src/limited.ts';

test('no more tasks run at a time than allowed, and all of them do', async () => {
  const limited = new Limited(3);
  const order: number[] = [];
  let [running, most] = [0, 0];
  await new Promise<void>((resolve) => {
    for (let task = 0; task < 10; task++) {
      limited.add(async () => {
        most = Math.max(most, ++running);
        order.push(task);
        await new Promise(setImmediate);
        running--;
        if (order.length === 10 && running === 0) resolve();
      });
    }
  });
  expect(most).toBe(3);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
