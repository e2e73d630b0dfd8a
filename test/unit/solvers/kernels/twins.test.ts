/** The WebAssembly kernels, for both kinds of memory, and the plain ones agree to the last bit. */
import { describe, expect, test } from 'vitest';
import { type Arena, createArena } from '../../../../src/engine/arena.ts';
import { stream } from '../../../../src/math/random.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import type { Kernels } from '../../../../src/solvers/kernels/kernels.ts';
import { plainKernels } from '../../../../src/solvers/kernels/plain/index.ts';
import { kernelModule, wasmKernels } from '../../../../src/solvers/kernels/wasm.ts';
import { lossCases } from '../../../laws/cases.ts';
import { farArena, filledArena, firstDifference } from '../../../support/engine-arrays.ts';
import { type KernelCase, kernelCases } from './cases.ts';

const trials = 25;

/** Draws the arguments, calls the kernel and returns all that it may have written. */
function run(
  make: KernelCase,
  loss: Loss,
  trial: number,
  bind: (memory: WebAssembly.Memory) => Kernels,
  arenaOf?: (bytes: number) => Arena,
) {
  const drawn = filledArena((arena) => make(arena, stream(trial, 9), loss), arenaOf);
  const before = drawn.arrays.map((array) => array.slice());
  const result = drawn.content(bind(drawn.memory));
  return { ...drawn, before, result };
}

type Run = ReturnType<typeof run>;

/** The memory from the first array on, which is the same wherever that is. */
function bytesOf({ memory, arrays }: Run, most?: number): Buffer {
  return Buffer.from(memory.buffer, arrays[0].byteOffset).subarray(0, most);
}

function differencesOf(found: Run, expected: Run): string[] {
  const differences: string[] = [];
  if (!Object.is(found.result, expected.result)) {
    differences.push(`result ${found.result}, expected ${expected.result}`);
  }
  expected.arrays.forEach((array, k) => {
    const difference = firstDifference(found.arrays[k], array);
    if (difference) differences.push(`array ${k}${difference}`);
  });
  // Nothing is written between the arrays either.
  const all = bytesOf(expected);
  const same = bytesOf(found, all.length);
  if (!same.equals(all.subarray(0, same.length))) differences.push('memory between the arrays');
  return differences;
}

test('every kernel has a case', () => {
  const covered = Object.keys(kernelCases).map((name) => name.split(':')[0]);
  const names = Object.keys(plainKernels(losses.hinge())).filter((name) => name !== 'name');
  expect(new Set(covered)).toEqual(new Set(names));
});

describe.each(lossCases)('$label', ({ loss }) => {
  const bind = (memory: WebAssembly.Memory) =>
    wasmKernels(kernelModule(loss.name, memory), memory, loss.parameter);

  test.each(Object.entries(kernelCases))('%s', (_name, make) => {
    const differences: string[] = [];
    let changed = 0;
    for (let trial = 0; trial < trials; trial++) {
      const plain = run(make, loss, trial, () => plainKernels(loss));
      for (const arenaOf of [createArena, farArena]) {
        const wasm = run(make, loss, trial, bind, arenaOf);
        for (const difference of differencesOf(wasm, plain)) {
          differences.push(`trial ${trial}, ${arenaOf.name}: ${difference}`);
        }
      }
      plain.arrays.forEach((after, k) => {
        if (firstDifference(plain.before[k], after) !== undefined) changed++;
      });
      if (plain.result !== undefined) changed++;
    }
    expect(differences).toEqual([]);
    expect(changed).toBeGreaterThan(trials / 4);
  });
});
