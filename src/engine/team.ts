import { separateArena } from './arena.ts';
import { workersOfRank } from './block-layout.ts';
import {
  type CommChannel,
  linkTo,
  openChannel,
  type ProcessLink,
  width,
} from './processes/comm-channel.ts';
import { type ProcessGroup, singleProcess } from './processes/process-group.ts';

/** Slots of `control`: threads that have reached the barrier, and barriers passed. */
const arrived = 0;
const passed = 16;
/** Slots of `phases`: tasks of the phase that are done, and phases completed. */
const done = 0;
const completed = 16;
export const tokenStride = 16;

export interface TeamOptions {
  readonly threads: number;
  readonly workers: number;
  readonly cores: number;
  readonly trace?: Int32Array | undefined;
  readonly group?: Pick<ProcessGroup, 'rank' | 'size'>;
}

/** What the threads of a team share. Made once by the main thread, posted to all. */
export type TeamShared = Readonly<ReturnType<typeof shareTeam>>;

export function shareTeam(options: TeamOptions) {
  const { threads, workers, cores, trace, group = singleProcess } = options;
  /** Completed visits of each block, one cache line apart. */
  const tokens = separateArena.int32(tokenStride * workers);
  /** How the process reaches the others of its group, if there are any. */
  const channel = group.size > 1 ? openChannel(group, workers, tokens) : undefined;
  /** The workers that this process runs: first … end-1. */
  const [first, end] = workersOfRank(group, workers);
  return {
    threads,
    /** Logical workers, p of the paper: results depend on these, never on threads or processes. */
    workers,
    first,
    end,
    channel,
    control: separateArena.int32(32),
    phases: separateArena.int32(32),
    /** The last phase whose task of this worker somebody has begun, one cache line apart. */
    claims: separateArena.int32(tokenStride * workers),
    scratch: separateArena.float64(2 * workers * width),
    tokens,
    /** For observers: the last worker to take each block; −1 where it follows from the token. */
    blockHolders: separateArena.int32(workers).fill(-1),
    /** Set by the main thread to request an end at the next epoch. */
    interrupt: separateArena.int32(1),
    /** Whether threads, the communication thread too, outnumber cores: then spinning is in vain. */
    crowded: threads + (channel ? 1 : 0) > cores,
    /** Block visits in the order they happened, for tests: [count, worker, block, …]. */
    trace,
  };
}

/** Milliseconds that a wait spins before it sleeps, and after a few that were in vain. */
const longSpin = 0.05;
const shortSpin = 0.002;
/** After `mostVain` vain spins in a row the next `shortWaits` waits are short: others may have the cores. */
const mostVain = 3;
const shortWaits = 128;
/** Milliseconds of sleep that a thread leaves others to begin their tasks before it does them. */
const patience = 0.3;

/** A thread of a process runs the workers from the first to the one before the second. */
export function workersOfThread(
  { first, end, threads }: Pick<TeamShared, 'first' | 'end' | 'threads'>,
  index: number,
): [first: number, end: number] {
  const bound = (thread: number) => first + Math.floor((thread * (end - first)) / threads);
  return [bound(index), bound(index + 1)];
}

/**
 * One thread's part in a team: which logical workers it runs, a barrier, and reductions whose
 * result does not depend on the number of threads, because the terms are added in worker order.
 */
export class Team {
  readonly shared: TeamShared;
  readonly index: number;
  /** This thread runs the workers first … end-1. */
  readonly first: number;
  readonly end: number;
  readonly link: ProcessLink;
  /** Milliseconds that this thread has waited for others. */
  waited = 0;
  #side = 0;
  #phases = 0;
  #vainSpins = 0;
  #shortWaits = 0;

  constructor(shared: TeamShared, index: number) {
    this.shared = shared;
    this.index = index;
    [this.first, this.end] = workersOfThread(shared, index);
    this.link = linkTo(shared.channel);
  }

  /** Whether this thread reports for the whole group. */
  get leads(): boolean {
    return this.index === 0 && this.link.rank === 0;
  }

  /**
   * Returns once cells[index] differs from `value`: spins for a while (a hand-off between running
   * threads takes a fraction of a microsecond), then sleeps. Whoever changes the value must notify.
   */
  waitWhile(cells: Int32Array, index: number, value: number): void {
    const isEqual = () => Atomics.load(cells, index) === value;
    while (isEqual()) this.#waitWhile(isEqual, cells, index, 1000);
  }

  /** Spins, then sleeps once, until the cell is written or the milliseconds are over. */
  #waitWhile(isWaiting: () => boolean, cells: Int32Array, index: number, most: number): void {
    const seen = Atomics.load(cells, index);
    if (!isWaiting()) return;
    const before = performance.now();
    this.link.beginWaiting();
    this.#spinWhile(isWaiting, before);
    if (isWaiting()) Atomics.wait(cells, index, seen, most);
    this.link.endWaiting();
    this.waited += performance.now() - before;
  }

  /** Spinning pays only while the other threads have cores of their own. */
  #spinWhile(isWaiting: () => boolean, start: number): void {
    const patient = !this.shared.crowded && this.#shortWaits === 0;
    const end = start + (patient ? longSpin : shortSpin);
    if (this.#shortWaits > 0) this.#shortWaits--;
    do {
      for (let look = 0; look < 20; look++) {
        if (isWaiting()) continue;
        if (patient) this.#vainSpins = 0;
        return;
      }
    } while (performance.now() < end);
    if (patient && ++this.#vainSpins === mostVain) {
      this.#vainSpins = 0;
      this.#shortWaits = shortWaits;
    }
  }

  /** Returns when every thread of this process has called it. */
  barrier(): void {
    const { control, threads } = this.shared;
    if (threads === 1) return;
    const before = Atomics.load(control, passed);
    if (Atomics.add(control, arrived, 1) === threads - 1) {
      // The count is reset before `passed` moves: no thread can arrive at the next barrier until
      // it has seen the new value.
      Atomics.store(control, arrived, 0);
      Atomics.add(control, passed, 1);
      Atomics.notify(control, passed);
      return;
    }
    this.waitWhile(control, passed, before);
  }

  /**
   * Does a task for each worker of this process: every thread those of its own, and then those that
   * threads without a core have not begun. Returns when all are done, which a late thread may find.
   * Tasks of a phase share nothing that one of them writes, and from one phase to the next threads
   * write nothing that a task reads.
   */
  phase(task: (worker: number) => void): void {
    const { threads, first, end, phases, claims } = this.shared;
    if (threads === 1) {
      for (let worker = first; worker < end; worker++) task(worker);
      return;
    }
    const mine = ++this.#phases;
    const isOpen = () => Atomics.load(phases, completed) < mine;
    const take = (worker: number) => {
      const at = worker * tokenStride;
      const last = Atomics.load(claims, at);
      if (last >= mine || Atomics.compareExchange(claims, at, last, mine) !== last) return;
      task(worker);
      if (Atomics.add(phases, done, 1) < end - first - 1) return;
      Atomics.store(phases, done, 0);
      Atomics.store(phases, completed, mine);
      Atomics.notify(phases, completed);
    };
    for (let worker = this.first; worker < this.end && isOpen(); worker++) take(worker);
    this.#waitWhile(isOpen, phases, completed, patience);
    for (let worker = first; worker < end && isOpen(); worker++) take(worker);
    while (isOpen()) this.#waitWhile(isOpen, phases, completed, 1000);
  }

  /**
   * `fill` writes the values of one worker; the result holds their sums (or maxima) over all
   * workers, the same bits in every thread of every process. Also a barrier. The two sides of the
   * scratch area alternate: a thread can be one reduction ahead of another, never two.
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

  /** A value that the first thread of the first process decides and every thread learns. */
  fromFirst(decide: () => number): number {
    const { scratch } = this.shared;
    const at = this.#nextSide();
    if (this.leads) scratch[at] = decide();
    this.#allgather(
      (buffer) => buffer.set(scratch.subarray(at, at + 1)),
      (buffer) => scratch.set(buffer.subarray(0, 1), at),
    );
    this.barrier();
    return scratch[at];
  }

  /** Where this reduction's side of the scratch area begins. */
  #nextSide(): number {
    const base = this.#side * this.shared.workers * width;
    this.#side = 1 - this.#side;
    return base;
  }

  /** Writes the values of all workers of all processes to the scratch area; returns their offset. */
  #share(count: number, fill: (worker: number, values: Float64Array) => void): number {
    const { scratch, first, end, channel } = this.shared;
    const base = this.#nextSide();
    for (let worker = this.first; worker < this.end; worker++) {
      const at = base + worker * width;
      fill(worker, scratch.subarray(at, at + count).fill(0));
    }
    this.barrier();
    if (!channel) return base;
    const copy = (from: Float64Array, at: number, to: Float64Array, where: number) =>
      to.set(from.subarray(at, at + count), where);
    this.#allgather(
      (buffer) => {
        for (let worker = first; worker < end; worker++) {
          copy(scratch, base + worker * width, buffer, (worker - first) * width);
        }
      },
      (buffer, { firsts, ranks }) => {
        const each = buffer.length / ranks;
        for (let rank = 0; rank < ranks; rank++) {
          for (let worker = firsts[rank]; worker < firsts[rank + 1]; worker++) {
            const at = rank * each + (worker - firsts[rank]) * width;
            copy(buffer, at, scratch, base + worker * width);
          }
        }
      },
    );
    this.barrier();
    return base;
  }

  /** The first thread exchanges numbers with the other processes. */
  #allgather(
    write: (buffer: Float64Array) => void,
    read: (buffer: Float64Array, channel: CommChannel) => void,
  ): void {
    if (this.index !== 0) return;
    const wait = (cells: Int32Array, index: number, value: number) =>
      this.waitWhile(cells, index, value);
    this.link.allgather({ write, read, wait });
  }

  get interrupted(): boolean {
    return Atomics.load(this.shared.interrupt, 0) !== 0;
  }
}
