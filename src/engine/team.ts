import { SpinWait } from '../parallel/spin-wait.ts';
import {
  answered,
  askForGathering,
  beginWaiting,
  endWaiting,
  type Traffic,
  width,
} from '../parallel/traffic.ts';

/** What the threads of a team share. Made once by the main thread, posted to all. */
export interface TeamShared {
  readonly threads: number;
  /** Logical workers, p of the paper: results depend on these, never on threads or processes. */
  readonly workers: number;
  /** The workers that this process plays: first … end-1. */
  readonly first: number;
  readonly end: number;
  /** How the process reaches the others of its job, if there are any. */
  readonly traffic?: Traffic;
  readonly control: Int32Array;
  readonly scratch: Float64Array;
  /** Completed visits of each block, one cache line apart. */
  readonly tokens: Int32Array;
  /**
   * For people who look on: the worker that was the last to take up each block, where the order is
   * free; −1 where it follows from the block's token.
   */
  readonly holders: Int32Array;
  /** Set by the main thread to ask for an end at the next epoch. */
  readonly interrupt: Int32Array;
  /** How long to spin before sleeping; 0 where threads outnumber cores. */
  readonly spins: number;
  /** Block visits in the order they happened, for tests: [count, worker, block, …]. */
  readonly trace?: Int32Array;
}

const arrived = 0;
const generation = 16;
export const tokenStride = 16;

export interface TeamOptions {
  readonly threads: number;
  readonly workers: number;
  readonly cores: number;
  readonly trace?: Int32Array | undefined;
  /** Opens the traffic of a process among others, round the tokens of its blocks. */
  readonly open?: (tokens: Int32Array) => Traffic;
}

export function shareTeam({ threads, workers, cores, trace, open }: TeamOptions): TeamShared {
  const tokens = new Int32Array(new SharedArrayBuffer(4 * tokenStride * workers));
  const traffic = open?.(tokens);
  return {
    threads,
    workers,
    first: traffic ? traffic.firsts[traffic.rank] : 0,
    end: traffic ? traffic.firsts[traffic.rank + 1] : workers,
    control: new Int32Array(new SharedArrayBuffer(4 * 32)),
    scratch: new Float64Array(new SharedArrayBuffer(8 * 2 * workers * width)),
    tokens,
    holders: new Int32Array(new SharedArrayBuffer(4 * workers)).fill(-1),
    interrupt: new Int32Array(new SharedArrayBuffer(4)),
    // A carrier is one more thread that needs a core, most of all while the others wait.
    spins: threads + (traffic ? 1 : 0) <= cores ? 15_000 : 20,
    ...(trace && { trace }),
    ...(traffic && { traffic }),
  };
}

/** A thread of a process plays the workers from the first to the one before the second. */
export function workersOfThread(
  { first, end, threads }: Pick<TeamShared, 'first' | 'end' | 'threads'>,
  index: number,
): [first: number, end: number] {
  const bound = (thread: number) => first + Math.floor((thread * (end - first)) / threads);
  return [bound(index), bound(index + 1)];
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
  /** Milliseconds that this thread has waited for others. */
  waited = 0;
  readonly #wait: SpinWait;
  #side = 0;

  constructor(shared: TeamShared, index: number) {
    this.shared = shared;
    this.index = index;
    [this.first, this.end] = workersOfThread(shared, index);
    this.#wait = new SpinWait(shared.spins);
  }

  /** Whether this thread speaks for the whole job. */
  get leads(): boolean {
    return this.index === 0 && (this.shared.traffic?.rank ?? 0) === 0;
  }

  /** Returns once cells[index] differs from `value`. */
  waitWhile(cells: Int32Array, index: number, value: number): void {
    if (Atomics.load(cells, index) !== value) return;
    const { traffic } = this.shared;
    const before = performance.now();
    if (traffic) beginWaiting(traffic);
    this.#wait.whileEqual(cells, index, value);
    if (traffic) endWaiting(traffic);
    this.waited += performance.now() - before;
  }

  /** Returns when every thread of this process has called it. */
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
    this.waitWhile(control, generation, before);
  }

  /**
   * `fill` writes the values of one worker; the result holds their sums (or maxima) over all
   * workers, the same bits in every thread of every process. Also a barrier. The two sides of the scratch area
   * alternate: a thread can be one reduction ahead of another, never two.
   */
  reduce(
    count: number,
    fill: (worker: number, values: Float64Array) => void,
    combine: 'sum' | 'max' = 'sum',
  ): Float64Array {
    const { scratch, workers } = this.shared;
    const base = this.#share(count, fill);
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

  /** As `reduce`, but the values themselves: those of worker q begin at q · width. */
  table(count: number, fill: (worker: number, values: Float64Array) => void): Float64Array {
    const { scratch, workers } = this.shared;
    const base = this.#share(count, fill);
    return scratch.slice(base, base + workers * width);
  }

  /** Has the values of all workers put into one side of the scratch area; where that begins. */
  #share(count: number, fill: (worker: number, values: Float64Array) => void): number {
    const { scratch, workers } = this.shared;
    const base = this.#side * workers * width;
    this.#side = 1 - this.#side;
    for (let worker = this.first; worker < this.end; worker++) {
      const at = base + worker * width;
      fill(worker, scratch.subarray(at, at + count).fill(0));
    }
    this.#meet(base, count);
    return base;
  }

  /** A barrier, after which the scratch area holds the values of all workers, wherever played. */
  #meet(base: number, count: number): void {
    const { traffic, scratch, first, end } = this.shared;
    this.barrier();
    if (!traffic) return;
    if (this.index === 0) {
      const { outbox, inbox, firsts, ranks } = traffic;
      const copy = (from: Float64Array, at: number, to: Float64Array, where: number) =>
        to.set(from.subarray(at, at + count), where);
      for (let worker = first; worker < end; worker++) {
        copy(scratch, base + worker * width, outbox, (worker - first) * width);
      }
      this.#gather(traffic);
      const share = outbox.length;
      for (let rank = 0; rank < ranks; rank++) {
        for (let worker = firsts[rank]; worker < firsts[rank + 1]; worker++) {
          const at = rank * share + (worker - firsts[rank]) * width;
          copy(inbox, at, scratch, base + worker * width);
        }
      }
    }
    this.barrier();
  }

  #gather(traffic: Traffic): void {
    const turn = askForGathering(traffic);
    for (;;) {
      const seen = Atomics.load(traffic.gatherings, answered);
      if (seen > turn) return;
      this.waitWhile(traffic.gatherings, answered, seen);
    }
  }

  /** A value that the first thread of the first process decides and every thread learns. */
  fromFirst(decide: () => number): number {
    const { traffic, scratch, workers } = this.shared;
    const side = this.#side;
    this.#side = 1 - side;
    const at = side * workers * width;
    if (this.index === 0) {
      if (this.leads) scratch[at] = decide();
      if (traffic) {
        traffic.outbox[0] = scratch[at];
        this.#gather(traffic);
        scratch[at] = traffic.inbox[0];
      }
    }
    this.barrier();
    return scratch[at];
  }

  get interrupted(): boolean {
    return Atomics.load(this.shared.interrupt, 0) !== 0;
  }
}
