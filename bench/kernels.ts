import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileC } from './kernels/c-program.ts';
import type { KernelResult } from './kernels/result.ts';
import type { Measure, PartReport } from './measure.ts';
import { cacheFolder } from './samples.ts';
import { figure, table } from './table.ts';

const script = fileURLToPath(new URL('kernels/measure-loss.ts', import.meta.url));
const limit = 1.25;

function measureLoss(loss: string, program: string | undefined): KernelResult[] {
  const argv = [script, loss, cacheFolder, ...(program ? [program] : [])];
  const result = spawnSync(process.execPath, argv, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (result.status !== 0) throw new Error(`the kernels of ${loss} could not be measured`);
  return JSON.parse(result.stdout) as KernelResult[];
}

function rowOf({ kernel, size, c, wasm, plain, sameAsC, sameAsPlain }: KernelResult): string[] {
  const ratio = (value: number) => (c === undefined ? '–' : `${figure(value / c)}×`);
  return [
    kernel,
    size,
    c === undefined ? '–' : figure(c),
    figure(wasm),
    figure(plain),
    ratio(wasm),
    ratio(plain),
    sameAsC ?? '–',
    sameAsPlain ? 'same bits' : 'DIFFERENT',
  ];
}

function measuresOf({ kernel, size, wasm, c }: KernelResult): Measure[] {
  if (c === undefined) return [];
  const name = `${kernel}, ${size}: WebAssembly / C`;
  return [{ name, value: wasm / c, unit: '×', target: { kind: 'at most', limit } }];
}

/** Nanoseconds per non-zero of the hot loops, next to the same loops in C. */
export async function benchKernels(): Promise<PartReport> {
  const program = compileC(cacheFolder);
  const skipped = program ? [] : ['kernels against C: there is no gcc'];
  const results = ['hinge', 'logistic'].flatMap((loss) => measureLoss(loss, program));
  if (program) rmSync(program, { force: true });
  const head = ['kernel', 'data', 'C ns', 'wasm ns', 'plain ns', 'wasm / C', 'plain / C'];
  console.log(table([...head, 'results C', 'results plain'], results.map(rowOf)));
  console.log('"close": C uses the log and exp of its library, so the last bits differ.');
  return { measures: results.flatMap(measuresOf), details: results, skipped };
}
