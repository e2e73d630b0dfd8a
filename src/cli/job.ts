import { setTimeout as sleep } from 'node:timers/promises';
import packageDescription from '../../package.json' with { type: 'json' };
import type { Progress } from '../apps/cli/progress.ts';
import { UsageError } from '../errors.ts';
import { type Launch, launchOf } from '../mpi/launcher.ts';
import { Peers } from '../mpi/peers.ts';
import { hasToSpeak } from './complaint.ts';
import { exitCodeOfError, exitCodes } from './exit-codes.ts';
import { Losses } from './losses.ts';
import type { Terminal } from './terminal.ts';

export type Transport = 'threads' | 'mpi';

export interface JobFlags {
  /** Default: MPI where a launcher has started several processes. */
  readonly transport?: Transport;
  /** Seconds. */
  readonly peerTimeout: number;
}

/** Milliseconds that those have who are to speak first, however busy their machine is. */
const patience = 10_000;

/**
 * Milliseconds that the launcher has to pass on what it has fetched before the job ends: what it
 * has not passed on by then it throws away.
 */
const forwarding = 250;

/** The job that this process is to take part in, if it is to. */
function wantedLaunch({ transport }: JobFlags, terminal: Terminal): Launch | undefined {
  if (transport === 'threads') return undefined;
  const launch = launchOf(terminal.io.environment);
  if (launch) return launch.size > 1 ? launch : undefined;
  if (transport === 'mpi') {
    throw new UsageError(
      '--transport mpi: no MPI launcher has started this process; call it by mpirun -n 4, mpiexec or srun',
    );
  }
  const tasks = Number(terminal.io.environment.SLURM_STEP_NUM_TASKS ?? 1);
  if (tasks > 1) {
    throw new UsageError(
      `srun has started ${tasks} tasks that do not know of each other and would all write the same model: srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH) joins them, --transport threads lets each train alone`,
    );
  }
  return undefined;
}

/**
 * One command run by all processes of an MPI job. Rank 0 speaks for them; what concerns another
 * rank alone it says itself, with its name in front.
 */
export class Job {
  readonly peers: Peers;
  /** What there is to go on from when a rank has been lost, for the message. */
  salvage: () => string = () => 'nothing was kept';
  readonly #terminal: Terminal;
  readonly #losses: Losses;

  private constructor(peers: Peers, terminal: Terminal) {
    this.peers = peers;
    this.#terminal = terminal;
    this.#losses = new Losses(peers.rank);
  }

  /** Joins the job if there is one. */
  static async join(flags: JobFlags, terminal: Terminal): Promise<Job | undefined> {
    const launch = wantedLaunch(flags, terminal);
    if (!launch) return undefined;
    const { DSO_MPI_LIBRARY: library } = terminal.io.environment;
    const { version } = packageDescription;
    const { peerTimeout } = flags;
    return new Job(await Peers.join(launch, { peerTimeout, library, version }), terminal);
  }

  get leads(): boolean {
    return this.peers.rank === 0;
  }

  /** What a rank other than 0 shows: what it has to warn of, with its name in front. */
  warnings(quiet: boolean): Progress {
    const name = this.peers.nameOf(this.peers.rank);
    return {
      stage() {},
      start() {},
      epoch() {},
      notice: (message) => {
        if (!quiet) this.#terminal.say(`${name}: ${message}`);
      },
      end() {},
    };
  }

  /** Runs the command here. An error in one rank ends the whole job, with the error's exit code. */
  async run(command: () => Promise<number>): Promise<number> {
    this.peers.onLost((message, rank) => void this.#giveUp(message, rank));
    try {
      const code = await command();
      await this.peers.leave();
      return code;
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** All ranks notice that one does not answer; the first of those that do says so. */
  async #giveUp(message: string, lost: number): Promise<void> {
    const losses = this.#losses;
    const isFirst = !losses.any;
    losses.add(lost);
    if (!isFirst) return;
    if (await hasToSpeak(patience, losses.turn)) {
      this.#terminal.error(`${message}; ${this.salvage()}`);
    }
    await this.#abort(exitCodes.lost);
  }

  async #fail(error: unknown): Promise<never> {
    // Whatever waits for a lost rank fails.
    if (this.#losses.any) return new Promise(() => {});
    // Most errors are everybody's: the others are ended before they repeat what rank 0 says, unless
    // that goes on to where they are waited for. It does not while they train.
    const { peers } = this;
    if (this.leads || (await hasToSpeak(patience, peers.overtaken()))) this.#tell(error as Error);
    await this.#abort(exitCodeOfError(error));
    return new Promise(() => {});
  }

  /** Ends the whole job, once what was said has reached the user. */
  async #abort(code: number): Promise<void> {
    await this.peers.fetched();
    await sleep(forwarding);
    this.peers.abort(code);
  }

  #tell({ message, stack = '' }: Error): void {
    const { rank } = this.peers;
    this.#terminal.error(rank === 0 ? message : `${this.peers.nameOf(rank)}: ${message}`);
    if (this.#terminal.io.environment.DSO_DEBUG) this.#terminal.say(stack);
  }
}
