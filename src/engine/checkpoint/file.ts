import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { decode, encode, type Header } from '../../checkpoint/header.ts';
import { inMemory, type Layout } from '../../checkpoint/layout.ts';
import { DataError } from '../../errors.ts';
import { bytesPerNumber, numbersPerItem, piecesOf, type StateArray, typeOf } from './state.ts';

/*
 * The file: a line with the format and its version, a line with the header's length, the header as
 * JSON, `---`, the arrays one after the other, and the SHA-256 of all of it. See docs/checkpoint.md.
 */

const format = 'dso-checkpoint';
export const formatVersion = 2;
const separator = '---\n';
const digestBytes = 32;
/** Longest text of the first two lines. */
const preambleBytes = 64;
/** A system call moves at most 2³¹ − 1 bytes, and a hash takes no more at once either. */
const atOnce = 2 ** 24;

/** What a header says beside what follows from the arrays and who holds them. */
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
      const [from, to] = inMemory(array, layout, [layout.first, layout.end]);
      for (const piece of piecesOf(array.values, from, to)) put(piece);
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
export interface Found {
  readonly path: string;
  readonly header: Header;
  /** Where the arrays begin. */
  readonly offset: number;
}

/** Reads a header and checks the whole file; a DataError says what is wrong with it. */
export function readCheckpointFile(path: string): Found {
  const file = open(path);
  try {
    const { size } = fstatSync(file);
    const start = startOf(file, path, size);
    const sound = checksumFits(file, size);
    const { header, offset } = headerOf(file, path, start, sound);
    const wanted = offset + arrayBytes(header) + digestBytes;
    if (size < wanted) {
      throw new DataError(`${path}: cut off: it has ${size} bytes of ${wanted}`);
    }
    if (!sound || size !== wanted) throw damaged(path);
    return { path, header, offset };
  } catch (cause) {
    // A folder by that name opens but cannot be read, nor can a bad sector: an older one may do.
    throw cause instanceof DataError ? cause : unreadable(path, cause);
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

const damaged = (path: string) =>
  new DataError(`${path}: damaged: its SHA-256 is not that of its bytes`);

/** The first two lines: where the header begins and how long it is. */
function startOf(file: number, path: string, size: number): { at: number; length: number } {
  const room = Buffer.alloc(Math.min(size, preambleBytes));
  fill(file, room, 0);
  const text = room.toString('latin1');
  const [, version, length] = /^dso-checkpoint (\d{1,9})\nheader (\d{1,12})\n/.exec(text) ?? [];
  const other = /^dso-checkpoint (\d{1,9})\n/.exec(text)?.[1];
  if (other !== undefined && Number(other) !== formatVersion && checksumFits(file, size)) {
    throw new DataError(
      `${path}: version ${other} of the format; this program reads version ${formatVersion}`,
    );
  }
  if (version !== String(formatVersion)) {
    throw new DataError(`${path}: damaged: it does not begin like a checkpoint`);
  }
  return { at: `${format} ${version}\nheader ${length}\n`.length, length: Number(length) };
}

function headerOf(
  file: number,
  path: string,
  { at, length }: { at: number; length: number },
  sound: boolean,
): { header: Header; offset: number } {
  const { size } = fstatSync(file);
  const offset = at + length + separator.length;
  if (size < offset) throw sound ? damaged(path) : new DataError(`${path}: cut off in its header`);
  const room = Buffer.alloc(length);
  fill(file, room, at);
  try {
    return { header: decode(room.toString('utf8')) as Header, offset };
  } catch {
    throw damaged(path);
  }
}

/** Tolerates a damaged header: it is only asked how long the file should have been. */
function arrayBytes({ arrays }: Header): number {
  if (!Array.isArray(arrays)) return 0;
  return (arrays as Header['arrays']).reduce(
    (sum, { type, length }) => sum + (bytesPerNumber[type] ?? 0) * length,
    0,
  );
}

function checksumFits(file: number, size: number): boolean {
  if (size < digestBytes) return false;
  const hash = createHash('sha256');
  const room = Buffer.allocUnsafe(Math.min(atOnce, size));
  hashRange(file, hash, room, size - digestBytes);
  const digest = Buffer.alloc(digestBytes);
  fill(file, digest, size - digestBytes);
  return hash.digest().equals(digest);
}

function hashRange(file: number, hash: Hash, room: Buffer, end: number): void {
  for (let at = 0; at < end; ) {
    const piece = room.subarray(0, Math.min(room.length, end - at));
    fill(file, piece, at);
    hash.update(piece);
    at += piece.length;
  }
}

export function fill(file: number, room: Uint8Array, position: number): void {
  for (let filled = 0; filled < room.length; ) {
    const length = Math.min(room.length - filled, atOnce);
    const count = readSync(file, room, filled, length, position + filled);
    if (count === 0) throw new DataError('a checkpoint became shorter while it was read');
    filled += count;
  }
}
