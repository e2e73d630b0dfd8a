/**
 * What the caller wants to hear during a run. It runs in a message handler, where an exception would
 * end the process: the first one is kept instead, the run is asked to stop, and train() rejects with
 * it.
 */
export class Listener {
  readonly #stop: () => void;
  #failure: { readonly error: unknown } | undefined;

  constructor(stop: () => void) {
    this.#stop = stop;
  }

  tell<Event>(hear: ((event: Event) => unknown) | undefined, event: Event): void {
    try {
      const result = hear?.(event);
      if (result instanceof Promise) result.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop();
  }

  rethrow(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
