import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { beginningOf, isAlive } from '../../files.ts';
import { entriesOf, folderError, overlap, type Workers, workersText } from './folder.ts';

/*
 * A process that saves a run in a folder has a file there that says so by its name:
 * `.workers-0-4-of-8.HOST.PROCESS.START.lock`. The names of two processes differ, and anyone can
 * remove the file of a process that has ended. Two that come at the same moment see each other, and
 * neither continues.
 */

interface LockOwner {
  readonly workers: Workers;
  readonly grid: number;
  readonly host: string;
  readonly process: number;
  /** When the process began, in the clock ticks of its system: numbers of processes are reused. */
  readonly start: number;
}

/** Seconds between two heartbeats, and after which an owner on another host counts as gone. */
const beatEvery = 15;
const silence = 120;

const pattern = /^\.workers-(\d+)-(\d+)-of-(\d+)\.(.+)\.(\d+)\.(\d+)\.lock$/;

function nameOf({ workers: [first, end], grid, host, process: number, start }: LockOwner): string {
  return `.workers-${first}-${end}-of-${grid}.${encodeURIComponent(host)}.${number}.${start}.lock`;
}

function parse(name: string): LockOwner | undefined {
  const [, first, end, grid, host, number, start] = pattern.exec(name) ?? [];
  if (first === undefined) return undefined;
  return {
    workers: [Number(first), Number(end)],
    grid: Number(grid),
    host: decodeURIComponent(host),
    process: Number(number),
    start: Number(start),
  };
}

/** The right of one process to save some workers of a run in a folder. */
export class FolderLock {
  readonly #path: string;
  readonly #file: number;
  readonly #text: string;
  readonly #beats: NodeJS.Timeout;

  /** Throws if another run has it, or nothing can be written there. */
  constructor(folder: string, workers: Workers, grid: number) {
    const start = beginningOf(process.pid) ?? 0;
    const own = nameOf({ workers, grid, host: hostname(), process: process.pid, start });
    this.#path = join(folder, own);
    this.#text = `held by process ${process.pid} on ${hostname()} since ${new Date().toISOString()}\n`;
    this.#file = create(folder, this.#path);
    try {
      this.#beat();
      refuseOthers(folder, own, workers, grid);
    } catch (error) {
      this.#remove();
      throw error instanceof UsageError ? error : folderError(folder, error);
    }
    this.#beats = setInterval(() => {
      try {
        this.#beat();
      } catch {
        // The folder is out of reach; a checkpoint will say so when one is due.
      }
    }, 1000 * beatEvery).unref();
  }

  release(): void {
    clearInterval(this.#beats);
    this.#remove();
  }

  /** A lock that cannot be removed holds nobody up: its process has ended, or its folder is gone. */
  #remove(): void {
    try {
      closeSync(this.#file);
      rmSync(this.#path, { force: true });
    } catch {
      // As if the process had been killed: whoever comes next removes the file.
    }
  }

  /** Writing again, rather than setting a time, leaves the time to the clock of the file system. */
  #beat(): void {
    writeSync(this.#file, this.#text, 0);
  }
}

function create(folder: string, path: string): number {
  try {
    return openSync(path, 'wx');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw folderError(folder, cause);
    throw new UsageError(`${folder}: this process already saves a run there`, { cause });
  }
}

function refuseOthers(folder: string, own: string, workers: Workers, grid: number): void {
  for (const name of entriesOf(folder)) {
    const owner = name === own ? undefined : parse(name);
    if (!owner) continue;
    if (owner.grid === grid && !overlap(owner.workers, workers)) continue;
    const path = join(folder, name);
    const reason = reasonToRespect(owner, path, join(folder, own));
    if (reason === undefined) rmSync(path, { force: true });
    else {
      throw new UsageError(
        `${folder}: process ${owner.process} on ${owner.host} saves ${workersText(owner.workers)} of a run there, ${reason}; if it is gone, remove ${path}`,
      );
    }
  }
}

/** Why an owner counts as running; undefined if it does not. */
function reasonToRespect(
  { host, process: number, start }: LockOwner,
  path: string,
  own: string,
): string | undefined {
  if (host === hostname()) return isAlive(number, start) ? 'which is running' : undefined;
  const last = timeOf(path);
  // Both times are from the clock of the file system, so the hosts' own need not agree.
  const seconds = last === undefined ? Infinity : ((timeOf(own) ?? last) - last) / 1000;
  return seconds < silence
    ? `whose last heartbeat is ${Math.max(0, Math.round(seconds))} s old (from ${silence} s on it counts as gone)`
    : undefined;
}

function timeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
