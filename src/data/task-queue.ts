interface Pending {
  readonly outcome: Promise<unknown>;
  readonly take: () => Promise<void>;
}

/** Keeps a bounded number of tasks going and hands their outcomes on in the order of the input. */
export class TaskQueue {
  readonly #most: number;
  readonly #pending: Pending[] = [];

  /** Two tasks per thread: one at work, one waiting. */
  constructor(threads: number) {
    this.#most = 2 * threads;
  }

  /** `take` gets the outcome when its turn has come; the next one waits for it. */
  async run<Outcome>(
    start: () => Promise<Outcome>,
    take: (outcome: Outcome) => void | Promise<void>,
  ): Promise<void> {
    while (this.#pending.length >= this.#most) await this.#takeFirst();
    const outcome = start();
    // Awaited in turn; until then a failure must not count as unhandled.
    outcome.catch(() => {});
    this.#pending.push({ outcome, take: async () => take(await outcome) });
  }

  /** Does something as soon as everything before it has been handed on. */
  after(action: () => void | Promise<void>): void {
    this.#pending.push({ outcome: Promise.resolve(), take: async () => action() });
  }

  async finish(): Promise<void> {
    while (this.#pending.length > 0) await this.#takeFirst();
  }

  async #takeFirst(): Promise<void> {
    try {
      await this.#pending.shift()!.take();
    } catch (error) {
      const rest = this.#pending.splice(0);
      await Promise.allSettled(rest.map(({ outcome }) => outcome));
      throw error;
    }
  }
}
