import { closeSync, openSync, statfsSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mebibytes } from '../engine/memory.ts';
import { DsoError, UsageError } from '../errors.ts';

/** The type of a file system that lies in memory, where a scratch file would help nobody. */
const tmpfs = 0x0102_1994;

interface Place {
  readonly folder: string;
  readonly free: number;
  readonly inMemory: boolean;
}

/** A file that no folder lists: it is gone with the process, whatever ends it. */
export interface ScratchFile {
  readonly file: number;
  readonly folder: string;
  close(): void;
}

/**
 * Opens a file of so many bytes in the folder that was asked for, else in the system's folder for
 * temporary files or, if that has no room or lies in memory, in that of the data.
 */
export function openScratch(
  bytes: number,
  asked: string | undefined,
  folderOfData: string | undefined,
): ScratchFile {
  const folders = asked === undefined ? [tmpdir(), folderOfData ?? '.'] : [asked];
  const places = folders.map(placeAt).filter((place) => place !== undefined);
  const fits = ({ free, inMemory }: Place) => free >= bytes && (!inMemory || asked !== undefined);
  for (const { folder } of places.filter(fits)) {
    const file = tryOpen(folder);
    if (file !== undefined) return { file, folder, close: () => closeSync(file) };
  }
  throw new UsageError(
    `training from disk needs ${gigabytes(bytes)} for a scratch file; ${complaints(folders, places)} (name another folder with --scratch)`,
  );
}

function placeAt(folder: string): Place | undefined {
  try {
    if (!statSync(folder).isDirectory()) return undefined;
    const { bavail, bsize, type } = statfsSync(folder);
    return { folder, free: bavail * bsize, inMemory: type === tmpfs };
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

function complaints(folders: readonly string[], places: readonly Place[]): string {
  return folders
    .map((folder) => {
      const place = places.find((known) => known.folder === folder);
      if (!place) return `${folder} is no folder`;
      const kind = place.inMemory ? ', in memory' : '';
      return `${folder} has ${gigabytes(place.free)}${kind}, or cannot be written to`;
    })
    .join('; ');
}

function gigabytes(bytes: number): string {
  return bytes < 2 ** 30 ? mebibytes(bytes) : `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}

/** Writes all of the bytes to a place in a file. */
export function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(file, bytes, done, bytes.length - done, position + done);
    }
  } catch (error) {
    const full = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    const reason = full ? 'the disk is full' : (error as Error).message;
    throw new DsoError(
      'failure',
      `the scratch file cannot be written: ${reason} (--scratch names another folder)`,
      { cause: error },
    );
  }
}
