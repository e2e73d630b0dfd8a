import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { DataError } from '../../errors.ts';
import { numberFromJson, numberToJson } from '../../math/json-numbers.ts';
import type { Workers } from './folder.ts';
import { checkedHeader } from './header.ts';
import {
  bytesPerNumber,
  inMemory,
  type Layout,
  type NumberType,
  numbersPerItem,
  type StateArray,
  transferItems,
  typeOf,
} from './state.ts';

/** What a run was made of; the bits of its model depend on every line of it. */
export interface Identity {
  readonly data: {
    readonly rows: number;
    readonly columns: number;
    readonly nonzeros: number;
    readonly hash: string;
  };
  /** Options and settings by the names that messages use. */
  readonly options: Readonly<Record<string, number | string | boolean | null>>;
}

/** The JSON part of a checkpoint. */
export interface Header {
  readonly program: string;
  readonly identity: Identity;
  /** The logical workers whose part of the arrays the file holds, out of `grid`. */
  readonly workers: Workers;
  readonly grid: number;
  /** Epochs done, and the seconds of training they took. */
  readonly epoch: number;
  readonly seconds: number;
  /** Epoch of the checkpoint that was there before, 0 if this is the first one of the run. */
  readonly follows: number;
  /** The next two may change when a run is resumed. */
  readonly tolerance: number;
  /** Which rows are tested on, and how; null for none. */
  readonly test: string | null;
  /** Numbers that threads hold outside of shared memory, by who holds them. */
  readonly saved: { readonly convergence: unknown; readonly method: unknown };
  readonly arrays: readonly (Pick<StateArray, 'name' | 'axis'> & {
    readonly type: NumberType;
    readonly length: number;
  })[];
}

export function encode(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'number' ? numberToJson(inner) : inner,
  );
}

export function decode(text: string): unknown {
  return JSON.parse(text, (_key, inner: unknown) =>
    inner === 'NaN' ? NaN : (numberFromJson(inner) ?? inner),
  );
}

/** A hash of what the files of a checkpoint share, however many processes wrote them. */
export function stateOf(header: Header): string {
  const { program, identity, grid, epoch, tolerance, test, saved } = header;
  const common = encode({ program, identity, grid, epoch, tolerance, test, saved });
  return createHash('sha256').update(common).digest('hex').slice(0, 32);
}

/*
 * The file: a line with the format and its version, a line with the header's length, the header as
 * JSON, `---`, the arrays one after the other, and the SHA-256 of all of it. See docs/checkpoint.md.
 */

const format = 'dso-checkpoint';
export const formatVersion = 4;
const separator = '---\n';
const digestBytes = 32;
/** Longest text of the first two lines. */
const preambleBytes = 64;
/** A system call moves at most 2³¹ − 1 bytes, and a hash takes no more at once either. */
const atOnce = 2 ** 24;

/** A header without what follows from the arrays and their workers. */
export type Description = Omit<Header, 'arrays' | 'workers' | 'grid'>;

/** Writes a process's part into a new file and has it on disk when it returns. */
export function writeCheckpointFile(
  path: string,
  description: Description,
  arrays: readonly StateArray[],
  layout: Layout,
): number {
  const file = openSync(path, 'wx');
  const hash = createHash('sha256');
  let bytes = 0;
  const put = (data: Uint8Array) => {
    for (let from = 0; from < data.length; ) {
      const piece = data.subarray(from, from + atOnce);
      const written = writeSync(file, piece);
      hash.update(written === piece.length ? piece : piece.subarray(0, written));
      from += written;
    }
    bytes += data.length;
  };
  try {
    put(Buffer.from(textOf(description, arrays, layout)));
    for (const array of arrays) {
      const range = inMemory(array, layout, [layout.first, layout.end]);
      transferItems('write', array.values, range, put);
    }
    put(hash.copy().digest());
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return bytes;
}

function textOf(description: Description, arrays: readonly StateArray[], layout: Layout): string {
  const { first, end, size: grid } = layout;
  const header: Header = {
    ...description,
    workers: [first, end],
    grid,
    arrays: arrays.map((array) => {
      const { name, axis, values } = array;
      const [from, to] = inMemory(array, layout, [first, end]);
      return { name, axis, type: typeOf(values), length: (to - from) * numbersPerItem(values) };
    }),
  };
  const text = `${encode(header)}\n`;
  const length = Buffer.byteLength(text);
  return `${format} ${formatVersion}\nheader ${length}\n${text}${separator}`;
}

/** A file found whole: every byte of it has been checked. */
export interface CheckpointFile {
  readonly path: string;
  readonly header: Header;
  /** Where the arrays begin. */
  readonly offset: number;
}

/** Reads a header and checks the whole file; a DataError says what is wrong with it. */
export function readCheckpointFile(path: string): CheckpointFile {
  const file = open(path);
  try {
    return { path, ...readHeader(file) };
  } catch (cause) {
    if (cause instanceof DataError) throw new DataError(`${path}: ${cause.message}`);
    // A folder by that name opens but cannot be read, nor can a bad sector: an older one may do.
    throw unreadable(path, cause);
  } finally {
    closeSync(file);
  }
}

export function open(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

const unreadable = (path: string, cause: unknown) =>
  new DataError(`${path}: cannot be read: ${(cause as Error).message}`, { cause });

function readHeader(file: number): Omit<CheckpointFile, 'path'> {
  const { size } = fstatSync(file);
  const isIntact = checksumFits(file, size);
  const damaged = new DataError('damaged: its SHA-256 is not that of its bytes');
  const preamble = bytesAt(file, 0, Math.min(size, preambleBytes)).toString('latin1');
  const [start = '', version, length] =
    /^dso-checkpoint (\d{1,9})\n(?:header (\d{1,12})\n)?/.exec(preamble) ?? [];
  if (version !== undefined && Number(version) !== formatVersion && isIntact) {
    throw new DataError(
      `version ${version} of the format; this program reads version ${formatVersion}`,
    );
  }
  if (version !== String(formatVersion) || length === undefined) {
    throw new DataError('damaged: it does not begin like a checkpoint');
  }
  const offset = start.length + Number(length) + separator.length;
  if (size < offset) throw isIntact ? damaged : new DataError('cut off in its header');
  let json: unknown;
  try {
    json = decode(bytesAt(file, start.length, Number(length)).toString('utf8'));
  } catch {
    throw damaged;
  }
  const header = isIntact ? checkedHeader(json) : (json as Header);
  const expected = offset + arrayBytes(header) + digestBytes;
  if (size < expected) throw new DataError(`cut off: it has ${size} bytes of ${expected}`);
  if (!isIntact || size !== expected) throw damaged;
  return { header, offset };
}

/** Bytes of the arrays by the header, which may be a damaged one. */
function arrayBytes(header: Header | null): number {
  const arrays = header?.arrays;
  if (!Array.isArray(arrays)) return 0;
  return (arrays as Header['arrays']).reduce(
    (sum, array) => sum + (bytesPerNumber[array?.type] ?? 0) * array?.length,
    0,
  );
}

function checksumFits(file: number, size: number): boolean {
  if (size < digestBytes) return false;
  const hash = createHash('sha256');
  const end = size - digestBytes;
  const buffer = Buffer.allocUnsafe(Math.min(atOnce, size));
  for (let at = 0; at < end; at += atOnce) {
    const piece = buffer.subarray(0, Math.min(atOnce, end - at));
    fill(file, piece, at);
    hash.update(piece);
  }
  return hash.digest().equals(bytesAt(file, end, digestBytes));
}

function bytesAt(file: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  fill(file, buffer, position);
  return buffer;
}

export function fill(file: number, buffer: Uint8Array, position: number): void {
  for (let filled = 0; filled < buffer.length; ) {
    const length = Math.min(buffer.length - filled, atOnce);
    const count = readSync(file, buffer, filled, length, position + filled);
    if (count === 0) throw new DataError('a checkpoint became shorter while it was read');
    filled += count;
  }
}
