import type { Partition } from '../engine/partition.ts';

/**
 * Rows that are always met together, for the sake of the cache. They were shuffled when they were
 * laid out, so that such a run is a random sample.
 */
export const rowsTogether = 16;

/** A worker with fewer entries than this, 4 MB of them, has a single segment. */
const worthCutting = 2 ** 19;
/**
 * Segments have at least so many entries and at most, about, so many, a megabyte: enough to be read
 * at one go.
 */
const fewestEntries = 2 ** 12;
const mostEntries = 2 ** 17;
/**
 * Between the two the workers have so many segments together. The order of segments is what is
 * random about an epoch, and momentum is disturbed when there are only dozens of them (debdesc,
 * logistic loss, passes to a gap of 10⁻³: 14 with 256 segments or more, 16 with 128, 38 with 16).
 */
const segmentsWanted = 2048;

/**
 * The rows of each worker, cut into segments: starts[worker][s] is the first row of segment s, and
 * behind the last one stands the number of rows. A worker meets its rows segment by segment, so
 * that a few of them in memory are enough. The cuts decide the order of rows and with it the bits
 * of the result: they depend on the data and the grid alone.
 */
export type Segments = readonly Int32Array[];

export function cutSegments({ size, rowStarts, rowCounts, workerEntries }: Partition): Segments {
  return Array.from({ length: size }, (_, worker) => {
    const from = rowStarts[worker];
    const rows = rowStarts[worker + 1] - from;
    const wanted = entriesPerSegment(workerEntries[worker], size);
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

/** The segment that a row is in: the last one that begins at it or before. */
export function segmentOf(starts: Int32Array, row: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}
