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

/** Work is measured, not time: a machine may be busy with something else. */
function watch({ done, first, seed, seconds }: WatchData): void {
  let [seen, worked] = [-1, 0];
  setInterval(() => {
    const now = Atomics.load(done, 0);
    const { user, system } = process.cpuUsage();
    if (now !== seen) [seen, worked] = [now, user + system];
    if (user + system - worked < 1e6 * seconds) return;
    const input = `input ${first + now} of seed ${seed}`;
    writeSync(2, `FAILED  ${input}: it takes more than ${seconds} s of work; the run ends here\n`);
    process.kill(process.pid, 'SIGKILL');
  }, 500);
}

const { watchdog } = (workerData ?? {}) as { readonly watchdog?: WatchData };
if (!isMainThread && watchdog) watch(watchdog);
