import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DsoError } from './errors.ts';

/** A file being written; `write` appends all of the data, however large. */
export interface OutputFile {
  write(data: string | Uint8Array): Promise<void>;
}

type Write<Result> = (file: OutputFile) => Promise<Result>;

/**
 * Writes a file so that its name never stands for half of it: `write` fills a temporary file in
 * the same folder, which then takes the name. After a failure the temporary file is gone and what
 * was there before is untouched.
 */
export async function writeAtomically<Result>(path: string, write: Write<Result>): Promise<Result> {
  try {
    const existing = await stat(path).catch(() => undefined);
    // A device or pipe is written to, never replaced; for a directory opening says what is wrong.
    if (existing && !existing.isFile()) return await fillFile(path, 'w', write);
    // Through a symbolic link the file it points to is replaced, not the link.
    return await replaceFile(existing ? await realpath(path) : path, write);
  } catch (error) {
    throw explain(error, path);
  }
}

/** What to remove should the process be told to end while it writes. */
const unfinished = new Set<string>();
let watching = false;

function watchExit(): void {
  if (watching) return;
  watching = true;
  process.on('exit', () => {
    for (const path of unfinished) rmSync(path, { force: true });
  });
}

async function replaceFile<Result>(path: string, write: Write<Result>): Promise<Result> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path).slice(0, 100)}.${randomUUID()}.partial`);
  watchExit();
  unfinished.add(temporary);
  try {
    const result = await fillFile(temporary, 'wx', write);
    await rename(temporary, path);
    await flushFolder(folder);
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    unfinished.delete(temporary);
  }
}

async function fillFile<Result>(path: string, flags: string, write: Write<Result>) {
  const file = await open(path, flags);
  try {
    const result = await write({ write: (data) => file.writeFile(data) });
    if (flags === 'wx') await file.sync();
    return result;
  } finally {
    await file.close();
  }
}

/** The new name is safe from a power cut only once the folder is on disk as well. */
async function flushFolder(folder: string): Promise<void> {
  // Windows cannot open a folder.
  if (process.platform === 'win32') return;
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder);
    await handle.sync();
  } finally {
    await handle?.close();
  }
}

const problems: Record<string, string> = {
  ENOENT: 'no such folder',
  ENOTDIR: 'no such folder',
  EISDIR: 'it is a directory',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

function explain(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (!/^E[A-Z0-9]+$/.test(code)) return error;
  const problem = problems[code] ?? (error as Error).message;
  return new DsoError('failure', `${path}: cannot be written: ${problem}`, { cause: error });
}
