import { DataError } from '../../errors.ts';
import type { CheckpointFile, Header } from './file.ts';
import {
  type CheckpointEntry,
  type CheckpointListing,
  holds,
  statesOf,
  type Workers,
  workersText,
} from './folder.ts';
import { type CheckpointSet, coverOf } from './load.ts';

/** The checkpoint that all processes of a job go on from. */
export interface Choice {
  readonly epoch: number;
  readonly state: string;
  /** That of the file of the first worker: all processes have the same one. */
  readonly header: Header;
  /** What is wrong with newer ones. */
  readonly passedOver: readonly string[];
}

type Share = (rank: number) => Workers;

/** The newest whole file that any process has seen, to be asked whether it is of the same run. */
export function newestFile(listings: readonly CheckpointListing[]): CheckpointFile | undefined {
  let newest: CheckpointFile | undefined;
  for (const { whole } of listings.flatMap(({ parts }) => parts)) {
    if (whole && whole.found.header.epoch > (newest?.header.epoch ?? -1)) newest = whole.found;
  }
  return newest;
}

/**
 * The newest epoch of which every process sees its own workers, in whole files of one state. What
 * they see is given in the order of ranks, and all of them decide alike. Undefined if there is
 * nothing yet: no file, or only some of the very first checkpoint of a run.
 */
export function chooseEpoch(
  listings: readonly CheckpointListing[],
  grid: number,
  workersOf: Share,
): Choice | undefined {
  const passedOver: string[] = [];
  const everything = listings.flatMap(({ parts }) => parts);
  const epochs = [...new Set(everything.map(({ epoch }) => epoch))].sort((a, b) => b - a);
  for (const epoch of epochs) {
    const seen = listings.map(({ parts }) => parts.filter((part) => fits(part, epoch, grid)));
    const state = statesOf(seen.flat()).find((candidate) =>
      seen.every((parts, rank) => holds(parts, candidate, workersOf(rank))),
    );
    if (state !== undefined) return { epoch, state, header: headerOf(seen, state), passedOver };
    passedOver.push(...complaintsAt(epoch, listings, seen, workersOf));
  }
  if (everything.every((part) => isBeginning(part, grid))) return undefined;
  throw new DataError(nothingCommon(listings, passedOver));
}

function fits({ epoch, whole }: CheckpointEntry, wanted: number, grid: number): boolean {
  return epoch === wanted && (!whole || whole.found.header.grid === grid);
}

function headerOf(seen: readonly (readonly CheckpointEntry[])[], state: string): Header {
  const headers = seen.flat().flatMap(({ whole }) => (whole?.state === state ? [whole.found] : []));
  return headers.reduce((one, other) =>
    other.header.workers[0] < one.header.workers[0] ? other : one,
  ).header;
}

/** Of a run that was ended before all of its processes had their first checkpoint. */
function isBeginning({ whole }: CheckpointEntry, grid: number): boolean {
  return (
    whole !== undefined && whole.found.header.follows === 0 && whole.found.header.grid === grid
  );
}

/** Why the files of an epoch do not serve. */
function complaintsAt(
  epoch: number,
  listings: readonly CheckpointListing[],
  seen: readonly (readonly CheckpointEntry[])[],
  workersOf: Share,
): string[] {
  const found = seen.flatMap((parts, rank) => {
    const workers = workersOf(rank);
    if (statesOf(parts).some((state) => holds(parts, state, workers))) return [];
    const damaged = parts.flatMap(({ complaint }) => (complaint === undefined ? [] : [complaint]));
    if (damaged.length > 0) return damaged;
    const where = listings.length === 1 ? listings[0].folder : `rank ${rank}`;
    const whole = parts.filter((part) => part.whole);
    if (whole.length > 0 && coverOf(whole, (part) => part.workers, workers)) {
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
  complaints: readonly string[],
): string {
  const [{ folder }] = listings;
  if (listings.length === 1) {
    return `no whole checkpoint in ${folder}, so the run cannot go on from it:\n  ${complaints.join('\n  ')}`;
  }
  const each = listings.map(({ folder: own, parts }, rank) => {
    const epochs = [...new Set(parts.filter(({ whole }) => whole).map(({ epoch }) => epoch))];
    const has = epochs.length === 0 ? 'nothing whole' : `whole files of epoch ${epochs.join(', ')}`;
    return `rank ${rank}: ${has} in ${own}`;
  });
  return `no checkpoint that all ranks have, so the run cannot go on:\n  ${[...each, ...complaints].join('\n  ')}`;
}

/** What one process needs of the checkpoint that was chosen. */
export function checkpointSetOf(
  { parts }: CheckpointListing,
  { state, header }: Choice,
): CheckpointSet {
  const own = parts.flatMap(({ whole }) => (whole?.state === state ? [whole.found] : []));
  return { header, parts: own };
}
