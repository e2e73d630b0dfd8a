import { type Arena, createArena } from '../../../../src/engine/arena.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import type { Cell, Kernels } from '../../../../src/solvers/kernels/kernels.ts';
import { plainKernels } from '../../../../src/solvers/kernels/plain/index.ts';
import { kernelModule, wasmKernels } from '../../../../src/solvers/kernels/wasm.ts';

/** Arrays with given contents in one WebAssembly memory, where kernels of both kinds see them. */
export class Desk {
  readonly arena: Arena = createArena(65536);
  doubles(...values: number[]): Float64Array {
    const array = this.arena.float64(values.length);
    array.set(values);
    return array;
  }
  ints(...values: number[]): Int32Array {
    const array = this.arena.int32(values.length);
    array.set(values);
    return array;
  }
  bytes(...values: number[]): Uint8Array {
    const array = this.arena.uint8(values.length);
    array.set(values);
    return array;
  }
  cell(offsets: number[], indices: number[], values: number[]): Cell {
    const floats = this.arena.float32(values.length);
    floats.set(values);
    return { offsets: this.ints(...offsets), indices: this.ints(...indices), values: floats };
  }
  kernels(name: Kernels['name'], loss: Loss): Kernels {
    return name === 'plain'
      ? plainKernels(loss)
      : wasmKernels(kernelModule(loss.name, this.#memory), this.#memory, loss.parameter);
  }
  get #memory(): WebAssembly.Memory {
    return this.arena.memory!;
  }
}
