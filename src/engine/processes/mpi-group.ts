import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, type Transferable, Worker } from 'node:worker_threads';
import { DsoError, type ErrorKind } from '../../errors.ts';
import { type CommChannel, wake } from './comm-channel.ts';
import { type JoinOptions, nameOf, requestSlots } from './communicator.ts';
import { type Launch, loadFfi, MpiLibrary } from './mpi-library.ts';
import type { RingProbe } from './probe.ts';
import type { ProcessGroup } from './process-group.ts';
import { sharedBytes } from './requests.ts';

const entry = new URL(
  import.meta.url.endsWith('.ts') ? '../../comm-thread.ts' : './comm-thread.js',
  import.meta.url,
);

/** Seconds: on many hosts, or a busy one, ranks start late that are never silent afterwards. */
const startTime = 60;

/** Milliseconds that the library gets to finalize, and to end the job. */
const finalizeTime = 5000;
const abortTime = 3000;

/** Polls of what the launcher has not read yet, and milliseconds between them. */
const drainPolls = 500;
const drainPause = 20;

/** What the thread starts with. */
export interface ThreadData {
  readonly launch: Launch;
  readonly options: JoinOptions;
  /** See `requestSlots`. */
  readonly requested: Int32Array;
}

export interface ThreadRequest {
  readonly id: number;
  readonly task: string;
  readonly payload: unknown;
}

/** Classes of errors do not survive the way between threads. */
export interface Failure {
  readonly kind: ErrorKind;
  readonly message: string;
}

export type ThreadReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: Failure }
  /** A rank has fallen silent. */
  | { readonly lost: number; readonly message: string }
  /** Rank 0 has begun more than this rank had been asked for by then. */
  | { readonly rankZeroAhead: number }
  /** All ranks have announced their end, and the library is about to close. */
  | { readonly closing: true };

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The main thread's line to the thread that owns MPI (src/comm-thread.ts). */
export class CommThread {
  /** Called with the message and the rank that has been lost. */
  onLost: (message: string, rank: number) => void = () => {};
  readonly #mpi: MpiLibrary;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #requested = new Int32Array(new SharedArrayBuffer(4 * requestSlots.length));
  /** While the thread may be inside the library the usual way out would wait for it forever. */
  readonly #quit = (code: number): void => this.#mpi.quit(code);
  /** An error that nobody catches would be printed after that. */
  readonly #print = (error: Error): void => console.error(error);
  #nextId = 0;
  #onClosing = (): void => {};
  #rankZeroAhead = 0;
  #onRankZeroAhead = (): void => {};

  private constructor(mpi: MpiLibrary, launch: Launch, options: JoinOptions) {
    this.#mpi = mpi;
    process.on('exit', this.#quit);
    process.on('uncaughtExceptionMonitor', this.#print);
    const workerData: ThreadData = { launch, options, requested: this.#requested };
    this.#worker = new Worker(entry, { workerData });
    this.#worker.on('message', (report: ThreadReply) => this.#hear(report));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the communication thread has ended')));
    this.#worker.unref();
  }

  /** Starts the thread. The library is loaded here too, or it would go when the thread ends. */
  static async start(launch: Launch, options: JoinOptions): Promise<CommThread> {
    const mpi = MpiLibrary.load(await loadFfi(), launch.flavour, options.library);
    mpi.endWithLauncher();
    return new CommThread(mpi, launch, options);
  }

  /** Joins the job. Nothing can be asked of a library that waits for a missing process. */
  async join<Result>(
    launch: Launch,
    { peerTimeout, joinTimeout = Math.max(startTime, peerTimeout) }: JoinOptions,
  ): Promise<Result> {
    const late = new DsoError(
      'failure',
      `rank ${launch.rank} on ${hostname()}: the ${launch.size} ranks have not all come up within ${joinTimeout} s`,
    );
    let watchdog: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      watchdog = setTimeout(() => reject(late), 1000 * joinTimeout);
    });
    try {
      return await Promise.race([this.ask<Result>('join'), tooLate]);
    } catch (error) {
      if (error === late) this.#worker.unref();
      else await this.#end();
      throw error;
    } finally {
      clearTimeout(watchdog);
    }
  }

  ask<Result>(task: string, payload?: unknown, transfer: Transferable[] = []): Promise<Result> {
    const id = this.#nextId++;
    const answer = new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
    });
    // Whoever waits hears of a failure; it must not end the process before they do.
    answer.catch(() => {});
    this.#worker.ref();
    this.#worker.postMessage({ id, task, payload } satisfies ThreadRequest, transfer);
    return answer;
  }

  #hear(report: ThreadReply): void {
    if ('lost' in report) this.onLost(report.message, report.lost);
    else if ('closing' in report) this.#onClosing();
    else if ('rankZeroAhead' in report) {
      this.#rankZeroAhead = report.rankZeroAhead;
      this.#onRankZeroAhead();
    } else {
      const { resolve, reject } = this.#waiting.get(report.id)!;
      this.#waiting.delete(report.id);
      if (this.#waiting.size === 0) this.#worker.unref();
      if ('result' in report) resolve(report.result);
      else reject(new DsoError(report.failure.kind, report.failure.message));
    }
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  /** Resolves when rank 0 has gone on to what this rank has not begun. */
  rankZeroAhead(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRankZeroAhead = () => {
        if (this.#rankZeroAhead === this.#nextId) resolve();
      };
      this.#onRankZeroAhead();
    });
  }

  /** Resolves when the launcher has fetched what was written to standard error. */
  async stderrDrained(): Promise<void> {
    for (let poll = 0; poll < drainPolls && this.#mpi.unread(process.stderr.fd) > 0; poll++) {
      await sleep(drainPause);
    }
  }

  endTransfer(wakeThread: () => void): void {
    Atomics.store(this.#requested, requestSlots.endTransfer, 1);
    wakeThread();
  }

  /** To be called before the next run. */
  beginTransfer(): void {
    Atomics.store(this.#requested, requestSlots.endTransfer, 0);
  }

  /** Some libraries do not always return from their last call. */
  async finalize(): Promise<void> {
    let watchdog: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      this.#onClosing = () => {
        watchdog = setTimeout(() => resolve(false), finalizeTime);
      };
    });
    const left = await Promise.race([this.ask('finalize').then(() => true), late]);
    clearTimeout(watchdog);
    if (left) await this.#end();
    else this.#worker.unref();
  }

  async #end(): Promise<void> {
    process.off('exit', this.#quit);
    process.off('uncaughtExceptionMonitor', this.#print);
    await this.#worker.terminate();
  }

  /** Ends all processes of the job, this one too. */
  abort(code: number, wakeThread: () => void): void {
    Atomics.store(this.#requested, requestSlots.abort, code + 1);
    Atomics.notify(this.#requested, requestSlots.abort);
    wakeThread();
    void this.ask('applyRequests');
    setTimeout(() => process.exit(code), abortTime);
  }
}

/** What a process learns when it joins. */
export interface GroupInfo {
  readonly rank: number;
  readonly size: number;
  readonly hosts: readonly string[];
  /** Such as "Open MPI v4.1.4". */
  readonly library: string;
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
 * The other processes of the job, as the main thread sees them. A thread of its own talks to them
 * and shows them that this process is alive, whatever the main thread does. All ranks call the
 * same methods in the same order; what comes back lies in shared memory.
 */
export class MpiGroup implements ProcessGroup, GroupInfo {
  readonly rank: number;
  readonly size: number;
  readonly hosts: readonly string[];
  readonly library: string;
  readonly #thread: CommThread;
  #channel: CommChannel | undefined;

  private constructor(thread: CommThread, { rank, size, hosts, library }: GroupInfo) {
    this.#thread = thread;
    this.rank = rank;
    this.size = size;
    this.hosts = hosts;
    this.library = library;
  }

  /** Joins the job that the launcher has started this process for. */
  get leads(): boolean {
    return this.rank === 0;
  }

  static async join(launch: Launch, options: JoinOptions): Promise<MpiGroup> {
    const thread = await CommThread.start(launch, options);
    return new MpiGroup(thread, await thread.join<GroupInfo>(launch, options));
  }

  /** How to name a rank in a message. */
  nameOf(rank: number): string {
    return nameOf(rank, this.hosts);
  }

  /** What to do when a rank has fallen silent. What is being waited for fails anyway. */
  onLost(handler: (message: string, rank: number) => void): void {
    this.#thread.onLost = handler;
  }

  /**
   * Resolves when rank 0 has gone on to something that this rank has not begun: what has stopped
   * this rank did not stop rank 0.
   */
  rankZeroAhead(): Promise<void> {
    return this.#thread.rankZeroAhead();
  }

  /** Resolves when the launcher has fetched what this process has said. */
  stderrDrained(): Promise<void> {
    return this.#thread.stderrDrained();
  }

  /** outgoing[r] goes to rank r; returns what each rank has sent here. */
  exchange(outgoing: readonly Uint8Array[]): Promise<Uint8Array[]> {
    return this.#thread.ask('exchange', outgoing.map(inSharedMemory));
  }

  /** Everybody's bytes, by rank. */
  gather(bytes: Uint8Array): Promise<Uint8Array[]> {
    return this.exchange(new Array<Uint8Array>(this.size).fill(inSharedMemory(bytes)));
  }

  /** Everybody's bytes for rank 0, by rank; nothing for the others. */
  async collect(bytes: Uint8Array): Promise<Uint8Array[]> {
    const all = await this.exchange(this.#toEach((to) => (to === 0 ? bytes : nothing)));
    return this.rank === 0 ? all : [];
  }

  /** What rank 0 has to say, for everybody; the others' argument does not matter. */
  async broadcast(bytes?: Uint8Array): Promise<Uint8Array> {
    const said = this.rank === 0 && bytes ? inSharedMemory(bytes) : nothing;
    return (await this.exchange(this.#toEach(() => said)))[0];
  }

  #toEach(bytesFor: (rank: number) => Uint8Array): Uint8Array[] {
    return Array.from({ length: this.size }, (_, rank) => bytesFor(rank));
  }

  /** Who is there, and how fast blocks would travel. */
  probe(): Promise<RingProbe> {
    return this.#thread.ask('probe');
  }

  async transferBlocks(channel: CommChannel | undefined, port: MessagePort): Promise<void> {
    if (!channel) return;
    this.#channel = channel;
    this.#thread.beginTransfer();
    await this.#thread.ask('transfer', { channel, port }, [port]);
  }

  endTransfer(): void {
    this.#thread.endTransfer(this.#wake);
  }

  /** Returns when all ranks have called it. */
  finalize(): Promise<void> {
    return this.#thread.finalize();
  }

  /** Ends the whole job: after an error of one rank the others would wait for it. */
  abort(code: number): void {
    this.#thread.abort(code, this.#wake);
  }

  readonly #wake = (): void => {
    if (this.#channel) wake(this.#channel);
  };
}
