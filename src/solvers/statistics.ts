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

/** What is reported now and then to those who watch a run. */
export interface Sample {
  /** Since the run began. */
  readonly threads: readonly ThreadTimeUse[];
  /** Bytes that all processes hold. */
  readonly memory: number;
  /** The weights of the largest size, by position, largest first. */
  readonly largest: readonly LargeWeight[];
}

export const noTimeUse: TimeUse = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };

/** Numbers that are reported at each worker. */
const numbers = 16;
/** Slots of what a thread reports at its first worker; then pairs of position and weight at each. */
const slot = { elapsed: 0, waited: 1, moving: 2, sent: 3, interrupts: 4, memory: 5, pairs: 6 };

/** How one thread spends its time; all threads add it up together after every epoch. */
export class TimeAccounts {
  total: TimeUse = noTimeUse;
  readonly #team: Team;
  readonly #largest: LargestWeights | undefined;
  /** By first worker, in the thread that leads. */
  readonly #threads = new Map<number, ThreadTimeUse>();
  /** Bytes of each process, as last reported, by the first worker of its first thread. */
  readonly #memory = new Map<number, number>();
  /** The clock, and milliseconds waited, milliseconds transferred and bytes sent by then. */
  #before: readonly number[];

  /** `largest`: the weights to report with the times. */
  constructor(team: Team, since: number, largest?: LargestWeights) {
    this.#team = team;
    this.#before = [since, 0, 0, 0];
    this.#largest = largest;
  }

  /**
   * What all threads have done since the last call, and whether one of the processes was requested
   * to end. No decision about the model depends on these figures. `last`: the run is over, and a sample
   * is due whatever the clock says.
   */
  settle(last = false): { effort: TimeUse; interrupted: boolean; sample?: Sample } {
    const team = this.#team;
    const largest = this.#largest;
    const isDue = largest?.isDue(last) ?? false;
    const mine = this.#mine(isDue);
    const table = team.table(numbers, (worker, values) => {
      if (worker === team.first) values.set(mine);
      if (isDue) largest?.report(worker, values.subarray(slot.pairs));
    });
    const reports = Array.from({ length: team.shared.workers }, (_, worker) =>
      table.subarray(worker * width, worker * width + numbers),
    );
    const sums = new Float64Array(slot.memory);
    for (const reported of reports) {
      for (let k = 0; k < sums.length; k++) sums[k] += reported[k];
    }
    const effort = timeUseOf(sums);
    this.total = addTimeUse(this.total, effort);
    const found = { effort, interrupted: sums[slot.interrupts] > 0 };
    if (!team.leads || !largest) return found;
    for (const [worker, reported] of reports.entries()) {
      this.#note(worker, reported);
      largest.receive(worker, reported.subarray(slot.pairs));
    }
    return { ...found, ...(isDue && { sample: this.#sample(largest) }) };
  }

  #mine(isDue: boolean): number[] {
    const { waited, link, index, interrupted } = this.#team;
    const isFirst = index === 0;
    const [transferred, bytes] = isFirst ? [link.milliseconds, link.sent] : [0, 0];
    const now = [performance.now(), waited, transferred, bytes];
    const since = now.map((total, k) => total - this.#before[k]);
    this.#before = now;
    return [...since, interrupted ? 1 : 0, isDue && isFirst ? process.memoryUsage.rss() : 0];
  }

  /** Adds what a thread has reported, at its first worker. */
  #note(first: number, reported: Float64Array): void {
    if (reported[slot.elapsed] === 0) return;
    const before = this.#threads.get(first) ?? noTimeUse;
    this.#threads.set(first, { first, ...addTimeUse(before, timeUseOf(reported)) });
    if (reported[slot.memory] > 0) this.#memory.set(first, reported[slot.memory]);
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
    communicating: reported[slot.moving] / 1000,
    bytes: reported[slot.sent],
  };
}

export function addTimeUse(left: TimeUse, right: TimeUse): TimeUse {
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

/** Milliseconds from one sample to the next; taking them uses at most this share of the time. */
const interval = 500;
const share = 0.005;

/**
 * The weights of the largest size, now and then. A process searches the columns it is home to; the
 * blocks of other processes come as pairs of position and weight with their times. When that
 * happens depends on the clock, and nothing depends on it.
 */
export class LargestWeights {
  readonly #team: Team;
  readonly #weights: Float64Array;
  readonly #partition: Partition;
  readonly #remote = new Map<number, readonly LargeWeight[]>();
  #due = 0;
  #cost = 0;

  /** `weights`: what the model would be if training ended now. */
  constructor(team: Team, weights: Float64Array, partition: Partition) {
    this.#team = team;
    this.#weights = weights;
    this.#partition = partition;
  }

  /** Whether a sample is due; the next one is then due later. `last`: it is, whatever the clock says. */
  isDue(last: boolean): boolean {
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

  receive(block: number, values: Float64Array): void {
    if (values[0] === 0) return;
    const weights: LargeWeight[] = [];
    for (let k = 0; k + 1 < values.length && values[k] > 0; k += 2) {
      weights.push({ position: values[k] - 1, weight: values[k + 1] });
    }
    this.#remote.set(block, weights);
  }

  largest(): LargeWeight[] {
    const { first, end } = this.#partition;
    const remote = [...this.#remote.values()];
    const all = remote.flat();
    for (let block = first; block < end; block++) all.push(...this.#of(block, reported));
    // What a remote block has below the last weight it could report is not known.
    const limits = remote.flatMap((weights) => weights[reportedOfBlock - 1] ?? []);
    const least = limits.reduce((most, { weight }) => Math.max(most, Math.abs(weight)), 0);
    const bySize = (left: LargeWeight, right: LargeWeight) =>
      Math.abs(right.weight) - Math.abs(left.weight) || left.position - right.position;
    const known = all.filter(({ weight }) => Math.abs(weight) >= least);
    return known.sort(bySize).slice(0, reported);
  }

  #of(block: number, count: number): LargeWeight[] {
    const before = performance.now();
    const weights = blockOf(this.#partition, this.#weights, block);
    const from = this.#partition.columnBounds[block];
    const positions = largestOf(weights, count);
    const found = positions.map((k) => ({ position: from + k, weight: weights[k] }));
    this.#cost += performance.now() - before;
    return found;
  }
}

/** Where the numbers of the largest size are, largest first; zeros are not among them. */
export function largestOf(values: Float64Array, count: number): number[] {
  const positions: number[] = [];
  let least = 0;
  for (let k = 0; k < values.length; k++) {
    const size = Math.abs(values[k]);
    if (!(size > least)) continue;
    let at = positions.length;
    while (at > 0 && Math.abs(values[positions[at - 1]]) < size) at--;
    positions.splice(at, 0, k);
    if (positions.length > count) positions.pop();
    if (positions.length === count) least = Math.abs(values[positions[count - 1]]);
  }
  return positions;
}
