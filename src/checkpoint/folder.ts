import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { DataError, DsoError } from '../errors.ts';
import { type Found, readCheckpointFile, writeCheckpointFile } from './file.ts';
import type { Header } from './header.ts';
import type { StateArray } from './state.ts';

const pattern = /^epoch-(\d{10})\.checkpoint$/;
const partial = /^\.epoch-\d{10}\.checkpoint\.partial$/;

function nameOf(epoch: number): string {
  return `epoch-${String(epoch).padStart(10, '0')}.checkpoint`;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new DsoError('usage', `${folder}: not a folder that can be read`, { cause });
  }
}

/** Paths of the checkpoints in a folder, the newest first, whether they are whole or not. */
export function checkpointsIn(folder: string): string[] {
  return entriesOf(folder)
    .filter((name) => pattern.test(name))
    .sort()
    .reverse()
    .map((name) => join(folder, name));
}

/**
 * The newest whole checkpoint of a folder, undefined if there is none at all. `onDamaged` hears of
 * newer ones that are not whole; if no one is, the error says of each what is wrong.
 */
export function newestCheckpoint(
  folder: string,
  onDamaged: (message: string) => void,
): Found | undefined {
  const complaints: string[] = [];
  for (const path of checkpointsIn(folder)) {
    try {
      const found = readCheckpointFile(path);
      for (const complaint of complaints) onDamaged(complaint);
      return found;
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      complaints.push(error.message);
    }
  }
  if (complaints.length === 0) return undefined;
  throw new DataError(
    `no whole checkpoint in ${folder}, so the run cannot go on from it:\n  ${complaints.join('\n  ')}`,
  );
}

/** Makes the folder, and clears away what a killed process left half-written. */
export function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of entriesOf(folder)) {
      if (partial.test(name)) rmSync(join(folder, name), { force: true });
    }
  } catch (cause) {
    throw new DsoError('usage', `checkpoints cannot go to ${folder}: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/**
 * Writes a checkpoint under a temporary name, has it on disk, and only then gives it its own name:
 * a process may end at any moment and the folder holds whole checkpoints only. Returns its path.
 */
export function addCheckpoint(
  folder: string,
  description: Omit<Header, 'arrays'>,
  arrays: readonly StateArray[],
): { path: string; bytes: number } {
  const name = nameOf(description.epoch);
  const path = join(folder, name);
  const temporary = join(folder, `.${name}.partial`);
  try {
    rmSync(temporary, { force: true });
    const bytes = writeCheckpointFile(temporary, description, arrays);
    renameSync(temporary, path);
    flushFolder(folder);
    return { path, bytes };
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes all checkpoints but those named: two generations are kept. */
export function removeOthers(folder: string, keep: readonly (string | undefined)[]): void {
  for (const path of checkpointsIn(folder)) {
    if (!keep.includes(path)) rmSync(path, { force: true });
  }
}

/** A new name is safe from a power cut only once the folder is on disk as well. */
function flushFolder(folder: string): void {
  // Windows cannot open a folder.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than is allowed',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOENT: 'the folder is gone',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'it is not a folder',
  EISDIR: 'a folder is in its place',
};

export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  // What follows the comma names the temporary file.
  return reasons[code] ?? message.split(', ')[0];
}
