import type { Arena } from '../engine/arena.ts';
import { roomFor } from '../engine/disk/disk-cells.ts';
import type { Partition } from '../engine/partition.ts';
import type { Segments } from './segments.ts';

/** Bytes of an entry: its index and its value. */
export const entryBytes = 8;

/**
 * A grid whose entries are in a file: worker after worker, of each one segment after the other, of
 * a segment one block after the other. What a block has of a segment is a chunk: all its indices,
 * then all its values, row by row. In memory are the offsets of the rows and windows on the file.
 */
export interface StoredCells {
  /** The descriptor of the file, open in the whole process. */
  readonly file: number;
  /**
   * By cell: where the entries of row i begin in its chunk, at i + s for a row of segment s. The
   * place between two segments has the end of the last row of the first.
   */
  readonly offsets: readonly Int32Array[];
  /** By worker: where chunk segment · p + block begins in the file, and where the last one ends. */
  readonly positions: readonly Float64Array[];
  /** Room for chunks, of which thread k has the bytes shares[k] … shares[k+1]-1. */
  readonly window: Uint8Array;
  readonly shares: readonly number[];
}

/** Reserves the memory of a grid on disk; the positions of its chunks are not known yet. */
export function allocateStored(
  arena: Arena,
  { size, rowStarts }: Partition,
  segments: Segments,
  shares: readonly number[],
): Omit<StoredCells, 'file'> {
  const offsets: Int32Array[] = [];
  for (let worker = 0; worker < size; worker++) {
    const rows = rowStarts[worker + 1] - rowStarts[worker];
    const length = rows + segments[worker].length - 1;
    for (let block = 0; block < size; block++) offsets.push(arena.int32(length));
  }
  return {
    offsets,
    positions: segments.map(({ length }) => {
      const bytes = 8 * (size * (length - 1) + 1);
      return new Float64Array(new SharedArrayBuffer(bytes));
    }),
    window: arena.uint8(shares[shares.length - 1]),
    shares,
  };
}

/** Bytes of a worker's segments on disk, by segment. */
export function segmentBytes(
  { rowStarts, rowCounts }: Partition,
  segments: Segments,
  worker: number,
): Float64Array {
  const starts = segments[worker];
  const bytes = new Float64Array(starts.length - 1);
  const from = rowStarts[worker];
  for (let segment = 0; segment < bytes.length; segment++) {
    for (let row = starts[segment]; row < starts[segment + 1]; row++) {
      bytes[segment] += entryBytes * rowCounts[from + row];
    }
  }
  return bytes;
}

/** Segments that a worker should have in the window: one being left, one being met, one to spare. */
const segmentsAtOnce = 3;

/** Bytes of the window with which a thread that plays these workers reads little twice. */
export function comfortableWindow(
  partition: Partition,
  segments: Segments,
  first: number,
  end: number,
): number {
  let total = 0;
  for (let worker = first; worker < end; worker++) {
    const longest = segmentBytes(partition, segments, worker).reduce(
      (most, bytes) => Math.max(most, bytes),
      0,
    );
    // A segment is as many chunks as there are blocks, each on lines of its own.
    total += segmentsAtOnce * (longest + partition.size * roomFor(1));
  }
  return total;
}
