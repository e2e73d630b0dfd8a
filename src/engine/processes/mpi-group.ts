import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { DsoError, RefusedJob } from '../../errors.ts';
import { separateArena } from '../arena.ts';
import { RequestThread, threadEntry } from '../thread.ts';
import { type CommChannel, wake } from './comm-channel.ts';
import { type JoinOptions, nameOf, requestSlots } from './communicator.ts';
import type { Launch } from './launch.ts';
import { loadFfi, MpiLibrary } from './mpi-library.ts';
import type { RingProbe } from './probe.ts';
import type { ProcessGroup } from './process-group.ts';
import { sharedBytes } from './requests.ts';

/** Seconds for all ranks to join: on many hosts, or a busy one, some start late. */
const joinTime = 60;

/** Milliseconds that the library gets to finalize, and to end the job. */
const finalizeTime = 5000;
const abortTime = 3000;

/** Polls of what the launcher has not read yet, and milliseconds between them. */
const drainPolls = 500;
const drainPause = 20;

/** What the communication thread starts with. */
export interface CommThreadData {
  readonly launch: Launch;
  readonly options: JoinOptions;
  /** See `requestSlots`. */
  readonly requested: Int32Array;
}

/** What the communication thread sends without a request. */
export type CommReport =
  /** A rank has fallen silent. */
  | { readonly lost: number; readonly message: string }
  /** Rank 0 has begun more than this number of requests, which this rank had by then. */
  | { readonly rankZeroAhead: number }
  /** All ranks have announced their end, and the library is about to close. */
  | { readonly closing: true };

/** What a process learns when it joins. */
export interface GroupInfo extends Pick<ProcessGroup, 'rank' | 'size' | 'hosts'> {
  readonly library: string;
  /** Why the ranks do not work together, if they do not. */
  readonly refusal?: string;
}

const nothing = sharedBytes(0);

/** Shared memory as it is, anything else as a copy. */
function inSharedMemory(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes;
  const copy = sharedBytes(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * The processes of an MPI job, as the main thread sees them: the communication thread talks to the
 * others, whatever the main thread does. Results are in shared memory.
 */
export class MpiGroup implements ProcessGroup, GroupInfo {
  rank = 0;
  size = 1;
  hosts: readonly string[] = [];
  library = '';
  readonly #mpi: MpiLibrary;
  readonly #thread: RequestThread;
  readonly #requested = separateArena.int32(requestSlots.length);
  /** While the thread may be inside the library, the normal way out would wait for it forever. */
  readonly #quit = (code: number): void => this.#mpi.quit(code);
  /** Node prints an uncaught error only after that. */
  readonly #print = (error: Error): void => console.error(error);
  #channel: CommChannel | undefined;
  #onLost: (message: string, rank: number) => void = () => {};
  #onClosing = (): void => {};
  #rankZeroAhead = 0;
  #onRankZeroAhead = (): void => {};

  private constructor(mpi: MpiLibrary, launch: Launch, options: JoinOptions) {
    this.#mpi = mpi;
    process.on('exit', this.#quit);
    process.on('uncaughtExceptionMonitor', this.#print);
    const workerData: CommThreadData = { launch, options, requested: this.#requested };
    this.#thread = new RequestThread(threadEntry('comm-thread'), { workerData }, (report) =>
      this.#hear(report as CommReport),
    );
  }

  /** Joins the job. The library is loaded here too, or it would be unloaded with the thread. */
  static async join(launch: Launch, options: JoinOptions): Promise<MpiGroup> {
    const mpi = MpiLibrary.load(await loadFfi(), launch.flavour, options.library);
    mpi.endWithLauncher();
    const group = new MpiGroup(mpi, launch, options);
    const { rank, size, hosts, library, refusal } = await group.#join(launch, options);
    Object.assign(group, { rank, size, hosts, library });
    if (refusal === undefined) return group;
    await group.finalize();
    throw new RefusedJob(refusal);
  }

  /** A library that waits for a missing process answers nothing. */
  async #join(
    launch: Launch,
    { peerTimeout, joinTimeout = Math.max(joinTime, peerTimeout) }: JoinOptions,
  ): Promise<GroupInfo> {
    const late = new DsoError(
      'lost',
      `rank ${launch.rank} on ${hostname()}: the ${launch.size} ranks have not all come up within ${joinTimeout} s`,
    );
    let watchdog: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      watchdog = setTimeout(() => reject(late), 1000 * joinTimeout);
    });
    try {
      return await Promise.race([this.#request<GroupInfo>('join'), tooLate]);
    } catch (error) {
      if (error === late) this.#thread.unref();
      else await this.#end();
      throw error;
    } finally {
      clearTimeout(watchdog);
    }
  }

  get leads(): boolean {
    return this.rank === 0;
  }

  nameOf(rank: number): string {
    return nameOf(rank, this.hosts);
  }

  #request<Result>(task: string, payload?: unknown, transfer?: MessagePort[]): Promise<Result> {
    const answer = this.#thread.request<Result>(task, payload, transfer);
    // Whoever waits hears of a failure; it must not end the process before they do.
    answer.catch(() => {});
    return answer;
  }

  #hear(report: CommReport): void {
    if ('lost' in report) this.#onLost(report.message, report.lost);
    else if ('closing' in report) this.#onClosing();
    else {
      this.#rankZeroAhead = report.rankZeroAhead;
      this.#onRankZeroAhead();
    }
  }

  /** What to do when a rank has fallen silent. What is being waited for fails anyway. */
  onLost(handler: (message: string, rank: number) => void): void {
    this.#onLost = handler;
  }

  /** Resolves when rank 0 continues: what has stopped this rank did not stop rank 0. */
  rankZeroAhead(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRankZeroAhead = () => {
        if (this.#rankZeroAhead === this.#thread.requests) resolve();
      };
      this.#onRankZeroAhead();
    });
  }

  /** Resolves when the launcher has read what this process has written to standard error. */
  async stderrDrained(): Promise<void> {
    for (let poll = 0; poll < drainPolls && this.#mpi.unread(process.stderr.fd) > 0; poll++) {
      await sleep(drainPause);
    }
  }

  exchange(outgoing: readonly Uint8Array[]): Promise<Uint8Array[]> {
    return this.#request('exchange', outgoing.map(inSharedMemory));
  }

  gather(bytes: Uint8Array): Promise<Uint8Array[]> {
    const shared = inSharedMemory(bytes);
    return this.exchange(this.#toEach(() => shared));
  }

  async collect(bytes: Uint8Array): Promise<Uint8Array[]> {
    const all = await this.exchange(this.#toEach((to) => (to === 0 ? bytes : nothing)));
    return this.rank === 0 ? all : [];
  }

  async broadcast(bytes?: Uint8Array): Promise<Uint8Array> {
    const sent = this.rank === 0 && bytes ? inSharedMemory(bytes) : nothing;
    return (await this.exchange(this.#toEach(() => sent)))[0];
  }

  #toEach(bytesFor: (rank: number) => Uint8Array): Uint8Array[] {
    return Array.from({ length: this.size }, (_, rank) => bytesFor(rank));
  }

  probe(): Promise<RingProbe> {
    return this.#request('probe');
  }

  async transferBlocks(channel: CommChannel | undefined, port: MessagePort): Promise<void> {
    if (!channel) return;
    this.#channel = channel;
    Atomics.store(this.#requested, requestSlots.endTransfer, 0);
    await this.#request('transfer', { channel, port }, [port]);
  }

  endTransfer(): void {
    Atomics.store(this.#requested, requestSlots.endTransfer, 1);
    if (this.#channel) wake(this.#channel);
  }

  /** Returns when all ranks have called it. Some libraries do not always return from theirs. */
  async finalize(): Promise<void> {
    let watchdog: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      this.#onClosing = () => {
        watchdog = setTimeout(() => resolve(false), finalizeTime);
      };
    });
    const finalized = await Promise.race([this.#request('finalize').then(() => true), late]);
    clearTimeout(watchdog);
    if (finalized) await this.#end();
    else this.#thread.unref();
  }

  async #end(): Promise<void> {
    process.off('exit', this.#quit);
    process.off('uncaughtExceptionMonitor', this.#print);
    await this.#thread.terminate();
  }

  /** Ends the whole job, this process too: after an error of one rank the others would wait. */
  abort(code: number): void {
    Atomics.store(this.#requested, requestSlots.abort, code + 1);
    Atomics.notify(this.#requested, requestSlots.abort);
    if (this.#channel) wake(this.#channel);
    void this.#request('applyRequests');
    setTimeout(() => process.exit(code), abortTime);
  }
}
