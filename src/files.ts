import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DataError, DsoError } from './errors.ts';

/** A file being written; `write` appends all of the data, however large. */
export interface OutputFile {
  write(data: string | Uint8Array): Promise<void>;
}

type Write<Result> = (file: OutputFile) => Promise<Result>;

/**
 * Writes a file so that its name never leads to half of it: `write` fills a temporary file in
 * the same folder, which then takes the name. After a failure what was there before is untouched.
 * The new file has the permissions of the one that it replaces, or else of `like`, if that is there.
 */
export async function writeAtomically<Result>(
  path: string,
  write: Write<Result>,
  like?: string,
): Promise<Result> {
  try {
    const existing = await stat(path).catch(() => undefined);
    // A device or pipe is written to, never replaced; for a directory opening says what is wrong.
    if (existing && !existing.isFile()) return await fillFile(path, 'w', write);
    // Through a symbolic link the file it points to is replaced, not the link.
    const target = existing ? await realpath(path) : path;
    const pattern = existing ?? (like === undefined ? undefined : await fileAt(like));
    return await replaceFile(target, pattern && pattern.mode & 0o777, write);
  } catch (error) {
    throw explainWrite(error, path);
  }
}

/** Undefined for what is not a file: the permissions of /dev/null are nobody's choice. */
async function fileAt(path: string): Promise<Stats | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? found : undefined;
}

/** The sticky bit of a mode. */
const sticky = 0o1000;

/** What to remove if the process ends while it writes. */
const unfinished = new Set<string>();
let watching = false;

function watchExit(): void {
  if (watching) return;
  watching = true;
  process.on('exit', () => {
    for (const path of unfinished) rmSync(path, { force: true });
  });
}

/** Names have at most 255 bytes, and 60 characters at most 180. */
function temporaryFor(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 60)}.${randomUUID()}.partial`);
}

/**
 * Throws what writing to this path would: tries it with an empty file, which is removed again. What
 * is there is neither opened nor changed.
 */
export function tryOutput(path: string): void {
  const existing = existingAt(path);
  if (existing && !existing.isFile()) {
    accessSync(path, constants.W_OK);
    return;
  }
  const target = existing ? realpathSync(path) : path;
  if (existing && isProtected(target, existing.uid)) {
    const cause = new Error(`EPERM: operation not permitted, rename ${target}`);
    throw Object.assign(cause, { code: 'EPERM' });
  }
  const temporary = temporaryFor(target);
  watchExit();
  unfinished.add(temporary);
  closeSync(openSync(temporary, 'wx', 0o600));
  rmSync(temporary, { force: true });
  unfinished.delete(temporary);
}

/** In a sticky folder only root and the owners of the file and of the folder may replace a file. */
function isProtected(path: string, owner: number): boolean {
  const user = process.geteuid?.() ?? 0;
  if (user === 0 || user === owner) return false;
  const folder = statSync(dirname(path));
  return (folder.mode & sticky) !== 0 && folder.uid !== user;
}

/** Other errors than a missing file are thrown: a name that is too long, links in a circle. */
function existingAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

let warn = (message: string): void => process.emitWarning(message);

/** Says where warnings about written files go; by default to Node's own. */
export function onFileWarning(listener: (message: string) => void): void {
  warn = listener;
}

async function replaceFile<Result>(
  path: string,
  mode: number | undefined,
  write: Write<Result>,
): Promise<Result> {
  const folder = dirname(path);
  const temporary = temporaryFor(path);
  watchExit();
  unfinished.add(temporary);
  try {
    const result = await fillFile(temporary, 'wx', write, mode);
    await rename(temporary, path);
    const problem = flushFolder(folder);
    if (problem !== undefined) warn(`${path}: written, but ${problem}`);
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    unfinished.delete(temporary);
  }
}

async function fillFile<Result>(path: string, flags: string, write: Write<Result>, mode?: number) {
  // From the beginning, so that nobody reads what the finished file does not let them read.
  const file = await open(path, flags, mode);
  try {
    const result = await write({ write: (data) => file.writeFile(data) });
    // The process's mask may have taken bits away; some file systems have no permissions.
    if (mode !== undefined) await file.chmod(mode).catch(() => {});
    if (flags === 'wx') await file.sync();
    return result;
  } finally {
    await file.close();
  }
}

/**
 * A new name is safe from a power cut only once the folder is on disk as well. Returns what is wrong
 * if that cannot be had: the file is there all the same.
 */
export function flushFolder(folder: string): string | undefined {
  // Windows cannot open a folder.
  if (process.platform === 'win32') return undefined;
  try {
    const handle = openSync(folder, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    return undefined;
  } catch (error) {
    const reason = problemOf(error, problems) ?? String(error);
    return `the folder ${folder} could not be synced to disk (${reason}): a power failure may lose the file`;
  }
}

type Problems = Readonly<Record<string, string>>;

const problems: Problems = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than is allowed',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links lead back to themselves',
};

const writeProblems: Problems = {
  ...problems,
  ENOENT: 'no such folder',
  ENOTDIR: 'no such folder',
  EISDIR: 'it is a directory',
};

const readProblems: Problems = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'no permission to read it',
  EPERM: 'no permission to read it',
  EISDIR: 'a directory; expected a file',
};

const folderProblems: Problems = {
  ...problems,
  ENOENT: 'there is no such folder, and none can be made',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'it is not a folder',
  EISDIR: 'a folder is in its place',
};

/** What the operating system refused; undefined for other errors, as Node's own (ERR_…). */
function problemOf(error: unknown, table: Problems): string | undefined {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return /^E[A-Z0-9]+$/.test(code) ? (table[code] ?? message) : undefined;
}

/** Why a file cannot be written; undefined for errors that the operating system did not report. */
export function writeProblemOf(error: unknown): string | undefined {
  return problemOf(error, writeProblems);
}

function explainWrite(cause: unknown, path: string): unknown {
  const problem = writeProblemOf(cause);
  if (problem === undefined) return cause;
  return new DsoError('failure', `${path}: cannot be written: ${problem}`, { cause });
}

/** What the operating system refused, as a fault of the input; other errors as they are. */
export function explainAccess(cause: unknown, name: string): unknown {
  const problem = problemOf(cause, readProblems);
  return problem === undefined ? cause : new DataError(`${name}: ${problem}`, { cause });
}

export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  // What follows the comma names the temporary file.
  return folderProblems[code] ?? message.split(', ')[0];
}

/** Makes a folder and its parents; whether it is new. Node's `recursive` may retry forever. */
export function makeFolders(folder: string, parents = true): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return false;
    if (code !== 'ENOENT' || !parents || dirname(folder) === folder) throw error;
    makeFolders(dirname(folder));
    return makeFolders(folder, false);
  }
}

/**
 * Whether a process of this machine is running; where the system has /proc, with `began` also
 * whether it is the same one, since numbers of processes are reused.
 */
export function isAlive(pid: number, began?: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  const found = beginningOf(pid);
  if (found !== undefined) return began === undefined ? found >= 0 : found === began;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start of a process in clock ticks since boot; −1 if ended but listed, undefined if unknown. */
export function beginningOf(pid: number): number | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name in parentheses may hold anything; then come the state and, 19 fields on, the start.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return /[ZX]/.test(fields[0]) ? -1 : Number(fields[19]);
}
