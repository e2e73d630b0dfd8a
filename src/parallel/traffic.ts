/** Numbers one reduction can carry per worker. */
export const width = 16;
/** Rotations that may be announced and not yet done: a thread is never two ahead. */
const announced = 16;

/** Slots of `tally`: what the carrier has moved, and for how many milliseconds it had work. */
export const tally = { sent: 0, received: 1, milliseconds: 2, messages: 3, length: 8 } as const;

/**
 * What the threads of a process share with its carrier, the thread that moves blocks and sums
 * between the processes of a job. Threads write what they want and ring the bell; the carrier
 * answers by raising counters and the blocks' tokens.
 */
export interface Traffic {
  readonly rank: number;
  readonly ranks: number;
  /** Rank r plays the workers firsts[r] … firsts[r+1]-1. */
  readonly firsts: Int32Array;
  /** Completed visits of each block, as in the team. */
  readonly tokens: Int32Array;
  /**
   * Rung whenever there is something new for the carrier, which sleeps on it; and in cell `waiting`
   * the number of threads that wait for something.
   */
  readonly bell: Int32Array;
  /** Rotations begun so far, and the cargo of the latest ones, in turn. */
  readonly orders: Int32Array;
  /** Gatherings asked for, gatherings done. */
  readonly gatherings: Int32Array;
  /** Numbers of this process's workers for the gathering, and of all processes' after it. */
  readonly outbox: Float64Array;
  readonly inbox: Float64Array;
  readonly tally: Float64Array;
}

export type View = Float64Array | Float32Array | Int32Array | Uint8Array;

/** What travels with each block: the arrays of blocks 0 … p-1. */
export interface CargoList {
  readonly cargo: number;
  readonly views: readonly (readonly View[])[];
}

/** The workers of each rank: firsts[r] … firsts[r+1]-1. */
export function workersOfRanks(workers: number, ranks: number): Int32Array {
  return Int32Array.from({ length: ranks + 1 }, (_, rank) => Math.floor((rank * workers) / ranks));
}

const int32 = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length));
const float64 = (length: number) => new Float64Array(new SharedArrayBuffer(8 * length));

export function openTraffic(
  rank: number,
  ranks: number,
  workers: number,
  tokens: Int32Array,
): Traffic {
  const firsts = workersOfRanks(workers, ranks);
  const most = Math.ceil(workers / ranks);
  return {
    rank,
    ranks,
    firsts,
    tokens,
    bell: int32(16),
    orders: int32(1 + announced),
    gatherings: int32(32),
    outbox: float64(most * width),
    inbox: float64(ranks * most * width),
    tally: float64(tally.length),
  };
}

/** Tells the carrier that it may have something to do. */
export function ringBell({ bell }: Traffic): void {
  Atomics.add(bell, 0, 1);
  Atomics.notify(bell, 0);
}

/** Slot of `bell`. */
export const waiting = 1;

/** A thread has nothing to do: the carrier may use its core to look for messages all the time. */
export function beginWaiting(traffic: Traffic): void {
  Atomics.add(traffic.bell, waiting, 1);
  ringBell(traffic);
}

export function endWaiting({ bell }: Traffic): void {
  Atomics.sub(bell, waiting, 1);
}

/** A rotation begins; called by the first thread alone. */
export function announceRotation(traffic: Traffic, cargo: number): void {
  const begun = Atomics.load(traffic.orders, 0);
  Atomics.store(traffic.orders, 1 + (begun % announced), cargo);
  Atomics.store(traffic.orders, 0, begun + 1);
  ringBell(traffic);
}

/** The cargo of rotation `index`, or undefined while it has not begun. */
export function announcedCargo({ orders }: Traffic, index: number): number | undefined {
  return Atomics.load(orders, 0) > index
    ? Atomics.load(orders, 1 + (index % announced))
    : undefined;
}

/** Slots of `gatherings`: a cache line each. */
export const asked = 0;
export const answered = 16;

/** Asks the carrier for every rank's outbox; called by the first thread alone. */
export function askForGathering(traffic: Traffic): number {
  const turn = Atomics.add(traffic.gatherings, asked, 1);
  ringBell(traffic);
  return turn;
}

/** Whether blocks of a process that plays first … end-1 ever leave it. */
export function blocksTravel({ rank, firsts }: Traffic): boolean {
  const home = firsts[rank + 1] - firsts[rank];
  return home > 0 && home < firsts[firsts.length - 1];
}

/** The rank that plays a worker. */
export function rankOf({ firsts }: Pick<Traffic, 'firsts'>, worker: number): number {
  return firsts.findLastIndex((first, rank) => first <= worker && firsts[rank + 1] > worker);
}
