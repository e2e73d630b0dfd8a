import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DataError } from '../../errors.ts';
import { makeFolders } from '../../files.ts';

/** Such as 20261115-212345-3f9c: when the run began, in UTC, and random digits. Ids sort by time. */
export function newRunId(now: Date): string {
  const digits = now.toISOString().replaceAll(/\D/g, '');
  return `${digits.slice(0, 8)}-${digits.slice(8, 14)}-${randomBytes(2).toString('hex')}`;
}

/** Whether a text can be the id of a run; one from outside must be checked. */
export const isRunId = (text: string) => /^\d{8}-\d{6}-[0-9a-f]{4}$/.test(text);

/** Where records go unless another folder is named. */
export const defaultFolder = '.dso/runs';

/** How many records a folder holds. */
export const mostRuns = 100;

const extension = '.jsonl';

/** The file of a run. A text that is no id never becomes part of a path. */
export function recordPath(folder: string, id: string): string {
  return pathOf(folder, id, extension);
}

/** The file that requests the run to stop. */
export function stopPath(folder: string, id: string): string {
  return pathOf(folder, id, '.stop');
}

function pathOf(folder: string, id: string, ending: string): string {
  if (!isRunId(id)) {
    throw new DataError(
      `"${id.slice(0, 80)}": not the name of a run, such as 20261115-212345-3f9c`,
    );
  }
  return join(folder, `${id}${ending}`);
}

/** The ids of the records in a folder, the newest first; their content has not been checked. */
export function recordedIds(folder: string, kind: 'file' | 'file or link' = 'file or link') {
  return entriesOf(folder)
    .filter((entry) => entry.isFile() || (kind === 'file or link' && entry.isSymbolicLink()))
    .flatMap(({ name }) => (name.endsWith(extension) ? [name.slice(0, -extension.length)] : []))
    .filter(isRunId)
    .sort()
    .reverse();
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new DataError(`${folder}: not a folder that can be read`, { cause });
  }
}

/** Makes the folder for records if needed. Git ignores the default one. */
export function makeRunsFolder(folder: string): void {
  const parent = dirname(defaultFolder);
  if (resolve(folder) === resolve(defaultFolder) && makeFolders(parent, false)) {
    writeFileSync(join(parent, '.gitignore'), '*\n', { flag: 'wx' });
  }
  makeFolders(folder);
}

export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Another user's file, a read-only disk, or a system that does not delete open files: it stays.
  }
}
