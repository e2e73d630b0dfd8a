/**
 * Measures the kernels of one loss and prints the results as JSON.
 *
 *   node bench/kernels/measure-loss.ts LOSS FOLDER [PROGRAM]
 *
 * Each loss has a process of its own, since the plain kernels of a process that has seen several
 * losses are slower, which no training run is.
 */
import { plainKernels } from '../../src/kernels/plain/index.ts';
import type { Kernels } from '../../src/kernels/kernels.ts';
import { kernelModule, wasmKernels } from '../../src/kernels/wasm.ts';
import { lossByName } from '../../src/losses/index.ts';
import { CKernels } from './c-program.ts';
import { shapes, type KernelResult, type SizeName } from './result.ts';
import { type Subject, subjects } from './subjects.ts';
import { Workload } from './workload.ts';

const rounds = 7;
const warmUpSeconds = 1;
/** A measurement repeats passes for so long, but makes at least one. */
const leastSeconds = 0.04;

/** Seconds that `passes` passes take together, each from the same state. */
function time(subject: Subject, kernels: Kernels, workload: Workload, passes: number): number {
  let milliseconds = 0;
  for (let pass = 0; pass < passes; pass++) {
    workload.restore();
    const start = performance.now();
    subject.pass(kernels, workload);
    milliseconds += performance.now() - start;
  }
  return milliseconds / 1000;
}

/** Brings a kernel into the engine's last tier; returns the seconds of a pass. */
function warmUp(subject: Subject, kernels: Kernels, workload: Workload, seconds: number): number {
  let spent = 0;
  let fastest = Infinity;
  do {
    const pass = time(subject, kernels, workload, 1);
    spent += pass;
    fastest = Math.min(fastest, pass);
  } while (spent < seconds);
  return fastest;
}

/** Largest difference of two states, relative to the size of each number; NaN if not comparable. */
function difference(left: Float64Array, right: Float64Array): number {
  let largest = 0;
  for (let k = 0; k < left.length; k++) {
    if (left[k] === right[k]) continue;
    const size = Math.max(Math.abs(left[k]), Math.abs(right[k]), 1e-6);
    largest = Math.max(largest, Math.abs(left[k] - right[k]) / size);
  }
  return largest;
}
