import { type TeamShared, tokenStride, workersOfThread } from './team.ts';

/** Which worker holds which block at this moment. */
export interface BlockPositions {
  /** holders[block] is the worker that works on it, or was the last to. */
  readonly holders: readonly number[];
  /** Blocks that are with another process: their holders are those that the ring provides for. */
  readonly elsewhere: readonly number[];
}

/** Looks at a team from outside, while it works. Takes no lock: a block may just be moving on. */
export function blockPositions(shared: TeamShared): BlockPositions {
  const { workers, blockHolders: holders, tokens, first, end } = shared;
  const visits = Array.from({ length: workers }, (_, b) => Atomics.load(tokens, b * tokenStride));
  const isLocal = (worker: number) => worker >= first && worker < end;
  const next = visits.map((made, block) => workerAfter(block, made, workers));
  const isHere = next.map((worker, block) => holders[block] >= 0 || isLocal(worker));
  // Blocks that are elsewhere have been visited about as often as those that are here.
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
