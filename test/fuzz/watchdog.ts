import { writeSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

interface WatchData {
  /** Inputs that are done. */
  readonly done: Int32Array;
  readonly first: number;
  readonly seed: number;
  readonly seconds: number;
}

/**
 * Ends the process where an input keeps it busy, which the busy thread itself cannot: another thread
 * looks whether inputs are still being finished.
 */
export class Watchdog {
  readonly #done = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;

  constructor(limits: Omit<WatchData, 'done'>) {
    const watchdog: WatchData = { ...limits, done: this.#done };
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { watchdog } });
    this.#worker.unref();
  }

  /** To be called after each input. */
  next(): void {
    Atomics.add(this.#done, 0, 1);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

function watch({ done, first, seed, seconds }: WatchData): void {
  let seen = -1;
  setInterval(() => {
    const now = Atomics.load(done, 0);
    if (now === seen) {
      const input = `input ${first + now} of seed ${seed}`;
      writeSync(2, `FAILED  ${input}: it takes more than ${seconds} s; the run ends here\n`);
      process.kill(process.pid, 'SIGKILL');
    }
    seen = now;
  }, seconds * 1000);
}

const { watchdog } = (workerData ?? {}) as { readonly watchdog?: WatchData };
if (!isMainThread && watchdog) watch(watchdog);
