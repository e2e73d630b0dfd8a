import type { Team } from '../engine/team.ts';
import { tally, width } from '../parallel/traffic.ts';
import type { Highlight, Highlights } from './highlights.ts';

/** What threads did with their time, in seconds summed over all threads of all processes. */
export interface Effort {
  readonly computing: number;
  /** For blocks that others had not passed on yet, and for the slowest at a meeting. */
  readonly waiting: number;
  /** While blocks or sums were under way between processes, summed over processes. */
  readonly communicating: number;
  /** Sent from one process to another. */
  readonly bytes: number;
}

/** What one thread has done; the first thread of a process also tells what the process has sent. */
export interface ThreadEffort extends Effort {
  /** The first worker that it plays. */
  readonly first: number;
}

/** What is told now and then, for people who look on. */
export interface Sample {
  /** Since the run began. */
  readonly threads: readonly ThreadEffort[];
  /** Bytes that all processes hold. */
  readonly memory: number;
  /** The weights of the largest size, by place, largest first. */
  readonly largest: readonly Highlight[];
}

const nothing: Effort = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };

/** Slots of what a thread tells at its first worker; pairs of place and weight at each of them. */
const slot = { elapsed: 0, waited: 1, carried: 2, bytes: 3, interrupts: 4, memory: 5, pairs: 6 };

/** One thread's books on its time, which all threads close together after every epoch. */
export class Accounts {
  total: Effort = nothing;
  readonly #team: Team;
  readonly #highlights: Highlights | undefined;
  /** By first worker, in the thread that leads. */
  readonly #threads = new Map<number, ThreadEffort>();
  /** Bytes of each process, as last told, by the first worker of its first thread. */
  readonly #memory = new Map<number, number>();
  #since: number;
  #waited = 0;
  #carried = 0;
  #bytes = 0;

  /** `highlights`: what is to be told beside the efforts, if anybody wants to know. */
  constructor(team: Team, since: number, highlights?: Highlights) {
    this.#team = team;
    this.#since = since;
    this.#highlights = highlights;
  }

  /**
   * What has been done since the last time, by all threads; and whether somebody asked one of the
   * processes to end. Figures for people: no decision about the model hangs on them. `last`: the
   * run is over, and a sample is due whatever the clock says.
   */
  settle(last = false): { effort: Effort; interrupted: boolean; sample?: Sample } {
    const team = this.#team;
    const highlights = this.#highlights;
    const isDue = highlights?.look(last) ?? false;
    const mine = this.#mine(isDue);
    const table = team.table(width, (worker, values) => {
      if (worker === team.first) values.set(mine);
      if (isDue) highlights?.tell(worker, values.subarray(slot.pairs));
    });
    const { effort, interrupted } = this.#add(table);
    if (!team.leads || !highlights) return { effort, interrupted };
    this.#note(table);
    for (let worker = 0; worker < team.shared.workers; worker++) {
      highlights.hear(worker, table.subarray(worker * width + slot.pairs, (worker + 1) * width));
    }
    return { effort, interrupted, ...(isDue && { sample: this.#sample(highlights) }) };
  }

  #mine(isDue: boolean): number[] {
    const { waited, shared, index, interrupted } = this.#team;
    const now = performance.now();
    const carried = index === 0 ? (shared.traffic?.tally[tally.milliseconds] ?? 0) : 0;
    const bytes = index === 0 ? (shared.traffic?.tally[tally.sent] ?? 0) : 0;
    const mine = [
      now - this.#since,
      waited - this.#waited,
      carried - this.#carried,
      bytes - this.#bytes,
      interrupted ? 1 : 0,
      isDue && index === 0 ? process.memoryUsage.rss() : 0,
    ];
    this.#since = now;
    this.#waited = waited;
    this.#carried = carried;
    this.#bytes = bytes;
    return mine;
  }

  #add(table: Float64Array): { effort: Effort; interrupted: boolean } {
    const sums = new Float64Array(slot.memory);
    for (let at = 0; at < table.length; at += width) {
      for (let k = 0; k < sums.length; k++) sums[k] += table[at + k];
    }
    const effort = effortOf(sums);
    this.total = added(this.total, effort);
    return { effort, interrupted: sums[slot.interrupts] > 0 };
  }

  /** Enters what each thread has told. */
  #note(table: Float64Array): void {
    for (let first = 0; first * width < table.length; first++) {
      const told = table.subarray(first * width, (first + 1) * width);
      if (told[slot.elapsed] === 0) continue;
      const before = this.#threads.get(first) ?? { first, ...nothing };
      this.#threads.set(first, { first, ...added(before, effortOf(told)) });
      if (told[slot.memory] > 0) this.#memory.set(first, told[slot.memory]);
    }
  }

  #sample(highlights: Highlights): Sample {
    return {
      threads: [...this.#threads.values()],
      memory: [...this.#memory.values()].reduce((sum, bytes) => sum + bytes, 0),
      largest: highlights.largest(),
    };
  }
}

function effortOf(told: Float64Array): Effort {
  return {
    computing: Math.max(0, told[slot.elapsed] - told[slot.waited]) / 1000,
    waiting: told[slot.waited] / 1000,
    communicating: told[slot.carried] / 1000,
    bytes: told[slot.bytes],
  };
}

function added(left: Effort, right: Effort): Effort {
  return {
    computing: left.computing + right.computing,
    waiting: left.waiting + right.waiting,
    communicating: left.communicating + right.communicating,
    bytes: left.bytes + right.bytes,
  };
}
