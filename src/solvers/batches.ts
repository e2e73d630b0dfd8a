import type { Random } from '../math/random.ts';
import type { Kernels } from './kernels/kernels.ts';
import { SegmentOrder } from './orders.ts';

/**
 * The units of one worker (or block) in a fresh random order every epoch, without those that rest,
 * cut into batches. Units that lie together in memory may stay together: a run of them is met in a
 * random place of the order but swept from its first to its last, and the runs of a segment follow
 * one another.
 */
export class Batches {
  readonly active: Int32Array;
  readonly #runs: Int32Array;
  readonly #random: Random;
  readonly #count: Int32Array;
  readonly #run: number;
  readonly #order: SegmentOrder;
  #filled = false;

  constructor(
    active: Int32Array,
    count: Int32Array,
    runs: Int32Array,
    run: number,
    random: Random,
    order?: SegmentOrder,
  ) {
    this.active = active;
    this.#count = count;
    this.#run = run;
    this.#random = random;
    this.#runs = runs.subarray(0, Math.ceil(active.length / run));
    this.#order = order ?? new SegmentOrder(Int32Array.of(0, active.length), run);
  }

  /** A unit rests this epoch if its skip count says so and it has not moved since `start`. */
  deal(kernels: Kernels, skip: Uint8Array, now: Float64Array, start: Float64Array): void {
    const runs = this.#runs;
    if (!this.#filled) for (let k = 0; k < runs.length; k++) runs[k] = k;
    this.#filled = true;
    this.#order.shuffle(runs, 1, this.#random);
    this.#count[0] = kernels.dealRuns(runs, this.#run, skip, now, start, this.active);
  }

  save(words: Int32Array): void {
    this.#random.store(words);
  }

  /** Goes on with `runs` as they are. */
  resume(words: Int32Array): void {
    this.#random.load(words);
    this.#filled = true;
  }

  /** Units that do not rest; in shared memory, because a block's batches travel with it. */
  get count(): number {
    return this.#count[0];
  }

  begin(batch: number, batches: number): number {
    return Math.floor((this.count * batch) / batches);
  }
}
