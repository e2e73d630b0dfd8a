import { setTimeout as sleep } from 'node:timers/promises';
import packageDescription from '../../../package.json' with { type: 'json' };
import type { Settings } from '../../engine/processes/agreement.ts';
import type { JoinOptions } from '../../engine/processes/communicator.ts';
import { type Launch, launchOf } from '../../engine/processes/launch.ts';
import { MpiGroup } from '../../engine/processes/mpi-group.ts';
import { type ProcessGroup, singleProcess } from '../../engine/processes/process-group.ts';
import { RefusedJob, UsageError } from '../../errors.ts';
import { type OptionTable, optionsOfRanks } from '../../train/options/option.ts';
import { processOptions } from '../../train/options/run.ts';
import type { TrainFlags } from './options.ts';
import { exitCodeOfError, exitCodes, mayReport, type Terminal } from './terminal.ts';

/** The ranks of a job that no longer answer, and whether it is this one that reports them. */
export class LostRanks {
  readonly #rank: number;
  readonly #lost = new Set<number>();
  readonly #turn = Promise.withResolvers<void>();
  /** Resolves when all ranks before this one are lost: no other one reports first. */
  readonly turn = this.#turn.promise;

  constructor(rank: number) {
    this.#rank = rank;
  }

  get any(): boolean {
    return this.#lost.size > 0;
  }

  add(lost: number): void {
    this.#lost.add(lost);
    const before = Array.from({ length: this.#rank }, (_, rank) => rank);
    if (before.every((rank) => this.#lost.has(rank))) this.#turn.resolve();
  }
}

type JobFlags = Pick<TrainFlags, 'transport' | 'peerTimeout'>;

/** What all ranks must have in common: the command, and options of its table. */
export function settingsOfRanks(command: string, table: OptionTable, flags: object): Settings {
  return { command, ...optionsOfRanks(table, flags) };
}

/** Milliseconds that a rank waits for those that report first. */
const reportTimeout = 10_000;

/** Milliseconds that the launcher gets to forward output before the job ends: the rest is lost. */
const forwardingTime = 250;

/** The MPI job that this process is part of, if it is. */
function launchOfJob({ transport }: JobFlags, terminal: Terminal): Launch | undefined {
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
 * Joins the MPI job that a launcher has started this process for, if there is one. Ranks with other
 * options would train another model, or wait for each other forever: all of them refuse.
 */
export async function openProcessGroup(
  flags: JobFlags,
  settings: Settings,
  terminal: Terminal,
): Promise<Job> {
  const launch = launchOfJob(flags, terminal);
  if (!launch) return new Job(singleProcess);
  const { peerTimeout } = flags;
  return new MpiJob(await joinJob(launch, { peerTimeout, settings }, terminal), terminal);
}

export function joinJob(
  launch: Launch,
  options: Pick<JoinOptions, 'peerTimeout' | 'settings' | 'fault'>,
  { io }: Terminal,
): Promise<MpiGroup> {
  const { DSO_MPI_LIBRARY: library } = io.environment;
  return MpiGroup.join(launch, { ...options, library, version: packageDescription.version });
}

/**
 * Tells the other ranks that this one cannot begin, so that none of them waits for it. Gives the
 * error that all of them have then; undefined where they could not be reached.
 */
export async function refuseJob(
  launch: Launch,
  fault: string,
  terminal: Terminal,
): Promise<RefusedJob | undefined> {
  const { default: peerTimeout } = processOptions.peerTimeout;
  try {
    await joinJob(launch, { peerTimeout, fault }, terminal);
  } catch (error) {
    if (error instanceof RefusedJob) return error;
  }
  return undefined;
}

/** One command, run by this process alone or by all processes of an MPI job. */
export class Job<Group extends ProcessGroup = ProcessGroup> {
  readonly group: Group;
  /** What there is to resume from when a rank has been lost, for the message. */
  recoveryHint = () => 'nothing was saved';

  constructor(group: Group) {
    this.group = group;
  }

  /** Runs the command here. An error in one rank ends the whole job, with the error's exit code. */
  run(command: () => Promise<number>): Promise<number> {
    return command();
  }
}

/** Rank 0 reports for all; another rank reports only what concerns itself, with its name in front. */
class MpiJob extends Job<MpiGroup> {
  readonly #lost = new LostRanks(this.group.rank);
  readonly #terminal: Terminal;

  constructor(group: MpiGroup, terminal: Terminal) {
    super(group);
    this.#terminal = terminal;
  }

  override async run(command: () => Promise<number>): Promise<number> {
    this.group.onLost((message, rank) => void this.#giveUp(message, rank));
    try {
      const code = await command();
      await this.group.finalize();
      return code;
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** All ranks notice that one does not answer; the first of those that do reports it. */
  async #giveUp(message: string, rank: number): Promise<void> {
    const lost = this.#lost;
    const isFirst = !lost.any;
    lost.add(rank);
    if (!isFirst) return;
    if (await mayReport(reportTimeout, lost.turn)) {
      this.#terminal.error(`${message}; ${this.recoveryHint()}`);
    }
    await this.#abort(exitCodes.lost);
  }

  async #fail(error: unknown): Promise<never> {
    // Whatever waits for a lost rank fails.
    if (this.#lost.any) return new Promise(() => {});
    // Most errors occur in all ranks: the others are ended before they repeat what rank 0 reports,
    // unless rank 0 continues to where it waits for them. It does not while they train.
    const { group } = this;
    if (group.leads || (await mayReport(reportTimeout, group.rankZeroAhead()))) {
      this.#report(error as Error);
    }
    await this.#abort(exitCodeOfError(error));
    return new Promise(() => {});
  }

  /** Ends the whole job, once its messages have reached the user. */
  async #abort(code: number): Promise<void> {
    await this.group.stderrDrained();
    await sleep(forwardingTime);
    this.group.abort(code);
  }

  #report({ message, stack = '' }: Error): void {
    const { rank } = this.group;
    this.#terminal.error(rank === 0 ? message : `${this.group.nameOf(rank)}: ${message}`);
    if (this.#terminal.io.environment.DSO_DEBUG) this.#terminal.say(stack);
  }
}
