import type { Random } from '../math/random.ts';

/**
 * The units of one worker (or block) in a fresh random order every epoch, without those that rest,
 * cut into batches. Units that lie together in memory may stay together: a run of them is met in a
 * random place of the order but swept from its first to its last.
 */
export class Batches {
  readonly active: Int32Array;
  readonly #runs: Int32Array;
  readonly #random: Random;
  readonly #count: Int32Array;
  readonly #run: number;

  constructor(active: Int32Array, count: Int32Array, run: number, random: Random) {
    this.active = active;
    this.#count = count;
    this.#run = run;
    this.#random = random;
    this.#runs = new Int32Array(Math.ceil(active.length / run));
    for (let k = 0; k < this.#runs.length; k++) this.#runs[k] = k;
  }

  /** A unit rests this epoch if its skip count says so and `still` confirms that it has not moved. */
  deal(skip: Uint8Array, still: (unit: number) => boolean): void {
    const { active } = this;
    const runs = this.#runs;
    const length = this.#run;
    this.#random.shuffle(runs, runs.length);
    let count = 0;
    for (let k = 0; k < runs.length; k++) {
      const first = runs[k] * length;
      const end = Math.min(first + length, active.length);
      for (let unit = first; unit < end; unit++) {
        if (skip[unit] > 0) {
          skip[unit]--;
          if (still(unit)) continue;
        }
        active[count++] = unit;
      }
    }
    this.#count[0] = count;
  }

  /** Units that do not rest; in shared memory, because a block's batches travel with it. */
  get count(): number {
    return this.#count[0];
  }

  begin(batch: number, batches: number): number {
    return Math.floor((this.count * batch) / batches);
  }
}
