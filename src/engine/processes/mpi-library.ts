import { fstatSync, readFileSync } from 'node:fs';
import { DsoError } from '../../errors.ts';
import { separateArena } from '../arena.ts';
import type { Flavour } from './launch.ts';

/** A handle or constant as the library's C functions take it. */
type Handle = number | bigint;

/** What differs between the two families besides the names of files. */
interface Dialect {
  /** C type of communicators, data types and operations. */
  readonly handle: 'int' | 'uintptr_t';
  readonly world: Handle;
  readonly byte: Handle;
  readonly errorsReturn: Handle;
  readonly requestBytes: number;
  readonly statusesIgnore: bigint;
}

/** Files of the libraries, and the packages that have them. */
const families: Readonly<Record<Flavour, { files: readonly string[]; packages: string }>> = {
  openmpi: {
    files: ['libmpi.so.40', 'libmpi.so.20', 'libmpi.40.dylib', 'libmpi.so'],
    packages: 'Debian: openmpi-bin libopenmpi3',
  },
  mpich: {
    files: ['libmpich.so.12', 'libmpi.so.12', 'libmpi.12.dylib', 'libmpi.so'],
    packages: 'Debian: mpich',
  },
};

const mpichDialect: Dialect = {
  handle: 'int',
  world: 0x44000000,
  byte: 0x4c00010d,
  errorsReturn: 0x54000001,
  requestBytes: 4,
  statusesIgnore: 1n,
};

/** Open MPI's handles are addresses of objects that the library exports. */
function openMpiDialect(ffi: Ffi, library: FfiLibrary): Dialect {
  const address = (name: string) => ffi.address(library.symbol(name, 'int'));
  return {
    handle: 'uintptr_t',
    world: address('ompi_mpi_comm_world'),
    byte: address('ompi_mpi_byte'),
    errorsReturn: address('ompi_mpi_errors_return'),
    requestBytes: 8,
    statusesIgnore: 0n,
  };
}

/** Only the thread that initialized MPI calls it. */
const funneled = 1;
/** Request code of ioctl for the number of bytes that wait to be read. */
const bytesToRead = process.platform === 'darwin' ? 0x4004667f : 0x541b;
/** Linux: the option of prctl for a signal when the parent ends, the signal, and MPICH's parent. */
const signalWithParent = 1;
const killSignal = 9;
const mpichParent = 'hydra_pmi_proxy';
const textBytes = 8192;

function textOf(call: (text: Uint8Array, length: Int32Array) => number): string {
  const text = separateArena.uint8(textBytes);
  const length = separateArena.int32(1);
  call(text, length);
  return Buffer.from(text.slice(0, length[0])).toString().trim();
}

/** "Open MPI v4.1.4, package: …" → "Open MPI v4.1.4", "MPICH Version:\t4.0.2\n…" → "MPICH 4.0.2" */
function shortVersion(text: string): string {
  return text
    .split(/[,\n\0]/)[0]
    .replace(/\s*Version:\s*/, ' ')
    .trim();
}

/** The functions of an MPI library that are used here, with their constants filled in. */
export class MpiLibrary {
  /** Such as "Open MPI v4.1.4". */
  readonly version: string;
  readonly requestBytes: number;
  readonly #dialect: Dialect;
  readonly #functions = new Map<string, FfiFunction>();
  readonly #library: FfiLibrary;
  readonly #yieldCore: FfiFunction;
  readonly #finished = separateArena.int32(1);

  private constructor(ffi: Ffi, library: FfiLibrary, version: string) {
    this.#library = library;
    this.version = version;
    this.#yieldCore = library.func('int sched_yield()');
    const open = version.startsWith('Open MPI');
    this.#dialect = open ? openMpiDialect(ffi, library) : mpichDialect;
    this.requestBytes = this.#dialect.requestBytes;
  }

  /** Loads the library of the launcher's family, or the file `path` that the user has named. */
  static load(ffi: Ffi, flavour: Flavour, path: string | undefined): MpiLibrary {
    // UCX, below MPICH, would otherwise replace the engine's handler by its own.
    process.env.UCX_ERROR_SIGNALS ??= '';
    // Open MPI would spin while processes of a busy machine join, and so keep the others from it.
    process.env.OMPI_MCA_mpi_yield_when_idle ??= '1';
    const { files, packages } = families[flavour];
    const errors: string[] = [];
    for (const file of path === undefined ? files : [path]) {
      try {
        const library = ffi.load(file, { global: true, lazy: true });
        const versionText = library.func('int MPI_Get_library_version(void *text, void *length)');
        return new MpiLibrary(ffi, library, shortVersion(textOf(versionText)));
      } catch (error) {
        errors.push(`${file}: ${(error as Error).message.split('\n')[0]}`);
      }
    }
    throw new DsoError(
      'failure',
      `no MPI library can be loaded (${errors.join('; ')}); install one (${packages}) or name its file in DSO_MPI_LIBRARY`,
    );
  }

  /** `h` in a prototype is a handle. */
  #call(name: string, prototype: string, ...values: unknown[]): void {
    let call = this.#functions.get(name);
    if (!call) {
      const types = prototype.replace(/\bh\b/g, this.#dialect.handle);
      call = this.#library.func(`int MPI_${name}(${types})`);
      this.#functions.set(name, call);
    }
    const code = call(...values);
    if (code !== 0) throw new DsoError('failure', `MPI_${name} failed: ${this.#explain(code)}`);
  }

  #explain(code: number): string {
    const explain = this.#library.func('int MPI_Error_string(int code, void *text, void *length)');
    return textOf((text, length) => explain(code, text, length)) || `error ${code}`;
  }

  initialize(): void {
    const provided = separateArena.int32(1);
    this.#call('Init_thread', 'void *, void *, int, void *', null, null, funneled, provided);
    const { world, errorsReturn } = this.#dialect;
    this.#call('Comm_set_errhandler', 'h, h', world, errorsReturn);
  }

  finalize(): void {
    this.#call('Finalize', 'void');
  }

  abort(code: number): void {
    this.#call('Abort', 'h, int', this.#dialect.world, code);
  }

  /** The rank of this process, or the number of ranks. */
  query(what: 'rank' | 'size'): number {
    const value = separateArena.int32(1);
    this.#call(`Comm_${what}`, 'h, void *', this.#dialect.world, value);
    return value[0];
  }

  send(data: Uint8Array, to: number, tag: number, request: Uint8Array): void {
    const { byte, world } = this.#dialect;
    const types = 'void *, int, h, int, int, h, void *';
    this.#call('Isend', types, data, data.length, byte, to, tag, world, request);
  }

  receive(data: Uint8Array, from: number, tag: number, request: Uint8Array): void {
    const { byte, world } = this.#dialect;
    const types = 'void *, int, h, int, int, h, void *';
    this.#call('Irecv', types, data, data.length, byte, from, tag, world, request);
  }

  /** Every process's `mine` goes to all processes, by rank. */
  gather(mine: Uint8Array, all: Uint8Array, request: Uint8Array): void {
    const { byte, world } = this.#dialect;
    const types = 'void *, int, h, void *, int, h, h, void *';
    const { length } = mine;
    this.#call('Iallgather', types, mine, length, byte, all, length, byte, world, request);
  }

  /** Drives all operations on; returns how many of `count` requests are complete, writes which. */
  someDone(count: number, requests: Uint8Array, indices: Int32Array): number {
    const { statusesIgnore } = this.#dialect;
    const types = 'int, void *, void *, void *, uintptr_t';
    this.#call('Testsome', types, count, requests, this.#finished, indices, statusesIgnore);
    return this.#finished[0];
  }

  yieldCore(): void {
    this.#yieldCore();
  }

  /** Lets the process end with its launcher: MPICH's may leave a stopped process behind. */
  endWithLauncher(): void {
    if (parentName() !== mpichParent) return;
    this.#library.func('int prctl(int option, ...)')(signalWithParent, 'unsigned long', killSignal);
  }

  /** Bytes in a pipe that its reader has not read yet; 0 of anything else. */
  unread(descriptor: number): number {
    if (!fstatSync(descriptor).isFIFO()) return 0;
    const ioctl = this.#library.func('int ioctl(int descriptor, unsigned long request, ...)');
    const count = separateArena.int32(1);
    return ioctl(descriptor, bytesToRead, 'void *', count) === 0 ? count[0] : 0;
  }

  /** Ends at once: the normal way out waits for all threads, and one may hang in the library. */
  quit(code: number): void {
    this.#library.func('void _exit(int code)')(code);
  }
}

/** Undefined where the system has no /proc. */
function parentName(): string | undefined {
  try {
    return readFileSync(`/proc/${process.ppid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** A C function; typed arrays are passed by address. */
export type FfiFunction = (...values: unknown[]) => number;

export interface FfiLibrary {
  func(prototype: string): FfiFunction;
  symbol(name: string, type: string): unknown;
}

/** The part of koffi that is used here. */
export interface Ffi {
  load(path: string, options: { global: boolean; lazy: boolean }): FfiLibrary;
  address(symbol: unknown): bigint;
}

/** koffi calls C functions without a compiler; its platform packages run no install script. */
export async function loadFfi(): Promise<Ffi> {
  const names = [`@koromix/koffi-${process.platform}-${process.arch}`, 'koffi'];
  for (const name of names) {
    try {
      const { default: ffi } = (await import(name)) as { default: Ffi };
      return ffi;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new DsoError(
    'failure',
    `MPI needs the package ${names[0]} (an optional dependency that was left out): npm install ${names[0]}`,
  );
}
