/** Sums by segments: whoever adds the lanes, and in whatever sequence, gets the same bits. */
import { describe, expect, test } from 'vitest';
import { createArena } from '../../../../src/engine/arena.ts';
import { type Random, stream } from '../../../../src/math/random.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { plainKernels } from '../../../../src/solvers/kernels/plain/index.ts';
import { kernelModule, wasmKernels } from '../../../../src/solvers/kernels/wasm.ts';

function shuffled(random: Random, count: number): Int32Array {
  const order = Int32Array.from({ length: count }, (_, k) => k);
  random.shuffle(order, count);
  return order;
}

/** As a device does it: lanes and segments in any sequence, then every lane adds its partner's sum. */
function scattered(terms: Float64Array, random: Random): number {
  const sums = new Float64Array(Math.max(1, Math.ceil(terms.length / 512)));
  for (const s of shuffled(random, sums.length)) {
    let lanes = new Float64Array(8);
    for (const lane of shuffled(random, 8)) {
      for (let k = 512 * s + lane; k < Math.min(terms.length, 512 * (s + 1)); k += 8) {
        lanes[lane] += terms[k];
      }
    }
    for (const distance of [4, 2, 1]) {
      const before = lanes;
      lanes = before.map((sum, lane) => sum + before[lane ^ distance]);
    }
    expect(new Set(lanes).size).toBe(1);
    sums[s] = lanes[random.below(8)];
  }
  return sums.length > 1 ? scattered(sums, random) : sums[0];
}

const arena = createArena(2 ** 24);
const memory = arena.memory!;
const makers = {
  plain: () => plainKernels(losses.square()),
  wasm: () => wasmKernels(kernelModule('square', memory), memory, 0),
};
const most = 512 * 512 + 700;
const [x, y] = [arena.float64(most), arena.float64(most)];
const [indices, values] = [arena.int32(5000), arena.float32(5000)];
const random = stream(3, 1);
for (let k = 0; k < most; k++) [x[k], y[k]] = [random.normal(), 10 ** (6 * random.uniform() - 3)];
for (let k = 0; k < 5000; k++) [indices[k], values[k]] = [random.below(most), random.normal()];

describe.each(['plain', 'wasm'] as const)('%s kernels', (name) => {
  const kernels = makers[name]();

  test.each([0, 1, 7, 8, 9, 511, 512, 513, 4096, 512 * 512, most])('%i terms', (count) => {
    const [a, b] = [x.subarray(0, count), y.subarray(0, count)];
    expect(kernels.segmentSum(a)).toBe(scattered(a, stream(count, 2)));
    const terms = a.map((value, k) => value * b[k]);
    expect(kernels.segmentDot(a, b)).toBe(scattered(terms, stream(count, 3)));
  });

  test('units of any length, whole or added to what is there', () => {
    const lengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 512, 513, 3000];
    const offsets = arena.int32(lengths.length + 1);
    for (const [i, length] of lengths.entries()) offsets[i + 1] = offsets[i] + length;
    const cell = { offsets, indices, values };
    const result = arena.float64(lengths.length).fill(0.1);
    const termsOf = (i: number, square: boolean) =>
      Float64Array.from({ length: lengths[i] }, (_, k) => {
        const value = values[offsets[i] + k];
        return (square ? value * value : value) * x[indices[offsets[i] + k]];
      });
    kernels.segmentProducts(cell, 0, lengths.length, false, x, result);
    const products = lengths.map((_, i) => 0.1 + scattered(termsOf(i, false), stream(i, 4)));
    expect([...result]).toEqual(products);
    kernels.segmentSquares(cell, 0, lengths.length, true, x, result);
    const squares = lengths.map((_, i) => scattered(termsOf(i, true), stream(i, 5)));
    expect([...result]).toEqual(squares);
  });
});
