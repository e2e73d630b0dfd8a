import { closeSync, openSync, readSync, statfsSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError, UsageError } from '../../errors.ts';
import { type Arena, garbageCollector, separateArena } from '../arena.ts';
import { mebibytes } from '../memory.ts';
import type { Partition, Segments } from '../partition.ts';

/** Pieces begin on cache lines. */
const alignment = 64;
/** Reads between two full garbage collections: for a few megabytes the engine starts none. */
const readsPerCollection = 8192;

/** What a piece of a file takes of a window. */
export function windowBuffer(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** Pieces of a file in a ring of memory. Segments come in turn, so the oldest piece can go. */
export class DiskWindow<Held> {
  readonly #memory: Uint8Array;
  readonly #file: number;
  /** By number, from the oldest piece to the newest: where it is in memory and what is held of it. */
  readonly #pieces = new Map<number, { readonly at: number; readonly held: Held }>();
  #head = 0;
  readonly #collect = garbageCollector();
  #reads = 0;

  constructor(memory: Uint8Array, file: number) {
    this.#memory = memory;
    this.#file = file;
  }

  /** What is held of a piece that is here. */
  find(number: number): Held | undefined {
    return this.#pieces.get(number)?.held;
  }

  /** Reads a piece; `hold` makes what is held of it, given where its bytes are in the memory. */
  read(number: number, position: number, bytes: number, hold: (at: number) => Held): Held {
    const at = this.#reserve(windowBuffer(bytes));
    readWhole(this.#file, this.#memory.subarray(at, at + bytes), position);
    const held = hold(at);
    this.#pieces.set(number, { at, held });
    if (++this.#reads % readsPerCollection === 0) this.#collect();
    return held;
  }

  #reserve(bytes: number): number {
    const size = this.#memory.length;
    if (bytes > size) throw new RangeError(`a piece of ${bytes} bytes in a window of ${size}`);
    if (this.#head + bytes > size) {
      this.#forget(this.#head, size);
      this.#head = 0;
    }
    const at = this.#head;
    this.#head += bytes;
    this.#forget(at, this.#head);
    return at;
  }

  /** Forgets the pieces that begin in a stretch of memory, which are the oldest ones. */
  #forget(from: number, to: number): void {
    for (const [number, { at }] of this.#pieces) {
      if (at < from || at >= to) return;
      this.#pieces.delete(number);
    }
  }
}

export function readWhole(file: number, memory: Uint8Array, position: number): void {
  for (let filled = 0; filled < memory.length; ) {
    const count = readSync(file, memory, filled, memory.length - filled, position + filled);
    if (count === 0) throw new DataError('the scratch file has become shorter');
    filled += count;
  }
}

/** Bytes of an entry: its index and its value. */
export const nonzeroBytes = 8;

/**
 * A grid whose entries are in a file: worker after worker, of each one segment after the other, of
 * a segment one block after the other. What a block has of a segment is a chunk: all its indices,
 * then all its values, row by row. In memory are the offsets of the rows and windows on the file.
 */
export interface DiskCells extends Readonly<ReturnType<typeof allocateDiskCells>> {
  /** The descriptor of the file, open in the whole process. */
  readonly file: number;
}

/** Reserves the memory of a grid on disk; the positions of its chunks are not known yet. */
export function allocateDiskCells(
  arena: Arena,
  { size, rowStarts }: Partition,
  segments: Segments,
  shares: readonly number[],
) {
  /**
   * By cell: where the entries of row i begin in its chunk, at i + s for a row of segment s. The
   * slot between two segments has the end of the last row of the first.
   */
  const offsets: Int32Array[] = [];
  for (let worker = 0; worker < size; worker++) {
    const rows = rowStarts[worker + 1] - rowStarts[worker];
    const length = rows + segments[worker].length - 1;
    for (let block = 0; block < size; block++) offsets.push(arena.int32(length));
  }
  return {
    offsets,
    /** By worker: where chunk segment · p + block begins in the file, and where the last one ends. */
    positions: segments.map(({ length }) => separateArena.float64(size * (length - 1) + 1)),
    /** Memory for chunks, of which thread k has the bytes shares[k] … shares[k+1]-1. */
    window: arena.uint8(shares[shares.length - 1]),
    shares,
  };
}

export function segmentBytes(
  { rowStarts, rowCounts }: Partition,
  segments: Segments,
  worker: number,
): Float64Array {
  const starts = segments[worker];
  const bytes = new Float64Array(starts.length - 1);
  const from = rowStarts[worker];
  for (let segment = 0; segment < bytes.length; segment++) {
    for (let row = starts[segment]; row < starts[segment + 1]; row++) {
      bytes[segment] += nonzeroBytes * rowCounts[from + row];
    }
  }
  return bytes;
}

/** Segments of a worker that the window should hold: the last one, the next one, one to spare. */
const segmentsAtOnce = 3;

/** Bytes of the window with which a thread that runs these workers reads little twice. */
export function comfortableWindow(
  partition: Partition,
  segments: Segments,
  first: number,
  end: number,
): number {
  let total = 0;
  for (let worker = first; worker < end; worker++) {
    const sizes = segmentBytes(partition, segments, worker);
    const longest = sizes.reduce((most, bytes) => Math.max(most, bytes), 0);
    // A segment is as many chunks as there are blocks, each on lines of its own.
    total += segmentsAtOnce * (longest + partition.size * windowBuffer(1));
  }
  return total;
}

/** The type of a file system in memory, where a scratch file would not help. */
const tmpfs = 0x0102_1994;

/** A file that no folder lists: it is gone with the process, whatever ends it. */
export interface ScratchFile {
  readonly file: number;
  readonly folder: string;
  close(): void;
}

/** Opens a scratch file in the given folder, else in the system's temporary one or the data's. */
export function openScratch(
  bytes: number,
  given: string | undefined,
  folderOfData: string | undefined,
): ScratchFile {
  const problems: string[] = [];
  for (const folder of given === undefined ? [tmpdir(), folderOfData ?? '.'] : [given]) {
    const space = spaceIn(folder);
    const fits = space && space.free >= bytes && (!space.inMemory || given !== undefined);
    const file = fits ? tryOpen(folder) : undefined;
    if (file !== undefined) return { file, folder, close: () => closeSync(file) };
    const kind = space?.inMemory ? ', in memory' : '';
    problems.push(
      space
        ? `${folder} has ${gigabytes(space.free)}${kind}, or cannot be written to`
        : `${folder} is no folder`,
    );
  }
  throw new UsageError(
    `training from disk needs ${gigabytes(bytes)} for a scratch file; ${problems.join('; ')} (name another folder with --scratch)`,
  );
}

/** Undefined where there is no such folder. */
function spaceIn(folder: string): { free: number; inMemory: boolean } | undefined {
  try {
    if (!statSync(folder).isDirectory()) return undefined;
    const { bavail, bsize, type } = statfsSync(folder);
    return { free: bavail * bsize, inMemory: type === tmpfs };
  } catch {
    return undefined;
  }
}

function tryOpen(folder: string): number | undefined {
  const path = join(folder, `.dso-scratch-${process.pid}-${Math.floor(performance.now() * 1000)}`);
  try {
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return file;
  } catch {
    return undefined;
  }
}

function gigabytes(bytes: number): string {
  return bytes < 2 ** 30 ? mebibytes(bytes) : `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
