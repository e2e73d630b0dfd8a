/** A worker thread for the tests of the pool, the team and the ring. */
import { threadId } from 'node:worker_threads';
import { AsyncRing, type AsyncRingMemory } from '../../../../src/engine/async-ring.ts';
import { Ring } from '../../../../src/engine/ring.ts';
import { Team, type TeamShared } from '../../../../src/engine/team.ts';
import { answerRequests } from '../../../../src/engine/thread.ts';
import { touch } from './touch.ts';

export interface ReducePayload {
  readonly shared: TeamShared;
  readonly index: number;
  /** terms[round][worker] */
  readonly terms: readonly (readonly number[])[];
}

export interface BarrierPayload {
  readonly shared: TeamShared;
  readonly index: number;
  readonly rounds: number;
  readonly counter: Int32Array;
}

export interface PhasePayload {
  readonly shared: TeamShared;
  readonly index: number;
  readonly rounds: number;
  /** A sum for each worker, in which the order of phases matters. */
  readonly sums: Float64Array;
  /** The thread that is away before every 50th phase. */
  readonly away: number;
}

export interface RotatePayload {
  readonly shared: TeamShared;
  readonly index: number;
  readonly rotations: number;
  /** Who holds each block: 0 for none, else worker + 1. */
  readonly holders: Int32Array;
  /** By worker and block, how many visits the block had completed before this one. */
  readonly turns: Int32Array;
  readonly visits: Int32Array;
}

export interface AsyncPayload {
  readonly shared: TeamShared;
  readonly index: number;
  readonly rotations: number;
  readonly memory: AsyncRingMemory;
  /** Who holds each block, and who each worker is busy with: 0 for none. */
  readonly holders: Int32Array;
  readonly busy: Int32Array;
  /** A sum for each worker and for each block in which the order of visits matters. */
  readonly rows: Float64Array;
  readonly columns: Float64Array;
}

function reduce({ shared, index, terms }: ReducePayload) {
  const team = new Team(shared, index);
  const sums: number[] = [];
  const maxima: number[] = [];
  const received: number[] = [];
  terms.forEach((row, round) => {
    const [sum, negated] = team.reduce(2, (worker, values) => {
      values[0] = row[worker];
      values[1] -= row[worker];
    });
    sums.push(sum, negated);
    const [largest] = team.reduce(1, (worker, values) => values.fill(row[worker]), 'max');
    maxima.push(largest);
    received.push(team.fromFirst(() => 1000 * (index + 1) + round));
  });
  return { sums, maxima, received, first: team.first, end: team.end };
}

/** Every task reads what all tasks of the phase before wrote. Returns how many this thread has run. */
function phase({ shared, index, rounds, sums, away }: PhasePayload): number {
  const team = new Team(shared, index);
  const { workers } = shared;
  let ran = 0;
  for (let round = 0; round < rounds; round++) {
    if (index === away && round % 50 === 0) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
    const [from, to] = [(round % 2) * workers, ((round + 1) % 2) * workers];
    team.phase((worker) => {
      ran++;
      let sum = worker;
      for (let k = 0; k < workers; k++) sum = 0.7 * sum + sums[from + k];
      sums[to + worker] = sum - Math.floor(sum);
    });
  }
  return ran;
}

/** Counts itself in every round; after a barrier everybody must have been counted. */
function barrier({ shared, index, rounds, counter }: BarrierPayload): number[] {
  const team = new Team(shared, index);
  const seen: number[] = [];
  for (let round = 0; round < rounds; round++) {
    Atomics.add(counter, 0, 1);
    team.barrier();
    seen.push(Atomics.load(counter, 0));
    team.barrier();
  }
  return seen;
}

/** Returns what went wrong, and (from the first thread) the orders of all rotations. */
function asyncRing(payload: AsyncPayload): { wrong: string[]; orders: number[][] } {
  const { shared, index, rotations, memory, holders, busy, rows, columns } = payload;
  const team = new Team(shared, index);
  const rotation = new AsyncRing(team, memory);
  const nothing = new Ring(team).fields(() => []);
  const wrong: string[] = [];
  const orders: number[][] = [];
  for (let round = 0; round < rotations; round++) {
    rotation.rotate(nothing, (worker, block) => {
      const holder = Atomics.compareExchange(holders, block, 0, worker + 1);
      if (holder !== 0) wrong.push(`block ${block}: ${worker} met ${holder - 1}`);
      if (Atomics.exchange(busy, worker, 1) !== 0)
        wrong.push(`worker ${worker} makes two visits at once`);
      touch(worker, block, rows, columns);
      Atomics.store(busy, worker, 0);
      Atomics.store(holders, block, 0);
    });
    team.barrier();
    if (index === 0) orders.push([...rotation.order]);
    team.barrier();
  }
  return { wrong, orders };
}

/** Returns what went wrong: two holders of a block at once. */
function rotate(payload: RotatePayload): string[] {
  const { shared, index, rotations, holders, turns, visits } = payload;
  const ring = new Ring(new Team(shared, index));
  const nothing = ring.fields(() => []);
  const wrong: string[] = [];
  for (let rotation = 0; rotation < rotations; rotation++) {
    ring.rotate(nothing, (worker, block, iteration) => {
      const holder = Atomics.compareExchange(holders, block, 0, worker + 1);
      if (holder !== 0) wrong.push(`block ${block}: ${worker} met ${holder - 1}`);
      // Written without atomics: the hand-off alone must make it visible to the next worker.
      const turn = visits[block];
      if (turn !== rotation * shared.workers + iteration) wrong.push(`turn ${turn}`);
      if (rotation === 0) turns[worker * shared.workers + block] = turn;
      visits[block] = turn + 1;
      Atomics.store(holders, block, 0);
    });
  }
  return wrong;
}

answerRequests({
  phase,
  reduce,
  barrier,
  rotate,
  asyncRing,
  threadId: () => threadId,
  double: (value: number) => 2 * value,
  fail: (message: string) => {
    throw new RangeError(message);
  },
  exit: (code: number) => process.exit(code),
  count: (upTo: number, emit) => {
    for (let k = 1; k <= upTo; k++) emit(k);
    return 'counted';
  },
  byteLength: (buffer: ArrayBuffer) => buffer.byteLength,
  /** Never ends of itself. */
  tick: (cells: Int32Array) => {
    for (;;) Atomics.add(cells, 0, 1);
  },
  wait: (cells: Int32Array) => Atomics.wait(cells, 0, 0),
});
