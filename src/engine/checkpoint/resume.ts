/** From the files in a folder to the arrays of a run: list them, choose an epoch, load it. */
import { closeSync } from 'node:fs';
import { DataError } from '../../errors.ts';
import {
  type CheckpointFile,
  decode,
  encode,
  fill,
  type Header,
  open,
  readCheckpointFile,
  stateOf,
} from './file.ts';
import { checkpointsIn, type Entry, type Workers, workersText } from './folder.ts';
import {
  areFinite,
  bytesPerNumber,
  inFile,
  inMemory,
  itemsPerUnit,
  type Layout,
  numbersPerItem,
  type StateArray,
  transferItems,
  typeOf,
  unitsOf,
} from './state.ts';

/** A file as one process sees it. */
interface CheckpointEntry extends Entry {
  /** Of a file whose every byte has been checked; files of the same `state` belong together. */
  readonly whole?: { readonly found: CheckpointFile; readonly state: string };
  /** What is wrong with it otherwise. */
  readonly error?: string;
}

/** The files of a folder that hold workers of one process, the newest first. */
export interface CheckpointListing {
  readonly folder: string;
  readonly parts: readonly CheckpointEntry[];
}

/**
 * Reads the files of a folder by epoch until `enough` epochs have all of the workers. A process
 * alone needs one; one of several reads all, two or three, since the others may lack some.
 */
export function listing(folder: string, workers: Workers, enough = Infinity): CheckpointListing {
  const entries = workers[0] < workers[1] ? checkpointsIn(folder, workers) : [];
  const parts: CheckpointEntry[] = [];
  let covered = 0;
  for (const epoch of new Set(entries.map((entry) => entry.epoch))) {
    if (covered >= enough) break;
    const seen = entries.filter((entry) => entry.epoch === epoch).map(checkEntry);
    parts.push(...seen);
    if (statesOf(seen).some((state) => holds(seen, state, workers))) covered++;
  }
  return { folder, parts };
}

function checkEntry(entry: Entry): CheckpointEntry {
  try {
    const found = readCheckpointFile(entry.path);
    const { epoch, workers } = found.header;
    return { path: entry.path, epoch, workers, whole: { found, state: stateOf(found.header) } };
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    return { ...entry, error: error.message };
  }
}

/** The states among whole files, in an order that all processes agree on. */
function statesOf(parts: readonly CheckpointEntry[]): string[] {
  return [...new Set(parts.flatMap(({ whole }) => whole?.state ?? []))].sort();
}

function filesOf(parts: readonly CheckpointEntry[], state: string): CheckpointFile[] {
  return parts.flatMap(({ whole }) => (whole?.state === state ? [whole.found] : []));
}

/** Whether whole files of one state have all of the workers. */
function holds(parts: readonly CheckpointEntry[], state: string, workers: Workers): boolean {
  return coverOf(filesOf(parts, state), workers) !== undefined;
}

/** To be sent to other processes. */
export function listingText(seen: CheckpointListing): string {
  return encode(seen);
}

export function parseListing(text: string): CheckpointListing {
  return decode(text) as CheckpointListing;
}

/** The checkpoint that all processes of a job continue from. */
export interface Choice {
  readonly epoch: number;
  readonly state: string;
  /** That of the file of the first worker: all processes have the same one. */
  readonly header: Header;
  readonly passedOver: readonly string[];
}

type WorkersOf = (rank: number) => Workers;

/** The newest whole file that any process has seen, to check that it is of the same run. */
export function newestFile(listings: readonly CheckpointListing[]): CheckpointFile | undefined {
  const files = listings.flatMap(({ parts }) => parts.flatMap(({ whole }) => whole?.found ?? []));
  return files.sort((one, other) => other.header.epoch - one.header.epoch)[0];
}

/**
 * The newest epoch of which every process sees its own workers, in whole files of one state. What
 * they see is given in the order of ranks, and all of them decide alike. Undefined if there is
 * nothing yet: no file, or only some of the very first checkpoint of a run.
 */
export function chooseEpoch(
  listings: readonly CheckpointListing[],
  grid: number,
  workersOf: WorkersOf,
): Choice | undefined {
  const passedOver: string[] = [];
  const everything = listings.flatMap(({ parts }) => parts);
  const epochs = [...new Set(everything.map(({ epoch }) => epoch))].sort((a, b) => b - a);
  for (const epoch of epochs) {
    const seen = listings.map(({ parts }) =>
      parts.filter(
        (part) => part.epoch === epoch && (!part.whole || part.whole.found.header.grid === grid),
      ),
    );
    const state = statesOf(seen.flat()).find((candidate) =>
      seen.every((parts, rank) => holds(parts, candidate, workersOf(rank))),
    );
    if (state !== undefined) {
      const headers = filesOf(seen.flat(), state).map(({ header }) => header);
      const [header] = headers.sort((one, other) => one.workers[0] - other.workers[0]);
      return { epoch, state, header, passedOver };
    }
    passedOver.push(...errorsAt(epoch, listings, seen, workersOf));
  }
  // A run may end before all of its processes have their first checkpoint.
  const isFirst = ({ header }: CheckpointFile) => header.follows === 0 && header.grid === grid;
  if (everything.every(({ whole }) => whole && isFirst(whole.found))) return undefined;
  throw nothingCommon(listings, passedOver);
}

/** Why the files of an epoch do not serve. */
function errorsAt(
  epoch: number,
  listings: readonly CheckpointListing[],
  seen: readonly (readonly CheckpointEntry[])[],
  workersOf: WorkersOf,
): string[] {
  const found = seen.flatMap((parts, rank) => {
    const workers = workersOf(rank);
    if (statesOf(parts).some((state) => holds(parts, state, workers))) return [];
    const damaged = parts.flatMap(({ error }) => error ?? []);
    if (damaged.length > 0) return damaged;
    const where = listings.length === 1 ? listings[0].folder : `rank ${rank}`;
    const whole = parts.flatMap((part) => part.whole?.found ?? []);
    if (whole.length > 0 && coverOf(whole, workers)) {
      const paths = whole.map(({ path }) => path).join(', ');
      return [`${where}: epoch ${epoch}: files of different runs: ${paths}`];
    }
    return [`${where}: epoch ${epoch}: no whole files of ${workersText(workers)}`];
  });
  if (found.length === 0) return [`epoch ${epoch}: ranks have files of different runs`];
  return [...new Set(found)];
}

function nothingCommon(
  listings: readonly CheckpointListing[],
  errors: readonly string[],
): DataError {
  const [{ folder }] = listings;
  if (listings.length === 1) {
    const message = `no complete checkpoint in ${folder}, so the run cannot be resumed:`;
    return new DataError(message, { details: errors });
  }
  const each = listings.map(({ folder: own, parts }, rank) => {
    const epochs = [...new Set(parts.filter(({ whole }) => whole).map(({ epoch }) => epoch))];
    const has = epochs.length === 0 ? 'nothing whole' : `whole files of epoch ${epochs.join(', ')}`;
    return `rank ${rank}: ${has} in ${own}`;
  });
  const message = 'no checkpoint that all ranks have, so the run cannot continue:';
  return new DataError(message, { details: [...each, ...errors] });
}

/** The checkpoint of one epoch, as far as a process needs it. */
export interface CheckpointSet {
  /** What all parts have in common; its workers, arrays and seconds are those of one of them. */
  readonly header: Header;
  /** Files that together hold the workers that the process runs. */
  readonly parts: readonly CheckpointFile[];
}

export function checkpointSetOf(
  { parts }: CheckpointListing,
  { state, header }: Choice,
): CheckpointSet {
  return { header, parts: filesOf(parts, state) };
}

interface Piece {
  readonly file: CheckpointFile;
  readonly workers: Workers;
}

/** Covers the workers from as few files as possible; undefined if there is a gap. */
function coverOf(files: readonly CheckpointFile[], [first, end]: Workers): Piece[] | undefined {
  const pieces: Piece[] = [];
  for (let next = first; next < end; ) {
    let best: CheckpointFile | undefined;
    let bestEnd = next;
    for (const file of files) {
      const [from, to] = file.header.workers;
      if (from > next || to <= bestEnd) continue;
      best = file;
      bestEnd = to;
    }
    if (!best) return undefined;
    const to = Math.min(end, bestEnd);
    pieces.push({ file: best, workers: [next, to] });
    next = to;
  }
  return pieces;
}

/** Puts the numbers of a checkpoint into the arrays of a process, whoever wrote its parts. */
export function loadArrays(
  { parts }: CheckpointSet,
  arrays: readonly StateArray[],
  layout: Layout,
): void {
  const { first, end } = layout;
  const pieces = coverOf(parts, [first, end]);
  if (!pieces) {
    const paths = parts.map(({ path }) => path).join(', ');
    throw new DataError(`${paths}: workers ${first} to ${end - 1} are not all in there`);
  }
  for (const piece of pieces) loadPiece(piece, arrays, layout);
}

function loadPiece(piece: Piece, arrays: readonly StateArray[], layout: Layout): void {
  checkArrays(piece, arrays, layout);
  const { workers } = piece;
  const { path, header, offset } = piece.file;
  const file = open(path);
  try {
    let start = offset;
    for (const { name, axis, type, length } of header.arrays) {
      const array = arrays.find((other) => other.name === name && other.axis === axis);
      if (array) {
        const [from] = inFile(array, layout, header.workers[0], workers);
        let at = start + from * numbersPerItem(array.values) * bytesPerNumber[type];
        const range = inMemory(array, layout, workers);
        transferItems('read', array.values, range, (bytes) => {
          fill(file, bytes, at);
          at += bytes.length;
        });
        if (!areFinite(array.values, range)) {
          throw new DataError(`${path}: ${name}: has a number that is not finite`);
        }
      }
      start += length * bytesPerNumber[type];
    }
  } finally {
    closeSync(file);
  }
}

/** Arrays of which these workers have nothing do not matter: who has no rows need not know them. */
function checkArrays(
  { file: { path, header }, workers }: Piece,
  arrays: readonly StateArray[],
  layout: Layout,
): void {
  const counts = ({ axis }: Pick<StateArray, 'axis'>) => unitsOf(axis, layout, workers) > 0;
  const expected = arrays.filter(counts).map((array) => {
    const { name, axis, values } = array;
    const each = itemsPerUnit(array, layout) * numbersPerItem(values);
    return `${name} ${axis} ${typeOf(values)} ${each}`;
  });
  const stored = header.arrays.filter(counts).map(({ name, axis, type, length }) => {
    const each = length / unitsOf(axis, layout, header.workers);
    return `${name} ${axis} ${type} ${each}`;
  });
  if (expected.join(', ') !== stored.join(', ')) {
    throw new DataError(
      `${path}: holds other arrays than this run has: ${stored.join(', ')}; not ${expected.join(', ')}`,
    );
  }
}
