import { once } from 'node:events';
import { createProgress, type Progress, silentProgress } from './progress.ts';
import { type InterruptSignal, type Io, signalExitCodes, type Terminal } from './terminal.ts';

/** Milliseconds to send a response before the process ends. */
const responseTime = 100;

/**
 * Ctrl-C and SIGTERM. While there is nothing to save, a signal ends the process. Once deferred, the
 * first signal stops training and the next ends the process. No file is left half written, because
 * files are replaced atomically.
 */
export class Interrupts {
  readonly #controller = new AbortController();
  /** Aborted by the first signal after `defer`. */
  readonly signal: AbortSignal = this.#controller.signal;
  received: InterruptSignal | undefined;
  readonly #io: Io;
  readonly #display: Pick<Progress, 'notice' | 'end'>;
  readonly #stopping: string | undefined;
  readonly release: () => void;
  #deferred = false;

  /** The display shows `stopping` at the first deferred signal, and ends before the process does. */
  constructor(io: Io, display: Pick<Progress, 'notice' | 'end'>, stopping?: string) {
    this.#io = io;
    this.#display = display;
    this.#stopping = stopping;
    this.release = io.onSignal((signal) => {
      if (this.#deferred && this.received === undefined) this.#stop(signal);
      else this.#quit(signal);
    });
  }

  /** Does what the first Ctrl-C does, for a client that waits for a response. */
  request(): void {
    if (this.received !== undefined) return;
    if (this.#deferred) this.#stop('SIGINT');
    else setTimeout(() => this.#quit('SIGINT'), responseTime);
  }

  #stop(signal: InterruptSignal): void {
    this.received = signal;
    if (this.#stopping !== undefined) this.#display.notice(this.#stopping);
    this.#controller.abort();
  }

  #quit(signal: InterruptSignal): void {
    this.#display.end();
    this.#io.exit(signalExitCodes[signal]);
  }

  get exitCode(): number | undefined {
    return this.received && signalExitCodes[this.received];
  }

  defer(): void {
    this.#deferred = true;
  }
}

interface ProgressOptions {
  readonly quiet?: boolean;
  readonly lines?: 'epochs' | 'no epochs';
  /** Shown at the first signal, if the work defers interrupts. */
  readonly stopping?: string;
}

/** Runs work with progress and interrupts that end with it, however it ends. */
export async function withProgress<Result>(
  terminal: Terminal,
  { quiet = false, lines, stopping }: ProgressOptions,
  work: (progress: Progress, interrupts: Interrupts) => Promise<Result>,
): Promise<Result> {
  const progress = createProgress(terminal, quiet, lines);
  const interrupts = new Interrupts(terminal.io, progress, stopping);
  try {
    return await work(progress, interrupts);
  } finally {
    progress.end();
    interrupts.release();
  }
}

/** Resolves with the first signal; the next one ends the process. */
export async function stopSignal({ io }: Terminal): Promise<void> {
  const interrupts = new Interrupts(io, silentProgress);
  interrupts.defer();
  await once(interrupts.signal, 'abort');
}
