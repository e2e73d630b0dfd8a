import { once } from 'node:events';
import { hostname } from 'node:os';
import { basename, relative } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import picocolors from 'picocolors';
import { type Flavour, type Launch, launchOf } from '../../engine/processes/launch.ts';
import { DsoError } from '../../errors.ts';
import { type Colours, visibleText } from '../../reporting/format.ts';
import type { StopReason } from '../../train/events.ts';

/** Standard output and error, with colours on a terminal, quiet when the reader has gone away. */
export class Terminal {
  readonly io: Io;
  /** Colours for standard error and for standard output. */
  readonly colours: Colours;
  readonly outputColours: Colours;
  readonly #closed = new Set<OutputStream>();

  constructor(io: Io) {
    this.io = io;
    const { NO_COLOR: noColour = '', TERM } = io.environment;
    // https://no-color.org: any non-empty NO_COLOR turns colours off.
    const hasColours = ({ isTTY = false }: OutputStream) =>
      isTTY && noColour === '' && TERM !== 'dumb';
    this.colours = picocolors.createColors(hasColours(io.stderr));
    this.outputColours = picocolors.createColors(hasColours(io.stdout));
    for (const stream of [io.stdout, io.stderr]) {
      stream.on('error', (error: NodeJS.ErrnoException) => {
        this.#closed.add(stream);
        if (error.code === 'EPIPE') return;
        // A full disk behind a redirection: the output is incomplete.
        const which = stream === io.stdout ? 'standard output' : 'standard error';
        this.error(`${which}: ${error.message}`);
        io.exit(1);
      });
    }
  }

  get live(): boolean {
    return this.io.stderr.isTTY === true && this.io.environment.TERM !== 'dumb';
  }

  get width(): number {
    return this.io.stderr.columns || 80;
  }

  /** Whether the reader of standard output (`| head`) has left. */
  get outputClosed(): boolean {
    return this.#closed.has(this.io.stdout) || this.io.stdout.destroyed;
  }

  /** Writes to standard error as is, for what moves the cursor: no part of it comes from a file. */
  draw(text: string): void {
    if (!this.#closed.has(this.io.stderr)) this.io.stderr.write(text);
  }

  /** Writes to standard error what a terminal shows and does not obey. */
  write(text: string): void {
    this.draw(visibleText(text, this.colours.isColorSupported));
  }

  /** A line for people, on standard error. */
  say(line: string): void {
    this.write(`${line}\n`);
  }

  /** Writes a text for people to standard output. */
  async print(text: string): Promise<void> {
    await this.#printAll(visibleText(text, this.outputColours.isColorSupported));
  }

  /** Writes the content of a file to standard output: as it is, unless a person looks at it. */
  async printFile(piece: string | Uint8Array): Promise<void> {
    const isShown = this.io.stdout.isTTY === true && typeof piece === 'string';
    await this.#printAll(isShown ? visibleText(piece) : piece);
  }

  /** Writes to standard output, waiting while it is full. */
  async #printAll(text: string | Uint8Array): Promise<void> {
    if (this.outputClosed || this.io.stdout.write(text)) return;
    const stop = new AbortController();
    const { signal } = stop;
    // A reader that leaves closes the stream and it never drains.
    await Promise.race([
      once(this.io.stdout, 'drain', { signal }),
      once(this.io.stdout, 'close', { signal }),
    ]).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
    stop.abort();
  }

  async printJson(value: unknown): Promise<void> {
    await this.print(`${JSON.stringify(value)}\n`);
  }

  /** Prints a result as JSON, or else its text. */
  async printResult(json: boolean | undefined, value: unknown, text: () => string): Promise<void> {
    await this.print(`${json ? JSON.stringify(value) : text()}\n`);
  }

  /** What the user must know even if the rest is quiet. */
  warn(message: string): void {
    this.say(`${this.colours.yellow('warning:')} ${visibleText(message)}`);
  }

  note(message: string): void {
    this.say(`note: ${visibleText(message)}`);
  }

  error(message: string): void {
    const { bold, red } = this.colours;
    this.say(`${bold(red('dso:'))} ${red(visibleText(message))}`);
  }
}

/** A standard stream: its size and whether it is a terminal are known only for terminals. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** Everything of the process that a command touches, so that it can run inside another one. */
export interface Io {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How to call the program from the current folder, for hints. */
  readonly command: string;
  /** Calls the listener on every such signal until the returned function is called. */
  onSignal(listener: (signal: InterruptSignal) => void): () => void;
  exit(code: number): void;
}

export function processIo(): Io {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    command: commandOf(process.argv[1]),
    onSignal(listener) {
      const handler = withoutEcho(listener);
      const signals = Object.keys(signalExitCodes);
      for (const signal of signals) process.on(signal, handler);
      return () => {
        for (const signal of signals) process.off(signal, handler);
      };
    },
    exit: (code) => process.exit(code),
  };
}

/**
 * Ctrl-C reaches every process of a terminal: this one, and the one that started it with another
 * Node (bin/dso.js) and forwards what it gets. Both copies arrive within milliseconds and count once.
 */
function withoutEcho(listener: (signal: InterruptSignal) => void): (signal: string) => void {
  const echo = 200;
  const last = new Map<string, number>();
  return (signal) => {
    const now = performance.now();
    const repeated = now - (last.get(signal) ?? -Infinity) < echo;
    last.set(signal, now);
    if (!repeated) listener(signal as InterruptSignal);
  };
}

/** `dso` where it is installed; a checkout is called by its file. */
function commandOf(script: string): string {
  return basename(script) === 'dso' ? 'dso' : `node ${relative('', script)}`;
}

/**
 * Milliseconds in which rank 0 may report what is wrong everywhere before another rank does, though
 * it starts late on a busy machine. MPICH's launcher does not end a process for another's failure
 * to begin: there all report, and waiting is mostly in vain.
 */
const reportDelay: Readonly<Record<Flavour, number>> = { openmpi: 10_000, mpich: 2000 };

/**
 * Whether this process may still report after some time, or when it is its `turn`. Open MPI's
 * launcher begins the end of a job, whatever the reason, by waking all processes that may have been
 * stopped.
 */
export function mayReport(milliseconds: number, turn?: Promise<void>): Promise<boolean> {
  const stop = new AbortController();
  const { signal } = stop;
  return Promise.race([
    once(process, 'SIGCONT', { signal }).then(() => false),
    sleep(milliseconds, true, { signal }),
    ...(turn ? [turn.then(() => true)] : []),
  ]).finally(() => stop.abort());
}

/** Open MPI's launcher ends rank 0, perhaps before it has reported, when another one has failed. */
export async function rankZeroReported({ flavour }: Launch): Promise<void> {
  if (flavour === 'openmpi') await mayReport(reportDelay.openmpi);
}

/**
 * Reports that a process could not even begin. Under a launcher all processes have the same command
 * line, and most faults are common: once rank 0 has reported and ended, the launcher ends the others
 * before they repeat it. MPICH's lets them continue: there they do not report a fault of the command
 * line, which is `common`.
 */
export async function explainError(
  message: string,
  terminal: Terminal,
  common: boolean,
): Promise<void> {
  const launch = launchOf(terminal.io.environment);
  if (!launch || launch.rank === 0) {
    terminal.error(message);
    return;
  }
  const { flavour } = launch;
  if ((common && flavour === 'mpich') || !(await mayReport(reportDelay[flavour]))) return;
  const name = `rank ${launch.rank} on ${hostname()}`;
  terminal.error(message.startsWith(name) ? message : `${name}: ${message}`);
}

/** What the shell sees; `dso --help` lists them. */
export const exitCodes = {
  done: 0,
  failure: 1,
  usage: 2,
  data: 3,
  unfinished: 4,
  /** A process of an MPI job stopped answering. */
  lost: 5,
} as const;

/** 128 + the number of the signal, as shells count. */
export const signalExitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

export type InterruptSignal = keyof typeof signalExitCodes;

export function exitCodeOfError(error: unknown): number {
  return error instanceof DsoError ? exitCodes[error.kind] : exitCodes.failure;
}

export function exitCodeOfStop(stopped: StopReason, signal: InterruptSignal | undefined): number {
  if (stopped === 'converged' || stopped === 'early-stop') return exitCodes.done;
  return stopped === 'interrupted' ? signalExitCodes[signal ?? 'SIGINT'] : exitCodes.unfinished;
}

/** Reports what fails repeatedly, such as a folder that cannot be read, only once. */
export function onceEach(say: (message: string) => void): (error: unknown) => void {
  const said = new Set<string>();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    if (!said.has(message)) say(message);
    said.add(message);
  };
}
