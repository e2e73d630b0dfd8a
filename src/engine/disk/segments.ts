import type { Partition } from '../partition.ts';

/** Rows that are always visited together, for the cache; shuffling made them a random sample. */
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
