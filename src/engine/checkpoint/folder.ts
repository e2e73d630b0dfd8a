import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Layout } from '../../checkpoint/layout.ts';
import {
  type Named,
  nameOf,
  overlap,
  parseName,
  parsePartial,
  partialOf,
  type Workers,
} from '../../checkpoint/names.ts';
import { UsageError } from '../../errors.ts';
import { type Description, writeCheckpointFile } from './file.ts';
import type { StateArray } from './state.ts';

export function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new UsageError(`${folder}: not a folder that can be read`, { cause });
  }
}

export interface Entry extends Named {
  readonly path: string;
}

function entriesBy(
  folder: string,
  parse: (name: string) => Named | undefined,
  workers: Workers,
): Entry[] {
  return entriesOf(folder).flatMap((name) => {
    const named = parse(name);
    const concerns = named !== undefined && overlap(named.workers, workers);
    return concerns ? [{ ...named, path: join(folder, name) }] : [];
  });
}

/** The files of a folder that some workers may be in, the newest first, whole or not. */
export function checkpointsIn(folder: string, workers: Workers): Entry[] {
  return entriesBy(folder, parseName, workers).sort(
    (one, other) => other.epoch - one.epoch || one.workers[0] - other.workers[0],
  );
}

/** Makes the folder. */
export function makeFolder(folder: string): void {
  try {
    makeWithParents(folder);
  } catch (cause) {
    throw refusal(folder, cause);
  }
}

/** Node's own way tries for ever where a folder cannot be made though its parent is there. */
function makeWithParents(folder: string, parents = true): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    if (code !== 'ENOENT' || !parents || dirname(folder) === folder) throw error;
    makeWithParents(dirname(folder));
    makeWithParents(folder, false);
  }
}

/** Clears away what a killed process left half-written of these workers. */
export function clearPartial(folder: string, workers: Workers): void {
  try {
    for (const { path } of entriesBy(folder, parsePartial, workers)) rmSync(path, { force: true });
  } catch (cause) {
    throw refusal(folder, cause);
  }
}

export function refusal(folder: string, cause: unknown): UsageError {
  return new UsageError(`checkpoints cannot go to ${folder}: ${reasonOf(cause)}`, { cause });
}

/**
 * Writes a process's part under a temporary name, has it on disk, and only then gives it its own
 * name: a process may end at any moment and the folder holds whole files only. Returns its path.
 */
export function addCheckpoint(
  folder: string,
  description: Description,
  arrays: readonly StateArray[],
  layout: Layout,
): string {
  const name = nameOf(description.epoch, [layout.first, layout.end], layout.size);
  const path = join(folder, name);
  const temporary = join(folder, partialOf(name));
  try {
    rmSync(temporary, { force: true });
    writeCheckpointFile(temporary, description, arrays, layout);
    renameSync(temporary, path);
    flushFolder(folder);
    return path;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes the files of all epochs but those named, as far as they have to do with these workers. */
export function removeOthers(folder: string, workers: Workers, epochs: readonly number[]): void {
  for (const { path, epoch } of checkpointsIn(folder, workers)) {
    if (!epochs.includes(epoch)) rmSync(path, { force: true });
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
  ENOENT: 'there is no such folder, and none can be made',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'it is not a folder',
  EISDIR: 'a folder is in its place',
};

export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  // What follows the comma names the temporary file.
  return reasons[code] ?? message.split(', ')[0];
}
