import type { EpochEvent } from './events.ts';

/**
 * The caller's onEpoch. It runs in a message handler, where an exception would end the process: the
 * first one is kept instead, the run is asked to stop, and train() rejects with it.
 */
export class Listener {
  readonly #onEpoch: ((event: EpochEvent) => unknown) | undefined;
  readonly #stop: () => void;
  #failure: { readonly error: unknown } | undefined;

  constructor(onEpoch: ((event: EpochEvent) => unknown) | undefined, stop: () => void) {
    this.#onEpoch = onEpoch;
    this.#stop = stop;
  }

  hear(event: EpochEvent): void {
    try {
      const result = this.#onEpoch?.(event);
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
