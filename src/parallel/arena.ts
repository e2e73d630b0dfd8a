/**
 * Where the arrays of a training run live. Up to 4 GiB they share one WebAssembly memory, so that
 * kernels reach all of them by address; beyond, every array has its own SharedArrayBuffer and the
 * plain kernels do the work.
 */
export interface Arena {
  readonly memory: WebAssembly.Memory | undefined;
  float64(length: number): Float64Array;
  float32(length: number): Float32Array;
  int32(length: number): Int32Array;
  uint8(length: number): Uint8Array;
}

const pageBytes = 65536;
/** A cache line: no two arrays share one, so that threads do not contend. */
const alignment = 64;
export const wasmLimit = 65536 * pageBytes;

const padded = (bytes: number) => Math.ceil(bytes / alignment) * alignment + alignment;

/** Adds up what a run will ask of an arena: create with the total, then make the same requests. */
export class Budget implements Arena {
  readonly memory = undefined;
  bytes = alignment;

  #count(bytes: number): void {
    this.bytes += padded(bytes);
  }
  float64(length: number): Float64Array {
    this.#count(8 * length);
    return new Float64Array(0);
  }
  float32(length: number): Float32Array {
    this.#count(4 * length);
    return new Float32Array(0);
  }
  int32(length: number): Int32Array {
    this.#count(4 * length);
    return new Int32Array(0);
  }
  uint8(length: number): Uint8Array {
    this.#count(length);
    return new Uint8Array(0);
  }
}

class WasmArena implements Arena {
  readonly memory: WebAssembly.Memory;
  // Address 0 stays unused, so that a forgotten pointer cannot alias an array.
  #top = alignment;

  constructor(bytes: number) {
    const pages = Math.ceil(bytes / pageBytes);
    this.memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  }
  #take(bytes: number): number {
    const at = this.#top;
    this.#top += padded(bytes);
    return at;
  }
  float64(length: number): Float64Array {
    return new Float64Array(this.memory.buffer, this.#take(8 * length), length);
  }
  float32(length: number): Float32Array {
    return new Float32Array(this.memory.buffer, this.#take(4 * length), length);
  }
  int32(length: number): Int32Array {
    return new Int32Array(this.memory.buffer, this.#take(4 * length), length);
  }
  uint8(length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, this.#take(length), length);
  }
}

/** One shared buffer per array: no limit but the machine's. */
export const separateArena: Arena = {
  memory: undefined,
  float64: (length) => new Float64Array(new SharedArrayBuffer(8 * length)),
  float32: (length) => new Float32Array(new SharedArrayBuffer(4 * length)),
  int32: (length) => new Int32Array(new SharedArrayBuffer(4 * length)),
  uint8: (length) => new Uint8Array(new SharedArrayBuffer(length)),
};

export function createArena(bytes: number): Arena {
  return bytes <= wasmLimit ? new WasmArena(bytes) : separateArena;
}
