/**
 * Measures the kernels of one loss and prints the results as JSON.
 *
 *   node bench/kernels/measure-loss.ts LOSS FOLDER [PROGRAM]
 *
 * Each loss has its own process: the plain kernels of a process that has seen several losses
 * are slower, and a training run sees one.
 */

import { lossByName } from '../../src/problem/losses/index.ts';
import type { Kernels } from '../../src/solvers/kernels/kernels.ts';
import { plainKernels } from '../../src/solvers/kernels/plain/index.ts';
import { kernelModule, wasmKernels } from '../../src/solvers/kernels/wasm.ts';
import { CKernels } from './c-program.ts';
import { type KernelResult, type SizeName, shapes, sizeNames } from './result.ts';
import { type Subject, subjects } from './subjects.ts';
import { Workload } from './workload.ts';

/** Many short rounds find the machine undisturbed more often than few long ones. */
const rounds = { 'in cache': 24, big: 8 } as const satisfies Record<SizeName, number>;
/** The plain twin has no target and takes part in every fourth round only. */
const plainEvery = 4;
/** A round repeats passes for so long, but makes at least one. */
const leastSeconds = 0.02;
/** How long the engine has, at least, to bring a kernel into its last tier. */
const warmUpSeconds = { 'in cache': 1, big: 0.1 } as const satisfies Record<SizeName, number>;
/** How far C with its library's log and exp may be from ours after a pass. */
const closeEnough = 1e-6;

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

/** Returns the seconds of the fastest pass. */
function warmUp(subject: Subject, kernels: Kernels, workload: Workload, seconds: number): number {
  let spent = 0;
  let fastest = Infinity;
  while (spent < seconds) {
    const pass = time(subject, kernels, workload, 1);
    spent += pass;
    fastest = Math.min(fastest, pass);
  }
  return fastest;
}

function stateAfterPass(subject: Subject, kernels: Kernels, workload: Workload): Uint8Array {
  workload.restore();
  subject.pass(kernels, workload);
  return workload.state.slice();
}

function compare(
  workload: Workload,
  ours: Uint8Array,
  theirs: Uint8Array,
): NonNullable<KernelResult['sameAsC']> {
  if (Buffer.compare(ours, theirs) === 0) return 'same bits';
  const stateStart = workload.state.byteOffset;
  for (const array of Object.values(workload.arrays)) {
    if (!(array instanceof Float64Array) || array.byteOffset < stateStart) continue;
    const at = array.byteOffset - stateStart;
    const left = new Float64Array(ours.buffer, ours.byteOffset + at, array.length);
    const right = new Float64Array(theirs.buffer, theirs.byteOffset + at, array.length);
    for (let k = 0; k < array.length; k++) {
      const size = Math.max(Math.abs(left[k]), Math.abs(right[k]), 1e-9);
      if (!(Math.abs(left[k] - right[k]) <= closeEnough * size)) return 'DIFFERENT';
    }
  }
  return 'close';
}

interface Contestants {
  readonly wasm: Kernels;
  readonly plain: Kernels;
  readonly c: CKernels | undefined;
}

async function measure(
  subject: Subject,
  size: SizeName,
  workload: Workload,
  { wasm, plain, c }: Contestants,
): Promise<KernelResult> {
  const pass = warmUp(subject, wasm, workload, warmUpSeconds[size]);
  warmUp(subject, plain, workload, warmUpSeconds[size]);
  const ours = stateAfterPass(subject, wasm, workload);
  const sameAsPlain = Buffer.compare(ours, stateAfterPass(subject, plain, workload)) === 0;
  await c?.run(subject.command, 1);
  const sameAsC = c && compare(workload, ours, await c.state());
  const passes = Math.ceil(leastSeconds / pass);
  const best = { wasm: Infinity, plain: Infinity, c: Infinity };
  for (let round = 0; round < rounds[size]; round++) {
    if (c) best.c = Math.min(best.c, await c.run(subject.command, passes));
    best.wasm = Math.min(best.wasm, time(subject, wasm, workload, passes));
    if (round % plainEvery > 0) continue;
    best.plain = Math.min(best.plain, time(subject, plain, workload, passes));
  }
  const perEntry = 1e9 / (passes * workload.entries);
  return {
    kernel: subject.title,
    size,
    wasm: best.wasm * perEntry,
    plain: best.plain * perEntry,
    sameAsPlain,
    ...(c && { c: best.c * perEntry }),
    ...(sameAsC && { sameAsC }),
  };
}

const [lossName, folder, program] = process.argv.slice(2);
const loss = lossByName(lossName);
const results: KernelResult[] = [];
for (const size of sizeNames) {
  const workload = new Workload(shapes[size], 1);
  const contestants: Contestants = {
    wasm: wasmKernels(kernelModule(loss.name, workload.memory), workload.memory, loss.parameter),
    plain: plainKernels(loss),
    c: program ? new CKernels(program, workload, folder) : undefined,
  };
  for (const subject of subjects) {
    if (subject.loss !== loss.name) continue;
    process.stderr.write(`  ${subject.title}, ${size} …\n`);
    results.push(await measure(subject, size, workload, contestants));
  }
  await contestants.c?.close();
}
process.stdout.write(JSON.stringify(results));
