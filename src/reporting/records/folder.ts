import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DataError } from '../../errors.ts';
import { isRunId } from '../../runs/id.ts';

/** Where records go unless another folder is named. */
export const usualFolder = '.dso/runs';

/** How many records a folder holds. */
export const keptRuns = 100;

const extension = '.jsonl';

/** The file of a run. A name that is none never becomes part of a path. */
export function recordPath(folder: string, id: string): string {
  return pathOf(folder, id, extension);
}

/** The file whose being there asks the run to stop. */
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

/** The names of the records in a folder, the newest first; what they hold has not been looked at. */
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

/** Makes the folder for records if need be. Of the usual one, nothing is to be committed. */
export function makeRunsFolder(folder: string): void {
  if (resolve(folder) === resolve(usualFolder)) makeHidden(dirname(usualFolder));
  makeWithParents(folder);
}

function makeHidden(folder: string): void {
  if (make(folder)) writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
}

/** Node's own way tries for ever where a folder cannot be made though its parent is there. */
function makeWithParents(folder: string): void {
  const parent = dirname(folder);
  if (parent !== folder && !statSync(parent, { throwIfNoEntry: false })) makeWithParents(parent);
  make(folder);
}

/** Whether the folder is a new one. */
function make(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return false;
    throw error;
  }
}

/**
 * It may be gone already, belong to somebody else, lie on a disk that has become read-only, or be
 * open in a system that does not let go of open files: then it stays.
 */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // As said above.
  }
}
