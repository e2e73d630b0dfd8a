import { readFileSync } from 'node:fs';
import { kernelCalls } from '../../../wasm/calls.js';
import { isWide } from '../../engine/arena.ts';
import type { Kernels } from './kernels.ts';

const folder = new URL(
  import.meta.url.endsWith('.ts') ? '../../../wasm/' : '../wasm/',
  import.meta.url,
);

/** Compiled modules by name; a module is posted to worker threads rather than compiled there. */
const compiled = new Map<string, WebAssembly.Module>();

/** The kernels of a loss, for the addresses that the memory has. */
export function kernelModule(lossName: string, memory: WebAssembly.Memory): WebAssembly.Module {
  const name = isWide(memory) ? `${lossName}64` : lossName;
  let module = compiled.get(name);
  if (!module) {
    module = new WebAssembly.Module(readFileSync(new URL(`${name}.wasm`, folder)));
    compiled.set(name, module);
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
