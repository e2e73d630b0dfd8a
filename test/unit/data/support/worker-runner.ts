import { Worker } from 'node:worker_threads';
import type { TaskRunner } from '../../../../src/data/read/tasks.ts';

/** A small runner on real worker threads; tasks go round the workers in turn. */
export class WorkerRunner implements TaskRunner {
  readonly threads: number;
  readonly #workers: Worker[];
  readonly #waiting = new Map<number, (result: unknown) => void>();
  /** How many tasks were run, by name. */
  readonly counts: Record<string, number> = {};
  mostInFlight = 0;
  #next = 0;

  constructor(threads: number) {
    this.threads = threads;
    this.#workers = Array.from({ length: threads }, () => {
      const worker = new Worker(new URL('./parse-worker.ts', import.meta.url));
      worker.on('message', ({ id, result }) => {
        this.#waiting.get(id)!(result);
        this.#waiting.delete(id);
      });
      return worker;
    });
  }

  run<Result>(task: string, payload: unknown): Promise<Result> {
    const id = this.#next++;
    this.counts[task] = (this.counts[task] ?? 0) + 1;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve as (result: unknown) => void);
      this.mostInFlight = Math.max(this.mostInFlight, this.#waiting.size);
      this.#workers[id % this.threads].postMessage({ id, task, payload }, []);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
