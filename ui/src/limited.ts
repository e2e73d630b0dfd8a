/** Runs tasks, no more than so many at the same time, in the order in which they came. */
export class Limited {
  readonly #most: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The task reports its failures itself. */
  add(task: () => Promise<void>): void {
    this.#waiting.push(task);
    this.#next();
  }

  #next(): void {
    while (this.#running < this.#most) {
      const task = this.#waiting.shift();
      if (!task) return;
      this.#running++;
      void task().finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }
}
