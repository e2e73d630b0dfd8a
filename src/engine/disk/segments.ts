import type { Partition } from '../partition.ts';
import { type DiskCells, segmentBytes } from './disk-cells.ts';

/**
 * Rows that are always visited together, for the sake of the cache. Rows are shuffled when they are
 * laid out, so such a run is a random sample.
 */
export const rowsTogether = 16;

/** A worker with fewer entries (4 MB) has a single segment. */
const worthCutting = 2 ** 19;
/** Segments have between about these numbers of entries; the larger one is a megabyte. */
const fewestEntries = 2 ** 12;
const mostEntries = 2 ** 17;
/**
 * Between the two the workers have this many segments together. The order of segments is what is
 * random in an epoch, and momentum is disturbed when there are only dozens of them (debdesc,
 * logistic loss, passes to a gap of 10⁻³: 14 with 256 segments or more, 16 with 128, 38 with 16).
 */
const segmentsWanted = 2048;

/**
 * The rows of each worker, cut into segments: starts[worker][s] is the first row of segment s,
 * followed by the number of rows. A worker visits its rows segment by segment, so a few segments in
 * memory are enough. The cuts decide the order of rows and with it the bits of the result: they
 * depend on the data and the grid alone.
 */
export type Segments = readonly Int32Array[];

export function cutSegments({ size, rowStarts, rowCounts, workerNonzeros }: Partition): Segments {
  return Array.from({ length: size }, (_, worker) => {
    const from = rowStarts[worker];
    const rows = rowStarts[worker + 1] - from;
    const wanted = entriesPerSegment(workerNonzeros[worker], size);
    const starts = [0];
    let entries = 0;
    for (let row = 0; row < rows; row++) {
      if (row % rowsTogether === 0 && entries >= wanted) {
        starts.push(row);
        entries = 0;
      }
      entries += rowCounts[from + row];
    }
    return Int32Array.from(rows > 0 ? [...starts, rows] : starts);
  });
}

function entriesPerSegment(entries: number, workers: number): number {
  if (entries < worthCutting) return Infinity;
  return Math.min(mostEntries, Math.max(fewestEntries, (entries * workers) / segmentsWanted));
}

/** Rows of a group at most: their numbers are sorted in memory. */
const rowsPerGroup = 2 ** 19;

/** What to lay out on disk, and with what memory. */
export interface ShuffleTask {
  readonly partition: Partition;
  readonly segments: Segments;
  readonly stored: DiskCells;
  /** The column of ones behind all others, −1 without an intercept. */
  readonly ones: number;
  /** Memory to work in: that of the windows of training. */
  readonly memory: Uint8Array;
}

/** All segments in the order of the file; `place` and `position` also have where the last one ends. */
export interface SegmentList {
  readonly worker: Int32Array;
  /** Which one it is of its worker. */
  readonly within: Int32Array;
  /** Place of its first row. */
  readonly place: Int32Array;
  /** Where it begins in the file. */
  readonly position: Float64Array;
}

/** Segments that are brought into order together: begin … end-1 of the list. */
export interface Group {
  readonly begin: number;
  readonly end: number;
}

export function listSegments(partition: Partition, segments: Segments): SegmentList {
  const count = segments.reduce((sum, starts) => sum + starts.length - 1, 0);
  const list = {
    worker: new Int32Array(count),
    within: new Int32Array(count),
    place: new Int32Array(count + 1),
    position: new Float64Array(count + 1),
  };
  let at = 0;
  for (const [worker, starts] of segments.entries()) {
    for (const [segment, bytes] of segmentBytes(partition, segments, worker).entries()) {
      list.worker[at] = worker;
      list.within[at] = segment;
      list.place[at] = partition.rowStarts[worker] + starts[segment];
      list.position[at + 1] = list.position[at] + bytes;
      at++;
    }
  }
  list.place[count] = partition.rowOrder.length;
  return list;
}

/** Groups of at most `most` bytes, or of one segment. */
export function groupSegments({ place, position }: SegmentList, most: number): Group[] {
  const groups: Group[] = [];
  const count = place.length - 1;
  for (let begin = 0; begin < count; ) {
    let end = begin + 1;
    while (
      end < count &&
      position[end + 1] - position[begin] <= most &&
      place[end + 1] - place[begin] <= rowsPerGroup
    ) {
      end++;
    }
    groups.push({ begin, end });
    begin = end;
  }
  return groups;
}

/** Where the row at a place, which is in a segment, has its offset; see DiskCells. */
export function offsetSlot(
  { rowStarts }: Partition,
  { worker, within }: SegmentList,
  segment: number,
  place: number,
): number {
  return place - rowStarts[worker[segment]] + within[segment];
}

/** Words from … to-1 of a piece of memory. */
export function wordsOf(memory: Uint8Array, from: number, to: number): Int32Array {
  return new Int32Array(memory.buffer, memory.byteOffset + 4 * from, to - from);
}

/** The first words, as bytes. */
export function bytesOfWords({ buffer, byteOffset }: Int32Array, words: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset, 4 * words);
}
