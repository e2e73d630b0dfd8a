import type { Team } from '../parallel/team.ts';
import { tally } from '../parallel/traffic.ts';

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

const nothing: Effort = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };

/** One thread's books on its time, which all threads close together after every epoch. */
export class Accounts {
  total: Effort = nothing;
  readonly #team: Team;
  #since: number;
  #waited = 0;
  #carried = 0;
  #bytes = 0;

  constructor(team: Team, since: number) {
    this.#team = team;
    this.#since = since;
  }

  /**
   * What has been done since the last time, by all threads; and whether somebody asked one of the
   * processes to end. Figures for people: no decision about the model hangs on them.
   */
  settle(): { effort: Effort; interrupted: boolean } {
    const team = this.#team;
    const mine = this.#mine();
    const [elapsed, waiting, communicating, bytes, interrupts] = team.reduce(
      5,
      (worker, values) => {
        if (worker === team.first) values.set(mine);
      },
    );
    const effort = {
      computing: Math.max(0, elapsed - waiting) / 1000,
      waiting: waiting / 1000,
      communicating: communicating / 1000,
      bytes,
    };
    this.total = {
      computing: this.total.computing + effort.computing,
      waiting: this.total.waiting + effort.waiting,
      communicating: this.total.communicating + effort.communicating,
      bytes: this.total.bytes + effort.bytes,
    };
    return { effort, interrupted: interrupts > 0 };
  }

  #mine(): number[] {
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
    ];
    this.#since = now;
    this.#waited = waited;
    this.#carried = carried;
    this.#bytes = bytes;
    return mine;
  }
}
