import { blockOf } from '../engine/block-layout.ts';
import type { Partition } from '../engine/partition.ts';
import { width } from '../engine/processes/comm-channel.ts';
import type { Team } from '../engine/team.ts';

/** What threads did with their time, in seconds summed over all threads of all processes. */
export interface TimeUse {
  readonly computing: number;
  /** For blocks that others had not passed on yet, and for the slowest at a meeting. */
  readonly waiting: number;
  /** While blocks or sums were under way between processes, summed over processes. */
  readonly communicating: number;
  /** Sent from one process to another. */
  readonly bytes: number;
}

/** What one thread has done; the first thread of a process also reports what the process has sent. */
export interface ThreadTimeUse extends TimeUse {
  /** The first worker that it runs. */
  readonly first: number;
}

/** What is reported from time to time for those who watch a run. */
export interface Sample {
  /** Since the run began. */
  readonly threads: readonly ThreadTimeUse[];
  /** Bytes that all processes hold. */
  readonly memory: number;
  /** The weights of the largest size, by position, largest first. */
  readonly largest: readonly LargeWeight[];
}

const nothing: TimeUse = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };

/** Slots of what a thread reports at its first worker; pairs of position and weight at each of them. */
const slot = {
  elapsed: 0,
  waited: 1,
  transferred: 2,
  bytes: 3,
  interrupts: 4,
  memory: 5,
  pairs: 6,
};

/** One thread's books on its time, which all threads close together after every epoch. */
export class TimeAccounts {
  total: TimeUse = nothing;
  readonly #team: Team;
  readonly #largest: LargestWeights | undefined;
  /** By first worker, in the thread that leads. */
  readonly #threads = new Map<number, ThreadTimeUse>();
  /** Bytes of each process, as last reported, by the first worker of its first thread. */
  readonly #memory = new Map<number, number>();
  #since: number;
  #waited = 0;
  #transferred = 0;
  #bytes = 0;

  /** `largest`: the weights to report beside the times, if wanted. */
  constructor(team: Team, since: number, largest?: LargestWeights) {
    this.#team = team;
    this.#since = since;
    this.#largest = largest;
  }

  /**
   * What has been done since the last time, by all threads; and whether somebody asked one of the
   * processes to end. Figures for people: no decision about the model hangs on them. `last`: the
   * run is over, and a sample is due whatever the clock says.
   */
  settle(last = false): { effort: TimeUse; interrupted: boolean; sample?: Sample } {
    const team = this.#team;
    const largest = this.#largest;
    const isDue = largest?.look(last) ?? false;
    const mine = this.#mine(isDue);
    const table = team.table(width, (worker, values) => {
      if (worker === team.first) values.set(mine);
      if (isDue) largest?.report(worker, values.subarray(slot.pairs));
    });
    const { effort, interrupted } = this.#add(table);
    if (!team.leads || !largest) return { effort, interrupted };
    this.#note(table);
    for (let worker = 0; worker < team.shared.workers; worker++) {
      largest.hear(worker, table.subarray(worker * width + slot.pairs, (worker + 1) * width));
    }
    return { effort, interrupted, ...(isDue && { sample: this.#sample(largest) }) };
  }

  #mine(isDue: boolean): number[] {
    const { waited, link, index, interrupted } = this.#team;
    const now = performance.now();
    const transferred = index === 0 ? link.milliseconds : 0;
    const bytes = index === 0 ? link.sent : 0;
    const mine = [
      now - this.#since,
      waited - this.#waited,
      transferred - this.#transferred,
      bytes - this.#bytes,
      interrupted ? 1 : 0,
      isDue && index === 0 ? process.memoryUsage.rss() : 0,
    ];
    this.#since = now;
    this.#waited = waited;
    this.#transferred = transferred;
    this.#bytes = bytes;
    return mine;
  }

  #add(table: Float64Array): { effort: TimeUse; interrupted: boolean } {
    const sums = new Float64Array(slot.memory);
    for (let at = 0; at < table.length; at += width) {
      for (let k = 0; k < sums.length; k++) sums[k] += table[at + k];
    }
    const effort = timeUseOf(sums);
    this.total = added(this.total, effort);
    return { effort, interrupted: sums[slot.interrupts] > 0 };
  }

  /** Adds what each thread has reported. */
  #note(table: Float64Array): void {
    for (let first = 0; first * width < table.length; first++) {
      const reported = table.subarray(first * width, (first + 1) * width);
      if (reported[slot.elapsed] === 0) continue;
      const before = this.#threads.get(first) ?? { first, ...nothing };
      this.#threads.set(first, { first, ...added(before, timeUseOf(reported)) });
      if (reported[slot.memory] > 0) this.#memory.set(first, reported[slot.memory]);
    }
  }

  #sample(largest: LargestWeights): Sample {
    return {
      threads: [...this.#threads.values()],
      memory: [...this.#memory.values()].reduce((sum, bytes) => sum + bytes, 0),
      largest: largest.largest(),
    };
  }
}

function timeUseOf(reported: Float64Array): TimeUse {
  return {
    computing: Math.max(0, reported[slot.elapsed] - reported[slot.waited]) / 1000,
    waiting: reported[slot.waited] / 1000,
    communicating: reported[slot.transferred] / 1000,
    bytes: reported[slot.bytes],
  };
}

function added(left: TimeUse, right: TimeUse): TimeUse {
  return {
    computing: left.computing + right.computing,
    waiting: left.waiting + right.waiting,
    communicating: left.communicating + right.communicating,
    bytes: left.bytes + right.bytes,
  };
}

/** A weight by the position of its column. */
export interface LargeWeight {
  readonly position: number;
  readonly weight: number;
}

/** Weights that are reported, and how many of a block another process can report. */
const reported = 20;
const reportedOfBlock = 5;

/** Milliseconds from one sample to the next; looking takes no more than this part of the time. */
const interval = 500;
const share = 0.005;

/**
 * The weights of the largest size, now and then. A process looks at the columns it is home to; the
 * blocks of other processes come as pairs of position and weight beside their efforts. When that
 * happens hangs on the clock, and nothing hangs on it.
 */
export class LargestWeights {
  readonly #team: Team;
  readonly #weights: Float64Array;
  readonly #partition: Partition;
  readonly #elsewhere = new Map<number, readonly LargeWeight[]>();
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
  report(block: number, values: Float64Array): void {
    if (this.#team.link.rank === 0) return;
    for (const [k, { position, weight }] of this.#of(block, reportedOfBlock).entries()) {
      values[2 * k] = 1 + position;
      values[2 * k + 1] = weight;
    }
  }

  hear(block: number, values: Float64Array): void {
    if (values[0] === 0) return;
    const heard: LargeWeight[] = [];
    for (let k = 0; k + 1 < values.length && values[k] > 0; k += 2) {
      heard.push({ position: values[k] - 1, weight: values[k + 1] });
    }
    this.#elsewhere.set(block, heard);
  }

  largest(): LargeWeight[] {
    const { first, end } = this.#partition;
    const heard = [...this.#elsewhere.values()];
    const all = heard.flat();
    for (let block = first; block < end; block++) all.push(...this.#of(block, reported));
    // What a block has below the last that it could report of is not known.
    const limits = heard
      .filter((block) => block.length === reportedOfBlock)
      .map((block) => block.at(-1)!);
    const least = limits.reduce((most, { weight }) => Math.max(most, Math.abs(weight)), 0);
    return all
      .filter(({ weight }) => Math.abs(weight) >= least)
      .sort(
        (left, right) =>
          Math.abs(right.weight) - Math.abs(left.weight) || left.position - right.position,
      )
      .slice(0, reported);
  }

  #of(block: number, count: number): LargeWeight[] {
    const before = performance.now();
    const weights = blockOf(this.#partition, this.#weights, block);
    const from = this.#partition.columnBounds[block];
    const found = largestOf(weights, count).map((k) => ({
      position: from + k,
      weight: weights[k],
    }));
    this.#cost += performance.now() - before;
    return found;
  }
}

/** Where the numbers of the largest size are, largest first; zeros are not among them. */
export function largestOf(numbers: Float64Array, count: number): number[] {
  const positions: number[] = [];
  let least = 0;
  for (let k = 0; k < numbers.length; k++) {
    const size = Math.abs(numbers[k]);
    if (!(size > least)) continue;
    let at = positions.length;
    while (at > 0 && Math.abs(numbers[positions[at - 1]]) < size) at--;
    positions.splice(at, 0, k);
    if (positions.length > count) positions.pop();
    if (positions.length === count) least = Math.abs(numbers[positions[count - 1]]);
  }
  return positions;
}
