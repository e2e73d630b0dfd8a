import { basename, relative } from 'node:path';
import type { Writable } from 'node:stream';
import type { InterruptSignal } from './exit-codes.ts';

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
  /** Ends the process at once. */
  exit(code: number): void;
}

/** The real process. */
export function processIo(): Io {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    command: commandOf(process.argv[1]),
    onSignal(listener) {
      const interrupt = (): void => listener('SIGINT');
      const terminate = (): void => listener('SIGTERM');
      process.on('SIGINT', interrupt);
      process.on('SIGTERM', terminate);
      return () => {
        process.off('SIGINT', interrupt);
        process.off('SIGTERM', terminate);
      };
    },
    exit: (code) => process.exit(code),
  };
}

/** `dso` where it is installed; a checkout is called by its file. */
function commandOf(script: string): string {
  return basename(script) === 'dso' ? 'dso' : `node ${relative('', script)}`;
}
