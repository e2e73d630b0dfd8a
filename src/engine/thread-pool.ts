import { type Transferable, Worker } from 'node:worker_threads';

/**
 * Threads work on arrays that lie outside of their heaps. What they leave there is rubbish, which a
 * small nursery, collected often, keeps from growing to tens of megabytes a thread.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 4 };

/** A job for one thread, and what comes back. */
export interface Request {
  readonly id: number;
  readonly task: string;
  readonly payload: unknown;
}

export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: Error }
  | { readonly id: number; readonly event: unknown };

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onEvent?: (event: unknown) => void;
}

interface Member {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
  /** Set when the thread has ended, whatever the reason. */
  ended?: Error;
}

/**
 * Worker threads that stay for the life of a command: they parse, partition and train. `run` gives
 * a task to the least busy thread; `runAll` gives every thread its share of one joint task.
 */
export class ThreadPool {
  readonly threads: number;
  readonly #members: Member[];
  #nextId = 0;

  constructor(entry: URL, threads: number) {
    this.threads = threads;
    this.#members = Array.from({ length: threads }, () => this.#start(entry));
  }

  #start(entry: URL): Member {
    const worker = new Worker(entry, { resourceLimits });
    const waiting = new Map<number, Waiting>();
    const member: Member = { worker, waiting };
    const fail = (error: Error) => {
      member.ended = error;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    worker.on('message', (reply: Reply) => {
      const caller = waiting.get(reply.id);
      if (!caller) return;
      if ('event' in reply) {
        caller.onEvent?.(reply.event);
        return;
      }
      waiting.delete(reply.id);
      if (waiting.size === 0) worker.unref();
      if ('error' in reply) caller.reject(reply.error);
      else caller.resolve(reply.result);
    });
    worker.on('error', fail);
    worker.on('exit', (code) => fail(new Error(`a worker thread ended with code ${code}`)));
    worker.unref();
    return member;
  }

  #send<Result>(
    member: Member,
    task: string,
    payload: unknown,
    transfer: Transferable[] = [],
    onEvent?: (event: unknown) => void,
  ): Promise<Result> {
    if (member.ended) return Promise.reject(member.ended);
    const id = this.#nextId++;
    return new Promise<Result>((resolve, reject) => {
      member.waiting.set(id, {
        resolve: resolve as (result: unknown) => void,
        reject,
        ...(onEvent && { onEvent }),
      });
      member.worker.ref();
      member.worker.postMessage({ id, task, payload } satisfies Request, transfer);
    });
  }

  run<Result>(task: string, payload: unknown, transfer?: ArrayBuffer[]): Promise<Result> {
    let chosen = this.#members[0];
    for (const member of this.#members) {
      if (member.waiting.size < chosen.waiting.size) chosen = member;
    }
    return this.#send(chosen, task, payload, transfer);
  }

  /**
   * Runs `task` on `count` threads from the `first` one on at the same time, each with its own
   * payload.
   */
  async runAll<Result>(
    task: string,
    count: number,
    payloadOf: (index: number) => unknown,
    onEvent?: (event: unknown) => void,
    transferOf: (index: number) => Transferable[] = () => [],
    first = 0,
  ): Promise<Result[]> {
    return Promise.all(
      Array.from({ length: count }, (_, index) =>
        this.#send<Result>(
          this.#members[first + index],
          task,
          payloadOf(index),
          transferOf(index),
          onEvent,
        ),
      ),
    );
  }

  /** Ends the threads once nobody waits for them. */
  async closeWhenIdle(): Promise<void> {
    while (this.#members.some(({ waiting }) => waiting.size > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await this.close();
  }

  async close(): Promise<void> {
    // Threads that nobody waits for do not keep the process alive, not even until they have ended.
    const hold = setInterval(() => {}, 1000);
    await Promise.all(this.#members.map(({ worker }) => worker.terminate()));
    clearInterval(hold);
  }
}
