import type { Listener, Pause, Requests, Task } from './thread.ts';

/** Milliseconds of work after which timers, signals and sockets get their turn. */
const turn = 10;

let began = 0;

/** Gives the event loop its turn if it is due: undefined if not, so that nobody waits in vain. */
const pause: Pause = () => {
  if (performance.now() - began < turn) return undefined;
  return new Promise((resolve) => {
    setImmediate(() => {
      began = performance.now();
      resolve();
    });
  });
};

/**
 * Answers requests in the calling thread, one after the other: for work that is done before a thread
 * has started. A task may await `pause` where it can be interrupted.
 */
export class CallingThread implements Requests {
  readonly #tasks: Readonly<Record<string, Task>>;
  pending = 0;
  readonly started = true;

  constructor(tasks: Readonly<Record<string, Task>>) {
    this.#tasks = tasks;
  }

  start(): void {}

  async request<Result>(
    task: string,
    payload?: unknown,
    _transfer?: unknown,
    onEvent: Listener = () => {},
  ): Promise<Result> {
    this.pending += 1;
    try {
      await pause();
      return (await this.#tasks[task](payload as never, onEvent, pause)) as Result;
    } finally {
      this.pending -= 1;
    }
  }

  async terminate(): Promise<void> {}
}
