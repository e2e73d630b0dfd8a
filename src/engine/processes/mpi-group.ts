import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Transferable, Worker } from 'node:worker_threads';
import { DsoError, type ErrorKind } from '../../errors.ts';
import { loadForeign } from '../../mpi/foreign.ts';
import type { Launch } from '../../mpi/launcher.ts';
import { type JoinOptions, wishes } from './communicator.ts';
import { MpiLibrary } from './mpi-library.ts';

const entry = new URL(
  import.meta.url.endsWith('.ts') ? '../../comm-thread.ts' : './carrier.js',
  import.meta.url,
);

/** Seconds: on many hosts, or a busy one, ranks start late that are never silent afterwards. */
const startTime = 60;

/** Milliseconds that the library gets for its last words, and for ending the job. */
const finalizeTime = 5000;
const abortTime = 3000;

/** Looks at what the launcher has not yet fetched, and milliseconds between them. */
const fetchLooks = 500;
const fetchPause = 20;

/** What the thread starts with. */
export interface ThreadData {
  readonly launch: Launch;
  readonly options: JoinOptions;
  /** See `wishes`. */
  readonly wished: Int32Array;
}

export interface Order {
  readonly id: number;
  readonly task: string;
  readonly payload: unknown;
}

/** Classes of errors do not survive the way between threads. */
export interface Failure {
  readonly kind: ErrorKind;
  readonly message: string;
}

export type Report =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: Failure }
  /** A rank has fallen silent. */
  | { readonly lost: number; readonly message: string }
  /** Rank 0 has begun more than the orders that this rank had been given by then. */
  | { readonly overtaken: number }
  /** Everybody has said goodbye, and the library is about to close. */
  | { readonly closing: true };

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The main thread's line to the thread that owns MPI (src/comm-thread.ts). */
export class Thread {
  /** Called with the message and the rank that has been lost. */
  onLost: (message: string, rank: number) => void = () => {};
  readonly #mpi: MpiLibrary;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #wished = new Int32Array(new SharedArrayBuffer(4 * wishes.length));
  /** While the thread may be inside the library the usual way out would wait for it forever. */
  readonly #quit = (code: number): void => this.#mpi.quit(code);
  /** An error that nobody catches would be printed after that. */
  readonly #print = (error: Error): void => console.error(error);
  #nextId = 0;
  #onClosing = (): void => {};
  #overtaken = 0;
  #onOvertaken = (): void => {};

  private constructor(mpi: MpiLibrary, launch: Launch, options: JoinOptions) {
    this.#mpi = mpi;
    process.on('exit', this.#quit);
    process.on('uncaughtExceptionMonitor', this.#print);
    const workerData: ThreadData = { launch, options, wished: this.#wished };
    this.#worker = new Worker(entry, { workerData });
    this.#worker.on('message', (report: Report) => this.#hear(report));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the carrier thread has ended')));
    this.#worker.unref();
  }

  /** Starts the thread. The library is loaded here too, or it would go when the thread ends. */
  static async start(launch: Launch, options: JoinOptions): Promise<Thread> {
    const mpi = MpiLibrary.load(await loadForeign(), launch.flavour, options.library);
    mpi.endWithLauncher();
    return new Thread(mpi, launch, options);
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
    this.#worker.postMessage({ id, task, payload } satisfies Order, transfer);
    return answer;
  }

  #hear(report: Report): void {
    if ('lost' in report) this.onLost(report.message, report.lost);
    else if ('closing' in report) this.#onClosing();
    else if ('overtaken' in report) {
      this.#overtaken = report.overtaken;
      this.#onOvertaken();
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
  overtaken(): Promise<void> {
    return new Promise((resolve) => {
      this.#onOvertaken = () => {
        if (this.#overtaken === this.#nextId) resolve();
      };
      this.#onOvertaken();
    });
  }

  /** Resolves when the launcher has fetched what was written to standard error. */
  async fetched(): Promise<void> {
    for (let look = 0; look < fetchLooks && this.#mpi.unread(process.stderr.fd) > 0; look++) {
      await sleep(fetchPause);
    }
  }

  endCarrying(bell: () => void): void {
    Atomics.store(this.#wished, wishes.endCarrying, 1);
    bell();
  }

  /** To be called before the next run. */
  beginCarrying(): void {
    Atomics.store(this.#wished, wishes.endCarrying, 0);
  }

  /** Takes leave of the others. Some libraries do not always return from their last call. */
  async leave(): Promise<void> {
    let watchdog: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      this.#onClosing = () => {
        watchdog = setTimeout(() => resolve(false), finalizeTime);
      };
    });
    const left = await Promise.race([this.ask('leave').then(() => true), late]);
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
  abort(code: number, bell: () => void): void {
    Atomics.store(this.#wished, wishes.abort, code + 1);
    Atomics.notify(this.#wished, wishes.abort);
    bell();
    void this.ask('obey');
    setTimeout(() => process.exit(code), abortTime);
  }
}
