import type { Segments } from '../../parallel/segments.ts';
import { type StoredCells, segmentBytes } from '../../parallel/stored-cells.ts';
import type { Partition } from '../partition.ts';

/** Rows of a group at most: their numbers are sorted in memory. */
const rowsPerGroup = 2 ** 19;

/** What is to be laid out on disk, and with what. */
export interface ShuffleTask {
  readonly partition: Partition;
  readonly segments: Segments;
  readonly stored: StoredCells;
  /** The column of ones behind all others, −1 without an intercept. */
  readonly ones: number;
  /** Memory to work in: the windows that training will look through. */
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

/** Groups of at most so many bytes, or of one segment. */
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

/** The one of the segments begin … end-1 that the row at a place is in. */
export function segmentAt({ place }: SegmentList, row: number, begin: number, end: number): number {
  let low = begin;
  let high = end - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (place[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where the row at a place, which is in a segment, has its offset; see StoredCells. */
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
