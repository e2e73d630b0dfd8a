/**
 * WebAssembly as Node has it. TypeScript declares it only together with the whole browser, whose
 * globals (`name`, `event`, `close` …) would then hide typing mistakes everywhere.
 */
declare namespace WebAssembly {
  type ImportValue = Memory | Global | ((...values: number[]) => number | undefined) | number;
  type Imports = Record<string, Record<string, ImportValue>>;

  class Module {
    constructor(bytes: ArrayBufferView | ArrayBufferLike);
  }

  class Instance {
    readonly exports: Record<string, unknown>;
    constructor(module: Module, imports?: Imports);
  }

  class Memory {
    readonly buffer: ArrayBuffer | SharedArrayBuffer;
    constructor(size: { initial: number; maximum?: number; shared?: boolean });
    /** Returns the former size in pages of 64 KiB. */
    grow(pages: number): number;
  }

  class Global {
    value: number;
  }

  function validate(bytes: ArrayBufferView | ArrayBufferLike): boolean;
  function compile(bytes: ArrayBufferView | ArrayBufferLike): Promise<Module>;
  function instantiate(module: Module, imports?: Imports): Promise<Instance>;
}
