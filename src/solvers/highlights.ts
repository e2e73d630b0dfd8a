import type { Partition } from '../engine/partition.ts';
import type { Team } from '../engine/team.ts';
import { blockOf } from '../parallel/lodging.ts';

/** A weight by the place of its column. */
export interface Highlight {
  readonly place: number;
  readonly weight: number;
}

/** Weights that are told, and how many of a block another process can tell of. */
const told = 20;
const toldOfBlock = 5;

/** Milliseconds from one sample to the next; looking takes no more than this part of the time. */
const interval = 500;
const share = 0.005;

/**
 * The weights of the largest size, now and then. A process looks at the columns it is home to; the
 * blocks of other processes come as pairs of place and weight beside their efforts. When that
 * happens hangs on the clock, and nothing hangs on it.
 */
export class Highlights {
  readonly #team: Team;
  readonly #weights: Float64Array;
  readonly #partition: Partition;
  readonly #elsewhere = new Map<number, readonly Highlight[]>();
  #due = 0;
  #cost = 0;

  /** `weights`: what the model would be if training ended now. */
  constructor(team: Team, weights: Float64Array, partition: Partition) {
    this.#team = team;
    this.#weights = weights;
    this.#partition = partition;
  }

  /** Whether it is time; `last`: it is, whatever the clock says. */
  look(last: boolean): boolean {
    const now = performance.now();
    if (!last && now < this.#due) return false;
    this.#due = now + Math.max(interval, this.#cost / share);
    this.#cost = 0;
    return true;
  }

  /** Of a block that this thread is home to: what the process that leads cannot see. */
  tell(block: number, values: Float64Array): void {
    if ((this.#team.shared.traffic?.rank ?? 0) === 0) return;
    for (const [k, { place, weight }] of this.#of(block, toldOfBlock).entries()) {
      values[2 * k] = 1 + place;
      values[2 * k + 1] = weight;
    }
  }

  hear(block: number, values: Float64Array): void {
    if (values[0] === 0) return;
    const heard: Highlight[] = [];
    for (let k = 0; k + 1 < values.length && values[k] > 0; k += 2) {
      heard.push({ place: values[k] - 1, weight: values[k + 1] });
    }
    this.#elsewhere.set(block, heard);
  }

  largest(): Highlight[] {
    const { first, end } = this.#partition;
    const heard = [...this.#elsewhere.values()];
    const all = heard.flat();
    for (let block = first; block < end; block++) all.push(...this.#of(block, told));
    // What a block has below the last that it could tell of is not known.
    const limits = heard
      .filter((block) => block.length === toldOfBlock)
      .map((block) => block.at(-1)!);
    const least = limits.reduce((most, { weight }) => Math.max(most, Math.abs(weight)), 0);
    return all
      .filter(({ weight }) => Math.abs(weight) >= least)
      .sort(
        (left, right) => Math.abs(right.weight) - Math.abs(left.weight) || left.place - right.place,
      )
      .slice(0, told);
  }

  #of(block: number, count: number): Highlight[] {
    const before = performance.now();
    const weights = blockOf(this.#partition, this.#weights, block);
    const from = this.#partition.columnBounds[block];
    const found = largestOf(weights, count).map((k) => ({ place: from + k, weight: weights[k] }));
    this.#cost += performance.now() - before;
    return found;
  }
}

/** Where the numbers of the largest size are, largest first; zeros are not among them. */
export function largestOf(numbers: Float64Array, count: number): number[] {
  const places: number[] = [];
  let least = 0;
  for (let k = 0; k < numbers.length; k++) {
    const size = Math.abs(numbers[k]);
    if (!(size > least)) continue;
    let at = places.length;
    while (at > 0 && Math.abs(numbers[places[at - 1]]) < size) at--;
    places.splice(at, 0, k);
    if (places.length > count) places.pop();
    if (places.length === count) least = Math.abs(numbers[places[count - 1]]);
  }
  return places;
}
