/** What an iterator brings, with a way to stop waiting for it. */
export class Arrivals<Item> {
  readonly #iterator: AsyncIterator<Item>;
  readonly #stopped: Promise<'end'>;
  #pending: Promise<Item | 'end'> | undefined;

  /** The signal ends what arrives here; the iterator is left as it is. */
  constructor(items: AsyncIterable<Item>, signal?: AbortSignal) {
    this.#iterator = items[Symbol.asyncIterator]();
    this.#stopped = new Promise((resolve) => {
      if (signal?.aborted) resolve('end');
      signal?.addEventListener('abort', () => resolve('end'), { once: true });
    });
  }

  /** The next item, or `late` if it does not come in so many milliseconds: it is still waited for. */
  async next(patience = Infinity): Promise<Item | 'end' | 'late'> {
    this.#pending ??= this.#advance();
    // Once the signal has come, nobody waits for it any more.
    this.#pending.catch(() => {});
    let timer: NodeJS.Timeout | undefined;
    const candidates: Promise<Item | 'end' | 'late'>[] = [this.#stopped, this.#pending];
    if (patience < Infinity) {
      candidates.push(
        new Promise((resolve) => {
          timer = setTimeout(() => resolve('late'), patience);
        }),
      );
    }
    try {
      const found = await Promise.race(candidates);
      if (found !== 'late') this.#pending = undefined;
      return found;
    } finally {
      clearTimeout(timer);
    }
  }

  async #advance(): Promise<Item | 'end'> {
    const { done, value } = await this.#iterator.next();
    return done ? 'end' : value;
  }
}
