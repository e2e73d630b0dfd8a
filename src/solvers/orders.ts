import type { Random } from '../math/random.ts';

/** Room for a copy, lent to one call at a time. */
let spare = new Int32Array(0);

/**
 * A random order of rows that goes from segment to segment: the segments in random order, and in
 * random order what belongs to each. One segment, or none, is simply shuffled.
 */
export class SegmentOrder {
  /** The segment of each run of rows; a segment consists of whole runs. */
  readonly #segmentOf: Int32Array;
  /** Segments in the order they are met, and where the items of each go. */
  readonly #segments: Int32Array;
  readonly #next: Int32Array;

  /** Segment s has the rows starts[s] … starts[s+1]-1, of which `run` always stay together. */
  constructor(starts: Int32Array, run: number) {
    const count = starts.length > 2 ? starts.length - 1 : 0;
    this.#segmentOf = new Int32Array(count > 0 ? Math.ceil(starts[count] / run) : 0);
    for (let segment = 0; segment < count; segment++) {
      this.#segmentOf.fill(segment, starts[segment] / run);
    }
    this.#segments = new Int32Array(count);
    this.#next = new Int32Array(count);
  }

  /** The items are runs, 0, 1, …, or, if there are several of them in a run, rows. */
  shuffle(items: Int32Array, itemsPerRun: number, random: Random): void {
    random.shuffle(items, items.length);
    if (this.#segments.length === 0) return;
    this.#drawSegments(items, itemsPerRun, random);
    if (spare.length < items.length) spare = new Int32Array(items.length);
    spare.set(items);
    for (let k = 0; k < items.length; k++) {
      const segment = this.#segmentOf[Math.floor(spare[k] / itemsPerRun)];
      items[this.#next[segment]++] = spare[k];
    }
  }

  /** Draws the order of the segments and finds where each begins in it. */
  #drawSegments(items: Int32Array, itemsPerRun: number, random: Random): void {
    const segments = this.#segments;
    const next = this.#next;
    next.fill(0);
    for (let k = 0; k < items.length; k++) {
      next[this.#segmentOf[Math.floor(items[k] / itemsPerRun)]]++;
    }
    for (let k = 0; k < segments.length; k++) segments[k] = k;
    random.shuffle(segments, segments.length);
    let begin = 0;
    for (let k = 0; k < segments.length; k++) {
      const count = next[segments[k]];
      next[segments[k]] = begin;
      begin += count;
    }
  }
}
