/** Arrays on buffers of more than 4 GiB arrive as they are; so does everything else. */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { post, received } from '../../../src/engine/messages.ts';
import { farArena } from '../../support/engine-arrays.ts';

function sent<Message>(message: Message): Message {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  post(port1, message);
  return received(receiveMessageOnPort(port2)?.message) as Message;
}

test('an array beyond 4 GiB of its buffer', () => {
  const arena = farArena(65536);
  const arrays = {
    float64: arena.float64(3),
    float32: arena.float32(3),
    int32: arena.int32(3),
    uint8: arena.uint8(3),
  };
  const got = sent({ arrays, deep: [{ again: arrays.int32 }], also: arrays });
  for (const name of Object.keys(arrays) as (keyof typeof arrays)[]) {
    const [array, other] = [arrays[name], got.arrays[name]];
    expect(other.constructor).toBe(array.constructor);
    expect([other.byteOffset, other.length]).toEqual([array.byteOffset, 3]);
    other[1] = 7;
    expect(array[1]).toBe(7);
  }
  expect(got.deep[0].again).toBe(got.arrays.int32);
  expect(got.also).toBe(got.arrays);
});

test('an array before and one across 4 GiB of their buffer', () => {
  const { buffer } = farArena(65536).uint8(1);
  const before = new Int32Array(buffer, 2 ** 31, 5);
  const across = new Float64Array(buffer, 2 ** 32 - 8, 2);
  const got = sent({ before, across });
  expect([got.before.byteOffset, got.before.length]).toEqual([2 ** 31, 5]);
  expect([got.across.byteOffset, got.across.length]).toEqual([2 ** 32 - 8, 2]);
});

test('an array of more than 4 GiB', () => {
  const array = new Uint8Array(new SharedArrayBuffer(2 ** 32 + 5));
  const [got] = sent([array]);
  expect(got.length).toBe(2 ** 32 + 5);
  got[got.length - 1] = 3;
  expect(array[array.length - 1]).toBe(3);
});

test('what is beside such an array', () => {
  const far = farArena(65536).float64(2);
  const near = new Float64Array([1, 2]);
  const circle: { self?: object; far: Float64Array } = { far };
  circle.self = circle;
  const message = { far, near, map: new Map([[1, 'one']]), none: null, no: undefined, list: [0n] };
  const { far: _, ...rest } = sent(message);
  const { far: __, ...expected } = message;
  expect(rest).toEqual(expected);
  const got = sent(circle);
  expect(got.self).toBe(got);
  expect(got.far.byteOffset).toBe(far.byteOffset);
});

test('an array of another kind is refused, not cut short', () => {
  const { buffer, byteOffset } = farArena(65536).float64(2);
  expect(() => sent({ view: new Int16Array(buffer, byteOffset, 4) })).toThrow(
    'a Int16Array on more than 4 GiB cannot be posted',
  );
});
