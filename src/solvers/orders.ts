import { DataError } from '../errors.ts';
import type { Random } from '../math/random.ts';
import type { Kernels } from './kernels/kernels.ts';

/** Scratch memory for a copy, used by one call at a time. */
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

/** Kernels take what an order lists as positions in memory: a saved one must have each once. */
export function checkOrder(order: Int32Array, what: string): void {
  const seen = new Uint8Array(order.length);
  for (const item of order) {
    if (seen[item] !== 0) {
      throw new DataError(`${what}: ${item} is there twice or not from 0 to ${order.length - 1}`);
    }
    seen[item] = 1;
  }
}

interface BatchesOptions {
  /** Where the units that do not rest are listed, and in `count[0]` how many. */
  readonly active: Int32Array;
  readonly count: Int32Array;
  readonly runs: Int32Array;
  /** Units per run. */
  readonly run: number;
  readonly random: Random;
  readonly order?: SegmentOrder;
}

/**
 * The units of one worker (or block) in a fresh random order every epoch, without those that rest,
 * cut into batches. Units that are adjacent in memory may stay together: a run of them is met in a
 * random position of the order but swept from its first to its last, and the runs of a segment follow
 * one another.
 */
export class Batches {
  readonly active: Int32Array;
  readonly #options: BatchesOptions;
  readonly #runs: Int32Array;
  readonly #order: SegmentOrder;
  #filled = false;

  constructor(options: BatchesOptions) {
    const { active, run, runs, order } = options;
    this.active = active;
    this.#options = options;
    this.#runs = runs.subarray(0, Math.ceil(active.length / run));
    this.#order = order ?? new SegmentOrder(Int32Array.of(0, active.length), run);
  }

  /** A unit rests this epoch if its skip count says so and it has not moved since `start`. */
  shuffle(kernels: Kernels, skip: Uint8Array, now: Float64Array, start: Float64Array): void {
    const { run, random, count } = this.#options;
    const runs = this.#runs;
    if (!this.#filled) for (let k = 0; k < runs.length; k++) runs[k] = k;
    this.#filled = true;
    this.#order.shuffle(runs, 1, random);
    count[0] = kernels.listUnits(runs, run, skip, now, start, this.active);
  }

  /** Continues with `runs` as they are. */
  resume(): void {
    checkOrder(this.#runs, 'runs');
    this.#filled = true;
  }

  /** Units that do not rest; in shared memory, because a block's batches travel with it. */
  get count(): number {
    return this.#options.count[0];
  }

  begin(batch: number, batches: number): number {
    return Math.floor((this.count * batch) / batches);
  }
}

/** Units per call of a sweeping kernel: short calls let the engine replace it by a faster one. */
const sweepChunk = 1024;
/** Of one that goes through the data once in a run: the first columns may have most of the non-zeros. */
export const shortChunk = 64;

/** Goes through begin … end-1 in chunks. */
export function inChunks(
  begin: number,
  end: number,
  visit: (from: number, to: number) => void,
  chunk = sweepChunk,
): void {
  for (let from = begin; from < end; from += chunk) visit(from, Math.min(end, from + chunk));
}
