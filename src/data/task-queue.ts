import type { TaskRunner } from './runner.ts';

/** Keeps a bounded number of tasks going and hands their outcomes on in the order of the input. */
export class TaskQueue<Outcome> {
  readonly #runner: TaskRunner;
  readonly #take: (outcome: Outcome) => void | Promise<void>;
  readonly #pending: Promise<Outcome>[] = [];

  constructor(runner: TaskRunner, take: (outcome: Outcome) => void | Promise<void>) {
    this.#runner = runner;
    this.#take = take;
  }

  async run(task: string, payload: unknown, done?: () => void): Promise<void> {
    while (this.#pending.length >= 2 * this.#runner.threads) await this.#takeFirst();
    const outcome = this.#runner.run<Outcome>(task, payload).finally(done);
    // Awaited in turn; until then a failure must not count as unhandled.
    outcome.catch(() => {});
    this.#pending.push(outcome);
  }

  async finish(): Promise<void> {
    while (this.#pending.length > 0) await this.#takeFirst();
  }

  async #takeFirst(): Promise<void> {
    try {
      await this.#take(await this.#pending.shift()!);
    } catch (error) {
      await Promise.allSettled(this.#pending.splice(0));
      throw error;
    }
  }
}
