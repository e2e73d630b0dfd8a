import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Where the arrays of a training run live: in one WebAssembly memory, where kernels reach them by
 * address; beyond its limit each in its own SharedArrayBuffer, for the plain kernels.
 */
export interface Arena {
  readonly memory: WebAssembly.Memory | undefined;
  float64(length: number): Float64Array;
  float32(length: number): Float32Array;
  int32(length: number): Int32Array;
  uint8(length: number): Uint8Array;
}

/** The memory of one run; the next run uses it again. */
export interface Workspace extends Arena {
  /** Gives back all arrays; those taken next are 0 throughout. */
  clear(): void;
}

const pageBytes = 65536;
/** A cache line: no two arrays share one, so that threads do not contend. */
const alignment = 64;
/** What addresses of 32 bits reach, which are the fastest. */
export const narrowLimit = 65536 * pageBytes;
/** What a memory with addresses of 64 bits can hold. */
const wideLimit = 4 * narrowLimit;

/** A module with nothing but a memory of this kind. */
const wideModule = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 4, 0);

/** The most that is in one WebAssembly memory. */
export function wasmLimit(): number {
  return WebAssembly.validate(wideModule) ? wideLimit : narrowLimit;
}

/** Whether the addresses of a memory have 64 bits: where 32 are enough they have 32. */
export function isWide(memory: WebAssembly.Memory): boolean {
  return memory.buffer.byteLength > narrowLimit;
}

export const padded = (bytes: number) => Math.ceil(bytes / alignment) * alignment + alignment;

/** Adds up what a run will take of an arena: create with the total, then make the same requests. */
export class Budget implements Arena {
  readonly memory = undefined;
  bytes = alignment;

  #count<Numbers>(bytes: number, none: Numbers): Numbers {
    this.bytes += padded(bytes);
    return none;
  }
  float64 = (length: number) => this.#count(8 * length, new Float64Array(0));
  float32 = (length: number) => this.#count(4 * length, new Float32Array(0));
  int32 = (length: number) => this.#count(4 * length, new Int32Array(0));
  uint8 = (length: number) => this.#count(length, new Uint8Array(0));
}

class WasmArena implements Workspace {
  readonly memory: WebAssembly.Memory;
  readonly #bottom: number;
  #top: number;

  // Address 0 stays unused, so that a forgotten pointer cannot alias an array.
  constructor(memory: WebAssembly.Memory, bottom = alignment) {
    this.memory = memory;
    this.#bottom = bottom;
    this.#top = bottom;
  }
  /** A stretch of the memory as an arena of its own. */
  workspace(bytes: number): Workspace {
    return new WasmArena(this.memory, this.#take(bytes));
  }
  clear(): void {
    // Shared memory is filled number by number: with the largest it is soonest done.
    new Float64Array(this.memory.buffer, this.#bottom, (this.#top - this.#bottom) / 8).fill(0);
    this.#top = this.#bottom;
  }
  #take(bytes: number): number {
    const at = this.#top;
    this.#top += padded(bytes);
    return at;
  }
  float64 = (length: number) =>
    new Float64Array(this.memory.buffer, this.#take(8 * length), length);
  float32 = (length: number) =>
    new Float32Array(this.memory.buffer, this.#take(4 * length), length);
  int32 = (length: number) => new Int32Array(this.memory.buffer, this.#take(4 * length), length);
  uint8 = (length: number) => new Uint8Array(this.memory.buffer, this.#take(length), length);
}

/** One shared buffer per array: no limit but the machine's. */
export const separateArena: Arena = {
  memory: undefined,
  float64: (length) => new Float64Array(new SharedArrayBuffer(8 * length)),
  float32: (length) => new Float32Array(new SharedArrayBuffer(4 * length)),
  int32: (length) => new Int32Array(new SharedArrayBuffer(4 * length)),
  uint8: (length) => new Uint8Array(new SharedArrayBuffer(length)),
};

type MemorySize = ConstructorParameters<typeof WebAssembly.Memory>[0];

function createMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / pageBytes);
  const size: object =
    bytes <= narrowLimit
      ? { initial: pages, maximum: pages, shared: true }
      : { initial: BigInt(pages), maximum: BigInt(pages), shared: true, address: 'i64' };
  return new WebAssembly.Memory(size as MemorySize);
}

export function createArena(bytes: number): Arena {
  return bytes > wasmLimit() ? separateArena : new WasmArena(createMemory(bytes));
}

/** A workspace in an arena that has `bytes` left for it. */
export function workspaceIn(arena: Arena, bytes: number): Workspace {
  if (arena instanceof WasmArena) return arena.workspace(bytes);
  return { ...arena, clear() {} };
}

/** A full garbage collection, which a training thread never starts: it frees shared buffers. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  return typeof collect === 'function' ? () => void collect() : () => {};
}

export function collectGarbage(): void {
  garbageCollector()();
}
