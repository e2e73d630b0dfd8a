import { readFileSync } from 'node:fs';
import { kernelCalls } from '../../../wasm/calls.js';
import type { Kernels } from './kernels.ts';

const folder = new URL(
  import.meta.url.endsWith('.ts') ? '../../../wasm/' : '../wasm/',
  import.meta.url,
);

/** Compiled modules by loss; a module is posted to worker threads rather than compiled there. */
const compiled = new Map<string, WebAssembly.Module>();

export function kernelModule(lossName: string): WebAssembly.Module {
  let module = compiled.get(lossName);
  if (!module) {
    module = new WebAssembly.Module(readFileSync(new URL(`${lossName}.wasm`, folder)));
    compiled.set(lossName, module);
  }
  return module;
}

/**
 * Binds a kernel module to the memory that holds all arrays. Callers pass views on that memory;
 * only their addresses cross the border. The build writes each call out from its line in
 * signatures.ts, because a loop over the values would cost as much as a short visit.
 */
export function wasmKernels(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  parameter: number,
): Kernels {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return { name: 'wasm', ...kernelCalls(exports, parameter) };
}
