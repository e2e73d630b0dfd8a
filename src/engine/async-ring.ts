import type { Arena } from './arena.ts';
import type { BlockFields, Rotation } from './ring.ts';
import { type Team, workersOfThread } from './team.ts';

/** Integers between two counters that different threads write: a cache line. */
const stride = 16;

export type AsyncRingMemory = Readonly<ReturnType<typeof allocateAsyncRing>>;

export function allocateAsyncRing(arena: Pick<Arena, 'int32' | 'uint8'>, size: number) {
  return {
    /** For each worker the blocks it is handed in this rotation, plus 1, in the order they come. */
    queues: arena.int32(size * size),
    /** Blocks handed to a worker, and blocks it has taken. */
    handed: arena.int32(stride * size),
    taken: arena.int32(stride * size),
    /** visited[block · p + worker] */
    visited: arena.uint8(size * size),
    /** Raised for a thread whenever one of its workers is handed a block. */
    wakeFlags: arena.int32(stride * size),
    /** Visits begun in this rotation, and which: worker · p + block. */
    begun: arena.int32(stride),
    order: arena.int32(size * size),
  };
}

/**
 * A rotation without a fixed order, along the lines of NOMAD: blocks are tokens in the workers'
 * queues, a worker takes the next block of its queue, and hands it on to the worker with the
 * shortest queue among those that the block has not met. No worker waits while it has a block. In a
 * rotation every block meets every worker once, so a queue of length p never overflows.
 *
 * The order of visits depends on timing and is recorded as visits begin. A worker's visits follow
 * one another, and so do a block's, each having ended before the next is counted: hence the record
 * is a serial order with the same result, to the last bit.
 */
export class AsyncRing implements Rotation {
  readonly #team: Team;
  readonly #memory: AsyncRingMemory;
  readonly #size: number;
  readonly #threadOf: Int32Array;

  constructor(team: Team, memory: AsyncRingMemory) {
    const { workers, threads } = team.shared;
    this.#team = team;
    this.#memory = memory;
    this.#size = workers;
    this.#threadOf = new Int32Array(workers);
    for (let thread = 0; thread < threads; thread++) {
      this.#threadOf.fill(thread, ...workersOfThread(team.shared, thread));
    }
  }

  /** The cells of the last rotation in the order in which their visits began. */
  get order(): Int32Array {
    return this.#memory.order;
  }

  rotate(_fields: BlockFields, visit: (worker: number, block: number) => void): void {
    const { wakeFlags, begun, order } = this.#memory;
    const { first, end, index } = this.#team;
    const { blockHolders } = this.#team.shared;
    this.#reset();
    for (let left = (end - first) * this.#size; left > 0; ) {
      const flag = Atomics.load(wakeFlags, index * stride);
      let done = 0;
      for (let worker = first; worker < end; worker++) {
        const block = this.#take(worker);
        if (block < 0) continue;
        order[Atomics.add(begun, 0, 1)] = worker * this.#size + block;
        blockHolders[block] = worker;
        visit(worker, block);
        this.#pass(worker, block);
        done++;
      }
      left -= done;
      if (done === 0) this.#team.waitWhile(wakeFlags, index * stride, flag);
    }
    blockHolders.fill(-1, first, end);
  }

  /** Empty queues, no visit made; then worker q is handed block q, as Algorithm 1 begins. */
  #reset(): void {
    const { queues, handed, taken, visited, begun } = this.#memory;
    const size = this.#size;
    const { first, end, index } = this.#team;
    queues.fill(0, first * size, end * size);
    visited.fill(0, first * size, end * size);
    if (index === 0) begun[0] = 0;
    for (let worker = first; worker < end; worker++) {
      taken[worker * stride] = 0;
      handed[worker * stride] = 1;
      queues[worker * size] = worker + 1;
    }
    this.#team.barrier();
  }

  /** The next block in a worker's queue, −1 when there is none. */
  #take(worker: number): number {
    const { queues, taken } = this.#memory;
    const turn = taken[worker * stride];
    if (turn === this.#size) return -1;
    const block = Atomics.load(queues, worker * this.#size + turn) - 1;
    if (block >= 0) Atomics.store(taken, worker * stride, turn + 1);
    return block;
  }

  /** Hands the block to the idlest worker that it has not met; ties go round the ring. */
  #pass(worker: number, block: number): void {
    const { queues, handed, visited, wakeFlags } = this.#memory;
    const size = this.#size;
    visited[block * size + worker] = 1;
    const next = this.#idlest(worker, block);
    if (next < 0) return;
    const turn = Atomics.add(handed, next * stride, 1);
    Atomics.store(queues, next * size + turn, block + 1);
    const at = this.#threadOf[next] * stride;
    Atomics.add(wakeFlags, at, 1);
    Atomics.notify(wakeFlags, at);
  }

  #idlest(worker: number, block: number): number {
    const { handed, taken, visited } = this.#memory;
    const size = this.#size;
    let next = -1;
    let shortest = Infinity;
    for (let step = size - 1; step > 0; step--) {
      const other = (worker + step) % size;
      if (visited[block * size + other] !== 0) continue;
      const at = other * stride;
      const waiting = Atomics.load(handed, at) - Atomics.load(taken, at);
      if (waiting < shortest) {
        shortest = waiting;
        next = other;
      }
    }
    return next;
  }
}

/** A recorded order, rotation by rotation, for a team of one thread. */
export class Replay implements Rotation {
  readonly #orders: Int32Array;
  readonly #size: number;
  #at = 0;

  /** `orders` holds p · p cells for every rotation. */
  constructor(orders: Int32Array, size: number) {
    this.#orders = orders;
    this.#size = size;
    const cells = size * size;
    const visits = new Int32Array(cells);
    // A record of another grid would silently leave cells out.
    for (const [at, cell] of orders.entries()) {
      if (visits[cell] === Math.floor(at / cells)) visits[cell]++;
      else {
        throw new Error(
          `the record of block visits has cell ${cell} at position ${at}; each rotation visits every cell of this grid, 0 to ${cells - 1}, once: the record may be that of another grid`,
        );
      }
    }
  }

  get order(): Int32Array {
    return this.#orders.subarray(this.#at - this.#size ** 2, this.#at);
  }

  rotate(_fields: BlockFields, visit: (worker: number, block: number) => void): void {
    const end = this.#at + this.#size ** 2;
    if (end > this.#orders.length) {
      throw new Error(`the record ends after ${this.#orders.length / this.#size ** 2} rotations`);
    }
    for (; this.#at < end; this.#at++) {
      const cell = this.#orders[this.#at];
      visit(Math.floor(cell / this.#size), cell % this.#size);
    }
  }
}
