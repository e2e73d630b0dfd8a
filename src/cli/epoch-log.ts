import { closeSync, openSync, writeSync } from 'node:fs';
import { standardStream } from './outputs.ts';
import type { Terminal } from './terminal.ts';

/**
 * A file of JSON lines, one per epoch and one for the result. It is created by its first line, so
 * that a run refused because of its input touches no file. Training matters more than its log: a
 * disk that fills up ends the log and not the run.
 */
export class EpochLog {
  readonly #path: string;
  readonly #terminal: Terminal;
  readonly #onFailure: (message: string) => void;
  readonly #mode: 'w' | 'a';
  #file: number | undefined;
  #failed = false;

  /** `more`: lines are added to a log that is there already. */
  constructor(
    path: string,
    terminal: Terminal,
    onFailure: (message: string) => void,
    more = false,
  ) {
    this.#path = path;
    this.#mode = more ? 'a' : 'w';
    this.#terminal = terminal;
    this.#onFailure = onFailure;
  }

  write(event: object): void {
    const line = `${JSON.stringify(event)}\n`;
    if (this.#path === standardStream) {
      void this.#terminal.print(line);
      return;
    }
    if (this.#failed) return;
    try {
      this.#file ??= openSync(this.#path, this.#mode);
      writeSync(this.#file, line);
    } catch (error) {
      this.#failed = true;
      this.#onFailure(`the log ends here: ${(error as Error).message}`);
    }
  }

  /** Whether lines are missing. */
  get failed(): boolean {
    return this.#failed;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
