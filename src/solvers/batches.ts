import { type Random, stream } from '../math/random.ts';

/**
 * The units of one worker (or block) in a fresh random order every epoch, without those that rest,
 * cut into batches.
 */
export class Batches {
  readonly active: Int32Array;
  readonly #order: Int32Array;
  readonly #random: Random;
  readonly #count: Int32Array;

  constructor(
    memory: { order: Int32Array; active: Int32Array },
    count: Int32Array,
    seed: number,
    id: number,
    mine: boolean,
  ) {
    this.#order = memory.order;
    this.active = memory.active;
    this.#count = count;
    this.#random = stream(seed, id);
    if (!mine) return;
    for (let k = 0; k < this.#order.length; k++) this.#order[k] = k;
  }

  /** A unit rests this epoch if its skip count says so and `still` confirms that it has not moved. */
  deal(skip: Uint8Array, still: (unit: number) => boolean): void {
    const order = this.#order;
    this.#random.shuffle(order, order.length);
    let count = 0;
    for (let k = 0; k < order.length; k++) {
      const unit = order[k];
      if (skip[unit] > 0) {
        skip[unit]--;
        if (still(unit)) continue;
      }
      this.active[count++] = unit;
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
