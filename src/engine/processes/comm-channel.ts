import { separateArena } from '../arena.ts';
import { workersOfRanks } from '../block-layout.ts';

/** Numbers per worker in one reduction, at most: between processes a message costs more than they do. */
export const width = 64;
/** Rotations that may be announced and not yet done: a thread is never two ahead. */
const announced = 16;

/** Slots of `transferCounters`: bytes sent and received, and milliseconds with something under way. */
export const transferCounter = { sent: 0, received: 1, milliseconds: 2, length: 8 } as const;

/** Slot of `wakeFlag`: the number of threads that wait. */
export const waiting = 1;
/** Slots of `allgathers`: a cache line each. */
export const requested = 0;
export const answered = 16;

export type View = Float64Array | Float32Array | Int32Array | Uint8Array;

/** What is sent of each block, and of it to the process where it is at home: arrays of blocks 0 … p-1. */
export interface FieldViews {
  readonly fields: number;
  readonly views: readonly (readonly View[])[];
  readonly homeViews: readonly (readonly View[])[];
}

/**
 * What the threads of a process share with its communication thread. Threads write requests and
 * wake it; it moves blocks and sums, and answers by raising counters and the tokens of blocks.
 */
export type CommChannel = Readonly<ReturnType<typeof openChannel>>;

/** `tokens`: completed visits of each block, as in the team. */
export function openChannel(
  { rank, size: ranks }: { readonly rank: number; readonly size: number },
  workers: number,
  tokens: Int32Array,
) {
  const most = Math.ceil(workers / ranks);
  return {
    rank,
    ranks,
    /** Rank r runs the workers firsts[r] … firsts[r+1]-1. */
    firsts: workersOfRanks(workers, ranks),
    tokens,
    /** Raised whenever there is work for the communication thread, which sleeps on it; see `waiting`. */
    wakeFlag: separateArena.int32(16),
    /** Rotations begun so far, then the fields of the latest ones in turn. */
    rotationLog: separateArena.int32(1 + announced),
    allgathers: separateArena.int32(32),
    /** Numbers of this process's workers, and after an allgather those of all processes. */
    sendBuffer: separateArena.float64(most * width),
    receiveBuffer: separateArena.float64(ranks * most * width),
    transferCounters: separateArena.float64(transferCounter.length),
  };
}

export function wake({ wakeFlag }: CommChannel): void {
  Atomics.add(wakeFlag, 0, 1);
  Atomics.notify(wakeFlag, 0);
}

/** The fields of rotation `index`, or undefined while it has not begun. */
export function announcedFields({ rotationLog }: CommChannel, index: number): number | undefined {
  return Atomics.load(rotationLog, 0) > index
    ? Atomics.load(rotationLog, 1 + (index % announced))
    : undefined;
}

/** Whether blocks ever leave this process. */
export function exchangesBlocks({ rank, firsts }: CommChannel): boolean {
  const home = firsts[rank + 1] - firsts[rank];
  return home > 0 && home < firsts[firsts.length - 1];
}

export function rankOf({ firsts }: Pick<CommChannel, 'firsts'>, worker: number): number {
  return firsts.findLastIndex((first, rank) => first <= worker && firsts[rank + 1] > worker);
}

/** A thread's side of the channel. Without other processes there is nothing to do: `noLink`. */
export interface ProcessLink {
  readonly rank: number;
  readonly exchangesBlocks: boolean;
  /** Bytes sent, and milliseconds with something under way, since the run began. */
  readonly sent: number;
  readonly milliseconds: number;
  /** A thread has nothing to do: the communication thread may poll on its core. */
  beginWaiting(): void;
  endWaiting(): void;
  /** A rotation begins; called by the first thread. */
  announceRotation(fields: number): void;
  wake(): void;
  /**
   * Exchanges the numbers of all processes; called by the first thread. `write` fills the send
   * buffer, `wait` returns when a cell has changed, `read` takes the numbers of all ranks.
   */
  allgather(exchange: Allgather): void;
}

interface Allgather {
  write(buffer: Float64Array): void;
  read(buffer: Float64Array, channel: CommChannel): void;
  wait(cells: Int32Array, index: number, value: number): void;
}

const noLink: ProcessLink = {
  rank: 0,
  exchangesBlocks: false,
  sent: 0,
  milliseconds: 0,
  beginWaiting() {},
  endWaiting() {},
  announceRotation() {},
  wake() {},
  allgather() {},
};

class ChannelLink implements ProcessLink {
  readonly rank: number;
  readonly exchangesBlocks: boolean;
  readonly #channel: CommChannel;

  constructor(channel: CommChannel) {
    this.#channel = channel;
    this.rank = channel.rank;
    this.exchangesBlocks = exchangesBlocks(channel);
  }

  get sent(): number {
    return this.#channel.transferCounters[transferCounter.sent];
  }

  get milliseconds(): number {
    return this.#channel.transferCounters[transferCounter.milliseconds];
  }

  beginWaiting(): void {
    Atomics.add(this.#channel.wakeFlag, waiting, 1);
    wake(this.#channel);
  }

  endWaiting(): void {
    Atomics.sub(this.#channel.wakeFlag, waiting, 1);
  }

  announceRotation(fields: number): void {
    const { rotationLog } = this.#channel;
    const begun = Atomics.load(rotationLog, 0);
    Atomics.store(rotationLog, 1 + (begun % announced), fields);
    Atomics.store(rotationLog, 0, begun + 1);
    wake(this.#channel);
  }

  wake(): void {
    wake(this.#channel);
  }

  allgather({ write, read, wait }: Allgather): void {
    const { allgathers, sendBuffer, receiveBuffer } = this.#channel;
    write(sendBuffer);
    const turn = Atomics.add(allgathers, requested, 1);
    wake(this.#channel);
    for (;;) {
      const done = Atomics.load(allgathers, answered);
      if (done > turn) break;
      wait(allgathers, answered, done);
    }
    read(receiveBuffer, this.#channel);
  }
}

export function linkTo(channel: CommChannel | undefined): ProcessLink {
  return channel ? new ChannelLink(channel) : noLink;
}
