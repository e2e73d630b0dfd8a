import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { flushFolder, makeFolders, reasonOf } from '../../files.ts';
import { type Description, writeCheckpointFile } from './file.ts';
import type { Layout, StateArray } from './state.ts';

/** Logical workers: the first, and one past the last. */
export type Workers = readonly [first: number, end: number];

/*
 * A process that runs all workers writes `epoch-0000000060.checkpoint`, one of several
 * `epoch-0000000060.workers-2-4.checkpoint`; the header has the number of all workers.
 */
const pattern = /^epoch-(\d{10})(?:\.workers-(\d+)-(\d+))?\.checkpoint$/;

/** What a name says; a file without workers in its name may hold any. */
interface Named {
  readonly epoch: number;
  readonly workers: Workers;
}

function nameOf(epoch: number, [first, end]: Workers, grid: number): string {
  const part = first === 0 && end === grid ? '' : `.workers-${first}-${end}`;
  return `epoch-${String(epoch).padStart(10, '0')}${part}.checkpoint`;
}

function parseName(name: string): Named | undefined {
  const [, epoch, first, end] = pattern.exec(name) ?? [];
  if (epoch === undefined) return undefined;
  const workers = first === undefined ? ([0, Infinity] as const) : ([+first, +end] as const);
  return { epoch: Number(epoch), workers };
}

function parsePartial(name: string): Named | undefined {
  const [, whole] = /^\.(.+)\.partial$/.exec(name) ?? [];
  return whole === undefined ? undefined : parseName(whole);
}

export function overlap(one: Workers, other: Workers): boolean {
  return Math.max(one[0], other[0]) < Math.min(one[1], other[1]);
}

export function workersText([first, end]: Workers): string {
  return end - first === 1 ? `worker ${first}` : `workers ${first} to ${end - 1}`;
}

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

/** The files of a folder that may hold some of the workers, the newest first, whole or not. */
export function checkpointsIn(folder: string, workers: Workers): Entry[] {
  return entriesBy(folder, parseName, workers).sort(
    (one, other) => other.epoch - one.epoch || one.workers[0] - other.workers[0],
  );
}

export function makeFolder(folder: string): void {
  try {
    makeFolders(folder);
  } catch (cause) {
    throw folderError(folder, cause);
  }
}

/** Removes files of these workers that a killed process left half-written. */
export function clearPartial(folder: string, workers: Workers): void {
  try {
    for (const { path } of entriesBy(folder, parsePartial, workers)) rmSync(path, { force: true });
  } catch (cause) {
    throw folderError(folder, cause);
  }
}

export function folderError(folder: string, cause: unknown): UsageError {
  return new UsageError(`checkpoints cannot go to ${folder}: ${reasonOf(cause)}`, { cause });
}

/**
 * Writes a part under a temporary name, flushes and renames it: files are always whole. Returns also
 * what is wrong if the folder could not be flushed.
 */
export function addCheckpoint(
  folder: string,
  description: Description,
  arrays: readonly StateArray[],
  layout: Layout,
): { readonly path: string; readonly problem: string | undefined } {
  const name = nameOf(description.epoch, [layout.first, layout.end], layout.size);
  const path = join(folder, name);
  const temporary = join(folder, `.${name}.partial`);
  try {
    rmSync(temporary, { force: true });
    writeCheckpointFile(temporary, description, arrays, layout);
    renameSync(temporary, path);
    return { path, problem: flushFolder(folder) };
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes the files of these workers of all epochs but those given. */
export function removeOthers(folder: string, workers: Workers, epochs: readonly number[]): void {
  for (const { path, epoch } of checkpointsIn(folder, workers)) {
    if (!epochs.includes(epoch)) rmSync(path, { force: true });
  }
}
