/** The WebAssembly kernels and the plain ones agree to the last bit. */
import { describe, expect, test } from 'vitest';
import { stream } from '../../../../src/math/random.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import type { Kernels } from '../../../../src/solvers/kernels/kernels.ts';
import { plainKernels } from '../../../../src/solvers/kernels/plain/index.ts';
import { kernelModule, wasmKernels } from '../../../../src/solvers/kernels/wasm.ts';
import { lossCases } from '../../../laws/cases.ts';
import { filledArena, firstDifference } from '../../../support/engine-arrays.ts';
import { type KernelCase, kernelCases } from './cases.ts';

const trials = 25;

/** Draws the arguments, calls the kernel and returns all that it may have written. */
function run(
  make: KernelCase,
  loss: Loss,
  trial: number,
  bind: (memory: WebAssembly.Memory) => Kernels,
) {
  const drawn = filledArena((arena) => make(arena, stream(trial, 9), loss));
  const before = drawn.arrays.map((array) => array.slice());
  const result = drawn.content(bind(drawn.memory));
  return { ...drawn, before, result };
}

const bytesOf = (memory: WebAssembly.Memory) => Buffer.from(memory.buffer);

test('every kernel has a case', () => {
  const covered = Object.keys(kernelCases).map((name) => name.split(':')[0]);
  const names = Object.keys(plainKernels(losses.hinge())).filter((name) => name !== 'name');
  expect(new Set(covered)).toEqual(new Set(names));
});

describe.each(lossCases)('$label', ({ loss }) => {
  test.each(Object.entries(kernelCases))('%s', (_name, make) => {
    const module = kernelModule(loss.name);
    const differences: string[] = [];
    let changed = 0;
    for (let trial = 0; trial < trials; trial++) {
      const plain = run(make, loss, trial, () => plainKernels(loss));
      const wasm = run(make, loss, trial, (memory) => wasmKernels(module, memory, loss.parameter));
      if (!Object.is(wasm.result, plain.result)) {
        differences.push(`trial ${trial}: result ${wasm.result}, expected ${plain.result}`);
      }
      plain.arrays.forEach((expected, k) => {
        const difference = firstDifference(wasm.arrays[k], expected);
        if (difference) differences.push(`trial ${trial}: array ${k}${difference}`);
        if (firstDifference(plain.before[k], expected) !== undefined) changed++;
      });
      // Nothing is written between the arrays either.
      if (!bytesOf(wasm.memory).equals(bytesOf(plain.memory))) {
        differences.push(`trial ${trial}: memory between the arrays`);
      }
      if (plain.result !== undefined) changed++;
    }
    expect(differences).toEqual([]);
    expect(changed).toBeGreaterThan(trials / 4);
  });
});
