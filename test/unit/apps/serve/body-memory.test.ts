import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BodyMemory } from '../../../../src/apps/serve/body-memory.ts';

const large = 2 ** 20;

test('counts what is large, and refuses what is too much', () => {
  let bytes = 0;
  const memory = new BodyMemory(2 * large, (now) => {
    bytes = now;
  });
  const [one, other, small] = [1, 2, 3].map(() => ({ held: 0, settled: false }));
  memory.hold(one, large);
  memory.hold(other, large);
  memory.hold(small, 1000);
  expect(bytes).toBe(2 * large);
  expect(() => memory.hold(other, large + 1)).toThrow('too many large bodies at once');
  memory.hold(other, 0);
  memory.hold(one, 2 * large);
  memory.release(one);
  expect(bytes).toBe(0);
  memory.hold({ ...one, settled: true }, large);
  expect(bytes).toBe(0);
});

test('memory is given back once no large body is left', async () => {
  const memory = new BodyMemory(2 * large, () => {});
  const holder = { held: 0, settled: false };
  const body = new WeakRef({ rows: new Array(1000).fill(0) });
  memory.hold(holder, large);
  await turn();
  memory.tidy();
  expect(body.deref()).toBeDefined();
  memory.release(holder);
  await turn();
  memory.tidy();
  expect(body.deref()).toBeUndefined();
});
