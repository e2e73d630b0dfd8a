import { Writable } from 'node:stream';
import type { InterruptSignal, Io, OutputStream } from '../../src/apps/cli/terminal.ts';

/** A stream that collects what is written to it. */
class MemoryStream extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number;
  readonly #onText: (text: string) => void;

  constructor(isTTY: boolean, columns: number, onText: (text: string) => void = () => {}) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.columns = columns;
    this.#onText = onText;
  }

  override _write(chunk: string | Uint8Array, _: string, done: () => void): void {
    const text = chunk.toString();
    this.text += text;
    this.#onText(text);
    done();
  }
}

export interface MemoryIo extends Io {
  readonly stdout: OutputStream & { readonly text: string };
  readonly stderr: OutputStream & { readonly text: string };
  /** Codes that `exit` was called with. */
  readonly exits: number[];
  /** Delivers a signal to whoever listens. */
  send(signal: InterruptSignal): void;
}

export interface MemoryIoOptions {
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly environment?: Record<string, string>;
  /** Hears what goes to standard error before the command continues. */
  readonly onError?: (text: string) => void;
}

/** A process for a command to run in, with its output in memory. */
export function memoryIo(options: MemoryIoOptions = {}): MemoryIo {
  const { terminal = false, columns = 80, environment = {}, onError } = options;
  const listeners = new Set<(signal: InterruptSignal) => void>();
  const exits: number[] = [];
  return {
    stdout: new MemoryStream(terminal, columns),
    stderr: new MemoryStream(terminal, columns, onError),
    environment: { DSO_NO_RECORD: '1', ...environment },
    command: 'dso',
    exits,
    onSignal(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    send(signal) {
      for (const listener of listeners) listener(signal);
    },
    exit: (code) => void exits.push(code),
  };
}
