import { closeSync, openSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs';
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

  /** `more`: the log may be there already, of the run up to some epoch, and goes on. */
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
      this.#file ??= this.#open(event);
      writeSync(this.#file, line);
    } catch (error) {
      this.#failed = true;
      this.#onFailure(`the log ends here: ${(error as Error).message}`);
    }
  }

  #open(event: object): number {
    const epoch = 'epoch' in event ? Number(event.epoch) : Infinity;
    if (this.#mode === 'a') cutFrom(this.#path, epoch);
    return openSync(this.#path, this.#mode);
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

/**
 * Takes away the lines of this epoch and later ones, and one that was not written to its end: they
 * are of a process that was killed after its last checkpoint, and come again.
 */
function cutFrom(path: string, epoch: number): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  const text = readFileSync(path);
  let kept = 0;
  for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, kept)) {
    if (epochOf(text.toString('utf8', kept, end)) >= epoch) break;
    kept = end + 1;
  }
  if (kept < text.length) truncateSync(path, kept);
}

/** −1 for a line that is not about an epoch. */
function epochOf(line: string): number {
  try {
    const { event, epoch } = JSON.parse(line) as { event?: unknown; epoch?: unknown };
    return event === 'epoch' && typeof epoch === 'number' ? epoch : -1;
  } catch {
    return -1;
  }
}
