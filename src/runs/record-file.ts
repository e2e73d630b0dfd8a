import { closeSync, futimesSync, openSync, writeFileSync } from 'node:fs';
import { reasonOf } from '../engine/checkpoint/folder.ts';
import {
  keptRuns,
  makeRunsFolder,
  recordPath,
  removeIfPossible,
} from '../reporting/records/folder.ts';
import { silence } from './outline.ts';
import { pruneRuns } from './prune.ts';

/** How long lines wait for others, in milliseconds, and how many characters of them at most. */
const patience = 100;
const fullness = 2 ** 16;

/**
 * The file of a record, which grows line by line. Whatever goes wrong with it ends the record with
 * one message, and nothing else.
 */
export class RecordFile {
  readonly #folder: string;
  readonly #path: string;
  readonly #onFailure: (message: string) => void;
  #state: 'new' | 'open' | 'closed' = 'new';
  #file: number | undefined;
  #isEmpty = true;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;
  #signs: NodeJS.Timeout | undefined;

  constructor(folder: string, id: string, onFailure: (message: string) => void) {
    this.#folder = folder;
    this.#path = recordPath(folder, id);
    this.#onFailure = onFailure;
  }

  /** Adds a line, which is in the file a moment later; before the file is made, it waits for that. */
  append(text: string): void {
    if (this.#state === 'closed') return;
    this.#waiting += `${text}\n`;
    if (this.#state === 'new') return;
    if (this.#waiting.length > fullness) this.#flush();
    else this.#timer ??= setTimeout(this.#flush, patience).unref();
  }

  /** Makes the file, once, with what is waiting for it. */
  open(): void {
    if (this.#state !== 'new') return;
    try {
      makeRunsFolder(this.#folder);
      this.#file = openSync(this.#path, 'wx');
    } catch (error) {
      this.#end();
      this.#onFailure(`this run is not recorded: ${this.#folder}: ${openingReason(error)}`);
      return;
    }
    this.#state = 'open';
    // Somebody may end the process from far away, such as by a second Ctrl-C.
    process.once('exit', this.#flush);
    this.#signs = setInterval(this.#sign, (1000 * silence) / 5).unref();
    this.#flush();
    this.#prune();
  }

  close(): void {
    this.#flush();
    this.#end();
  }

  readonly #flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#file === undefined || this.#waiting === '') return;
    const text = this.#waiting;
    this.#waiting = '';
    try {
      writeFileSync(this.#file, text);
      this.#isEmpty = false;
    } catch (error) {
      this.#end();
      if (this.#isEmpty) removeIfPossible(this.#path);
      this.#onFailure(`the record of this run ends early: ${this.#path}: ${reasonOf(error)}`);
    }
  };

  /** Tells those on other machines that the run goes on, however long an epoch takes. */
  readonly #sign = (): void => {
    try {
      const now = new Date();
      futimesSync(this.#file!, now, now);
    } catch {
      // The disk is out of reach; the next line will say so.
    }
  };

  #prune(): void {
    try {
      pruneRuns(this.#folder, keptRuns);
    } catch {
      // The folder may be written to, but not be read.
    }
  }

  #end(): void {
    this.#state = 'closed';
    this.#waiting = '';
    clearTimeout(this.#timer);
    clearInterval(this.#signs);
    process.off('exit', this.#flush);
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    try {
      closeSync(file);
    } catch {
      // Some file systems tell only now that a line did not find room; what is there is kept.
    }
  }
}

function openingReason(error: unknown): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const isTaken = code === 'EEXIST' && syscall === 'open';
  return isTaken ? 'there is a record of its name already' : reasonOf(error);
}
