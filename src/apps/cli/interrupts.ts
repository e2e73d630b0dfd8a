import { type InterruptSignal, type Io, signalExitCodes } from './terminal.ts';

/** Milliseconds for an answer to leave before the process ends. */
const answering = 100;

/**
 * Ctrl-C and SIGTERM. While there is nothing to save a signal ends the process. Once `deferred`,
 * the first one asks training to stop and the next ends the process; a file being written is then
 * left as it was, because files are put in place as a whole.
 */
export class Interrupts {
  readonly #controller = new AbortController();
  readonly #release: () => void;
  readonly #onDeferred: () => void;
  readonly #quit: (signal: InterruptSignal) => void;
  #deferred = false;
  #received: InterruptSignal | undefined;

  /** `onDeferred` is called when training is asked to stop, `onQuit` just before the process ends. */
  constructor(io: Io, listeners: { onDeferred(): void; onQuit(): void }) {
    this.#onDeferred = listeners.onDeferred;
    this.#release = io.onSignal((signal) => {
      if (this.#deferred && this.#received === undefined) this.#stop(signal);
      else this.#quit(signal);
    });
    this.#quit = (signal) => {
      listeners.onQuit();
      io.exit(signalExitCodes[signal]);
    };
  }

  /** What the first Ctrl-C does, asked for in another way, by somebody who waits for an answer. */
  request(): void {
    if (this.#received !== undefined) return;
    if (this.#deferred) this.#stop('SIGINT');
    else setTimeout(this.#quit, answering, 'SIGINT');
  }

  #stop(signal: InterruptSignal): void {
    this.#received = signal;
    this.#onDeferred();
    this.#controller.abort();
  }

  /** Aborted by the first signal after `defer`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get received(): InterruptSignal | undefined {
    return this.#received;
  }

  defer(): void {
    this.#deferred = true;
  }

  release(): void {
    this.#release();
  }
}
