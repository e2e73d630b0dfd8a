import { SpinWait } from './spin-wait.ts';

/** What the threads of a team share. Made once by the main thread, posted to all. */
export interface TeamShared {
  readonly threads: number;
  /** Logical workers, p of the paper: results depend on these, never on threads. */
  readonly workers: number;
  readonly control: Int32Array;
  readonly scratch: Float64Array;
  /** Completed visits of each block, one cache line apart. */
  readonly tokens: Int32Array;
  /** Set by the main thread to ask for an end at the next epoch. */
  readonly interrupt: Int32Array;
  /** How long to spin before sleeping; 0 where threads outnumber cores. */
  readonly spins: number;
  /** Block visits in the order they happened, for tests: [count, worker, block, …]. */
  readonly trace?: Int32Array;
}

const arrived = 0;
const generation = 16;
/** Values one reduction can carry per worker. */
const width = 16;
export const tokenStride = 16;

export function shareTeam(
  threads: number,
  workers: number,
  cores: number,
  trace?: Int32Array,
): TeamShared {
  return {
    threads,
    workers,
    control: new Int32Array(new SharedArrayBuffer(4 * 32)),
    scratch: new Float64Array(new SharedArrayBuffer(8 * 2 * workers * width)),
    tokens: new Int32Array(new SharedArrayBuffer(4 * tokenStride * workers)),
    interrupt: new Int32Array(new SharedArrayBuffer(4)),
    spins: threads <= cores ? 15_000 : 20,
    ...(trace && { trace }),
  };
}

/**
 * One thread's place in a team: which logical workers it plays, a barrier, and reductions whose
 * result does not depend on the number of threads, because the terms are added in worker order.
 */
export class Team {
  readonly shared: TeamShared;
  readonly index: number;
  /** This thread plays the workers first … end-1. */
  readonly first: number;
  readonly end: number;
  readonly #wait: SpinWait;
  #side = 0;

  constructor(shared: TeamShared, index: number) {
    this.shared = shared;
    this.index = index;
    this.first = Math.floor((index * shared.workers) / shared.threads);
    this.end = Math.floor(((index + 1) * shared.workers) / shared.threads);
    this.#wait = new SpinWait(shared.spins);
  }

  /** Returns when every thread of the team has called it. */
  barrier(): void {
    const { control, threads } = this.shared;
    if (threads === 1) return;
    const before = Atomics.load(control, generation);
    if (Atomics.add(control, arrived, 1) === threads - 1) {
      // The count is reset before the generation moves: nobody can arrive for the next barrier
      // until they have seen the new generation.
      Atomics.store(control, arrived, 0);
      Atomics.add(control, generation, 1);
      Atomics.notify(control, generation);
      return;
    }
    this.#wait.whileEqual(control, generation, before);
  }

  /**
   * `fill` writes the values of one worker; the result holds their sums (or maxima) over all
   * workers, the same bits in every thread. Also a barrier. The two sides of the scratch area
   * alternate: a thread can be one reduction ahead of another, never two.
   */
  reduce(
    count: number,
    fill: (worker: number, values: Float64Array) => void,
    combine: 'sum' | 'max' = 'sum',
  ): Float64Array {
    const { scratch, workers } = this.shared;
    const base = this.#side * workers * width;
    this.#side = 1 - this.#side;
    for (let worker = this.first; worker < this.end; worker++) {
      const at = base + worker * width;
      fill(worker, scratch.subarray(at, at + count).fill(0));
    }
    this.barrier();
    const result = scratch.slice(base, base + count);
    for (let worker = 1; worker < workers; worker++) {
      const at = base + worker * width;
      for (let k = 0; k < count; k++) {
        const value = scratch[at + k];
        if (combine === 'sum') result[k] += value;
        else if (value > result[k]) result[k] = value;
      }
    }
    return result;
  }

  /** A value that thread 0 decides and every thread learns. Also a barrier. */
  fromFirst(decide: () => number): number {
    const side = this.#side;
    this.#side = 1 - side;
    const at = side * this.shared.workers * width;
    if (this.index === 0) this.shared.scratch[at] = decide();
    this.barrier();
    return this.shared.scratch[at];
  }

  get interrupted(): boolean {
    return Atomics.load(this.shared.interrupt, 0) !== 0;
  }
}
