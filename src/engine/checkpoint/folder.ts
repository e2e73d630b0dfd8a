import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, UsageError } from '../../errors.ts';
import { makeFolders, reasonOf } from '../../files.ts';
import {
  type CheckpointFile,
  type Description,
  decode,
  encode,
  readCheckpointFile,
  stateOf,
  writeCheckpointFile,
} from './file.ts';
import { coverOf } from './load.ts';
import type { Layout, StateArray } from './state.ts';

/** Logical workers: the first, and one past the last. */
export type Workers = readonly [first: number, end: number];

/*
 * A process that plays all workers keeps `epoch-0000000060.checkpoint`, one of several
 * `epoch-0000000060.workers-2-4.checkpoint`; how many workers there are in all is in the header.
 */
const pattern = /^epoch-(\d{10})(?:\.workers-(\d+)-(\d+))?\.checkpoint$/;

/** What a name tells; of a file without workers in its name, that it may have any. */
export interface Named {
  readonly epoch: number;
  readonly workers: Workers;
}

export function nameOf(epoch: number, [first, end]: Workers, grid: number): string {
  const part = first === 0 && end === grid ? '' : `.workers-${first}-${end}`;
  return `epoch-${String(epoch).padStart(10, '0')}${part}.checkpoint`;
}

export function parseName(name: string): Named | undefined {
  const [, epoch, first, end] = pattern.exec(name) ?? [];
  if (epoch === undefined) return undefined;
  const workers = first === undefined ? ([0, Infinity] as const) : ([+first, +end] as const);
  return { epoch: Number(epoch), workers };
}

/** The name that a file has until it is whole. */
export function partialOf(name: string): string {
  return `.${name}.partial`;
}

export function parsePartial(name: string): Named | undefined {
  const [, whole] = /^\.(.+)\.partial$/.exec(name) ?? [];
  return whole === undefined ? undefined : parseName(whole);
}

export function overlap(one: Workers, other: Workers): boolean {
  return Math.max(one[0], other[0]) < Math.min(one[1], other[1]);
}

/** Workers in words. */
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

/** The files of a folder that some workers may be in, the newest first, whole or not. */
export function checkpointsIn(folder: string, workers: Workers): Entry[] {
  return entriesBy(folder, parseName, workers).sort(
    (one, other) => other.epoch - one.epoch || one.workers[0] - other.workers[0],
  );
}

/** Makes the folder. */
export function makeFolder(folder: string): void {
  try {
    makeFolders(folder);
  } catch (cause) {
    throw folderError(folder, cause);
  }
}

/** Clears away what a killed process left half-written of these workers. */
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

/** A file as one process sees it. */
export interface CheckpointEntry extends Entry {
  /** Of a file whose every byte has been checked; `state` tells which ones belong together. */
  readonly whole?: { readonly found: CheckpointFile; readonly state: string };
  /** What is wrong with it otherwise. */
  readonly complaint?: string;
}

/** The files of a folder that have to do with the workers of one process, the newest first. */
export interface CheckpointListing {
  readonly folder: string;
  readonly parts: readonly CheckpointEntry[];
}

/**
 * Looks at the files of a folder, one epoch after the other, until `enough` of them have all of the
 * workers. A process alone needs one; one of several does not know which of its own the others
 * have too, and looks at all: there are two or three.
 */
export function listing(folder: string, workers: Workers, enough = Infinity): CheckpointListing {
  const entries = workers[0] < workers[1] ? checkpointsIn(folder, workers) : [];
  const parts: CheckpointEntry[] = [];
  let covered = 0;
  for (const epoch of new Set(entries.map((entry) => entry.epoch))) {
    if (covered >= enough) break;
    const seen = entries.filter((entry) => entry.epoch === epoch).map(look);
    parts.push(...seen);
    if (statesOf(seen).some((state) => holds(seen, state, workers))) covered++;
  }
  return { folder, parts };
}

function look(entry: Entry): CheckpointEntry {
  try {
    const found = readCheckpointFile(entry.path);
    const { epoch, workers } = found.header;
    return { path: entry.path, epoch, workers, whole: { found, state: stateOf(found.header) } };
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    return { ...entry, complaint: error.message };
  }
}

/** The states among whole files, in an order that all processes agree on. */
export function statesOf(parts: readonly CheckpointEntry[]): string[] {
  const states = parts.flatMap(({ whole }) => (whole ? [whole.state] : []));
  return [...new Set(states)].sort();
}

/** Whether whole files of one state have all of the workers. */
export function holds(parts: readonly CheckpointEntry[], state: string, workers: Workers): boolean {
  const same = parts.filter(({ whole }) => whole?.state === state);
  return coverOf(same, (part) => part.workers, workers) !== undefined;
}

/** To be sent to other processes. */
export function listingText(seen: CheckpointListing): string {
  return encode(seen);
}

export function parseListing(text: string): CheckpointListing {
  return decode(text) as CheckpointListing;
}
