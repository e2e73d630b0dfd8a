import { type Found, readCheckpointFile } from '../engine/checkpoint/file.ts';
import { checkpointsIn, type Entry } from '../engine/checkpoint/folder.ts';
import { coverOf } from '../engine/checkpoint/load.ts';
import { DataError } from '../errors.ts';
import { decode, encode, stateOf } from './header.ts';
import type { Workers } from './names.ts';

/** A file as one process sees it. */
export interface Seen extends Entry {
  /** Of a file whose every byte has been checked; `state` tells which ones belong together. */
  readonly whole?: { readonly found: Found; readonly state: string };
  /** What is wrong with it otherwise. */
  readonly complaint?: string;
}

/** The files of a folder that have to do with the workers of one process, the newest first. */
export interface Listing {
  readonly folder: string;
  readonly parts: readonly Seen[];
}

/**
 * Looks at the files of a folder, one epoch after the other, until `enough` of them have all of the
 * workers. A process alone needs one; one of several does not know which of its own the others
 * have too, and looks at all: there are two or three.
 */
export function listing(folder: string, workers: Workers, enough = Infinity): Listing {
  const entries = workers[0] < workers[1] ? checkpointsIn(folder, workers) : [];
  const parts: Seen[] = [];
  let covered = 0;
  for (const epoch of new Set(entries.map((entry) => entry.epoch))) {
    if (covered >= enough) break;
    const seen = entries.filter((entry) => entry.epoch === epoch).map(look);
    parts.push(...seen);
    if (statesOf(seen).some((state) => holds(seen, state, workers))) covered++;
  }
  return { folder, parts };
}

function look(entry: Entry): Seen {
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
export function statesOf(parts: readonly Seen[]): string[] {
  const states = parts.flatMap(({ whole }) => (whole ? [whole.state] : []));
  return [...new Set(states)].sort();
}

/** Whether whole files of one state have all of the workers. */
export function holds(parts: readonly Seen[], state: string, workers: Workers): boolean {
  const same = parts.filter(({ whole }) => whole?.state === state);
  return coverOf(same, (part) => part.workers, workers) !== undefined;
}

/** To be sent to other processes. */
export function listingText(seen: Listing): string {
  return encode(seen);
}

export function parseListing(text: string): Listing {
  return decode(text) as Listing;
}
