/** A process on its own is a group of one. */
import { expect, test } from 'vitest';
import {
  broadcastNumbers,
  collectNumbers,
  fairCores,
  gatherFloats,
  gatherNumbers,
  gatherValues,
  singleProcess,
  sumNumbers,
} from '../../../../src/engine/processes/process-group.ts';

test('a single process leads and gets its own numbers', async () => {
  expect([singleProcess.rank, singleProcess.size, singleProcess.leads]).toEqual([0, 1, true]);
  const floats = Float64Array.of(1.5, -0, Infinity);
  const integers = Int32Array.of(3, 4);
  expect(await gatherValues(singleProcess, -0)).toEqual([-0]);
  expect(await gatherFloats(singleProcess, floats)).toEqual([floats]);
  expect(await collectNumbers(singleProcess, floats)).toEqual([floats]);
  expect(await broadcastNumbers(singleProcess, floats)).toEqual(floats);
  expect(await gatherNumbers(singleProcess, integers)).toEqual(integers);
  expect(await sumNumbers(singleProcess, integers)).toEqual(integers);
  expect(await singleProcess.exchange([Uint8Array.of(7)])).toEqual([Uint8Array.of(7)]);
});

test('a view that is not aligned is read as it is', async () => {
  const shifted = new Float64Array(3).map((_, k) => k).subarray(1);
  expect([...(await gatherFloats(singleProcess, shifted))[0]]).toEqual([1, 2]);
});

test('processes of a host share its cores', () => {
  const alone = fairCores({ rank: 0, hosts: ['a', 'b'] });
  const shared = fairCores({ rank: 1, hosts: ['a', 'b', 'b'] });
  expect(alone).toBe(fairCores(singleProcess));
  expect(shared).toBe(Math.max(1, Math.floor(alone / 2)));
});
