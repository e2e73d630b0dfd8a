import type { MessagePort } from 'node:worker_threads';
import { post } from './messages.ts';
import type { FieldViews, View } from './processes/comm-channel.ts';
import { type Team, type TeamShared, tokenStride, workersOfThread } from './team.ts';

/**
 * The block that worker q owns in inner iteration r: σ_r(q) = ((q + r − 2) mod p) + 1 of the
 * paper, with workers, blocks and iterations counted from 0.
 */
export function blockAt(worker: number, iteration: number, size: number): number {
  return (worker + iteration) % size;
}

/** What is sent of a block when it leaves the process; see Ring.fields. */
export interface BlockFields {
  readonly id: number;
}

type ViewsOf = (block: number) => readonly View[];

type Visit = (worker: number, block: number, iteration: number) => void;

/** A way for every worker to meet every block once, no two workers holding the same one. */
export interface Rotation {
  rotate(fields: BlockFields, visit: (worker: number, block: number) => void): void;
}

/**
 * Blocks move round a ring of workers: in p inner iterations every worker meets every block, and
 * two workers never hold the same one. A block passes from worker q+1 to worker q as soon as q+1
 * is done with it; there is no barrier. Within a process only the right to touch the block moves;
 * from one process to the next its fields do, sent while other blocks are being worked on.
 *
 * Because each block meets the workers in a fixed order and a visit touches nothing but the
 * visitor's rows and the block, the result is the one of the serial order of Lemma 1, whatever
 * the number of threads and processes.
 */
export class Ring implements Rotation {
  readonly #team: Team;
  readonly #commPort: MessagePort | undefined;
  #visits = 0;
  #fieldSets = 0;

  /** `commPort`: where the first thread of a process among others says what is sent of blocks. */
  constructor(team: Team, commPort?: MessagePort) {
    this.#team = team;
    this.#commPort = commPort;
  }

  /**
   * Names what is sent of a block, and what of it on the way home, where nobody has to learn what no
   * visit changes. Every thread names the same fields in the same order.
   */
  fields(viewsOf: ViewsOf, homeViewsOf: ViewsOf = viewsOf): BlockFields {
    const id = this.#fieldSets++;
    const all = (of: ViewsOf) => Array.from({ length: this.#team.shared.workers }, (_, k) => of(k));
    const sent = () => ({ fields: id, views: all(viewsOf), homeViews: all(homeViewsOf) });
    if (this.#commPort) post(this.#commPort, sent() satisfies FieldViews);
    return { id };
  }

  /** Of a block that is only read: it does not go home. */
  readFields(viewsOf: ViewsOf): BlockFields {
    return this.fields(viewsOf, () => []);
  }

  rotate(fields: BlockFields, visit: Visit): void {
    const { first, end, shared, index, link } = this.#team;
    const { workers, tokens, trace } = shared;
    const { exchangesBlocks } = link;
    if (exchangesBlocks && index === 0) link.announceRotation(fields.id);
    for (let iteration = 0; iteration < workers; iteration++) {
      for (let worker = first; worker < end; worker++) {
        const block = blockAt(worker, iteration, workers);
        const at = block * tokenStride;
        this.#receive(tokens, at, this.#visits + iteration);
        if (trace) {
          const n = Atomics.add(trace, 0, 1);
          trace[1 + 2 * n] = worker;
          trace[2 + 2 * n] = block;
        }
        visit(worker, block, iteration);
        Atomics.store(tokens, at, this.#visits + iteration + 1);
        if (shared.threads > 1) Atomics.notify(tokens, at);
        if (exchangesBlocks && worker === shared.first) link.wake();
      }
    }
    this.#visits += workers;
    // The last block to come home is the only one that no worker of this process has waited for.
    if (exchangesBlocks && end === shared.end) {
      this.#receive(tokens, (shared.end - 1) * tokenStride, this.#visits);
    }
  }

  /** Waits until the block has completed `turn` visits. It cannot have completed more. */
  #receive(tokens: Int32Array, at: number, turn: number): void {
    for (;;) {
      const seen = Atomics.load(tokens, at);
      if (seen === turn) return;
      this.#team.waitWhile(tokens, at, seen);
    }
  }
}

/** Which worker holds which block at this moment. */
export interface BlockPositions {
  /** holders[block] is the worker that works on it, or was the last to. */
  readonly holders: readonly number[];
  /** Blocks of which another process has the current copy: their holders follow from the schedule. */
  readonly elsewhere: readonly number[];
}

/** Looks at a team from outside, while it works. Takes no lock: a block may just be moving on. */
export function blockPositions(shared: TeamShared): BlockPositions {
  const { workers, blockHolders: holders, tokens, first, end } = shared;
  const visits = Array.from({ length: workers }, (_, b) => Atomics.load(tokens, b * tokenStride));
  const isLocal = (worker: number) => worker >= first && worker < end;
  const next = visits.map((made, block) => workerAfter(block, made, workers));
  const isHere = next.map((worker, block) => holders[block] >= 0 || isLocal(worker));
  // Blocks in other processes have been visited about as often as those that are here.
  const newest = Math.max(0, ...visits.filter((_, block) => isHere[block]));
  const iterations = iterationsOf(shared, visits);
  const holderOf = (block: number) => {
    if (holders[block] >= 0) return holders[block];
    const [worker, before] = [next[block], (next[block] + 1) % workers];
    if (isHere[block]) {
      // What a worker has passed on counts as its own until the other one's thread gets to it.
      const isTaken = iterations[worker] >= visits[block] || !isLocal(before);
      return isTaken ? worker : before;
    }
    const expected = workerAfter(block, Math.max(newest, visits[block]), workers);
    return isLocal(expected) ? worker : expected;
  };
  return {
    holders: next.map((_, block) => holderOf(block)),
    elsewhere: next.flatMap((_, block) => (isHere[block] ? [] : [block])),
  };
}

/** Round the ring block b meets worker b − t after t visits. */
function workerAfter(block: number, made: number, workers: number): number {
  return (block + workers * Math.ceil(made / workers) - made) % workers;
}

/** The inner iteration, counted from the beginning, that the thread of each worker is in. */
function iterationsOf(shared: TeamShared, visits: readonly number[]): number[] {
  const iterations: number[] = [];
  for (let thread = 0; thread < shared.threads; thread++) {
    const [first, end] = workersOfThread(shared, thread);
    const turns = Array.from({ length: end - first }, (_, k) => turnOf(first + k, visits));
    for (let worker = first; worker < end; worker++) iterations[worker] = Math.min(...turns);
  }
  return iterations;
}

/** How many visits a worker has made: its visit n is the n-th of block q + n as well. */
function turnOf(worker: number, visits: readonly number[]): number {
  const least = Math.min(...visits);
  for (let turn = least; turn < least + visits.length; turn++) {
    if (visits[(worker + turn) % visits.length] <= turn) return turn;
  }
  return least + visits.length;
}
