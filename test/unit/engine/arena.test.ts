import { describe, expect, test } from 'vitest';
import {
  type Arena,
  Budget,
  createArena,
  isWide,
  narrowLimit,
  separateArena,
  wasmLimit,
  workspaceIn,
} from '../../../src/engine/arena.ts';
import type { NumberArray } from '../../support/engine-arrays.ts';

const requests = [0, 1, 7, 8, 9, 16, 63, 64, 65, 1000, 4096, 100_001];

function takeAll(arena: Arena): NumberArray[] {
  return requests.flatMap((length) => [
    arena.float64(length),
    arena.float32(length),
    arena.int32(length),
    arena.uint8(length),
  ]);
}

function budgetOf(take: (arena: Arena) => unknown): number {
  const budget = new Budget();
  take(budget);
  return budget.bytes;
}

describe('one WebAssembly memory', () => {
  const arena = createArena(budgetOf(takeAll));
  const arrays = takeAll(arena);

  test('gives the lengths asked for, all of them zero', () => {
    expect(arrays.map((array) => array.length)).toEqual(
      requests.flatMap((length) => [length, length, length, length]),
    );
    for (const array of arrays) expect(array.every((value: number) => value === 0)).toBe(true);
  });

  test('arrays are views of the shared memory, on cache lines of their own, never at address 0', () => {
    const { memory } = arena;
    expect(memory?.buffer).toBeInstanceOf(SharedArrayBuffer);
    for (const array of arrays) {
      expect(array.buffer).toBe(memory?.buffer);
      expect(array.byteOffset % 64).toBe(0);
      expect(array.byteOffset).toBeGreaterThan(0);
    }
    for (let k = 1; k < arrays.length; k++) {
      const end = arrays[k - 1].byteOffset + arrays[k - 1].byteLength;
      expect(arrays[k].byteOffset).toBeGreaterThanOrEqual(end);
      if (arrays[k - 1].length === 0 || arrays[k].length === 0) continue;
      expect(arrays[k].byteOffset >> 6).toBeGreaterThan((end - 1) >> 6);
    }
  });

  test('the budget is what is used: one more array does not fit a full page', () => {
    // Fill pages exactly, so that the last byte of the budget is the last of the memory.
    const fill = (target: Arena) => {
      for (let k = 0; k < 3; k++) target.uint8(65536 - 64 - (k === 0 ? 64 : 0));
    };
    const bytes = budgetOf(fill);
    expect(bytes).toBe(3 * 65536);
    const full = createArena(bytes);
    fill(full);
    expect(full.memory?.buffer.byteLength).toBe(bytes);
    expect(() => full.float64(1)).toThrow(RangeError);
  });
});

test('addresses have 64 bits where 32 are not enough', () => {
  const [near, far] = [createArena(narrowLimit), createArena(narrowLimit + 1)];
  expect([near, far].map(({ memory }) => memory && isWide(memory))).toEqual([false, true]);
  workspaceIn(far, narrowLimit - 256);
  const across = far.float64(32);
  expect(across.byteOffset).toBeLessThan(narrowLimit);
  across.fill(3);
  expect(across.every((value) => value === 3)).toBe(true);
});

test('a budget beyond what WebAssembly can address goes to separate buffers', () => {
  expect(createArena(wasmLimit() + 1)).toBe(separateArena);
  const arrays = takeAll(separateArena);
  expect(new Set(arrays.map((array) => array.buffer)).size).toBe(arrays.length);
  for (const array of arrays) expect(array.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(separateArena.memory).toBeUndefined();
});
