import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { recordPath } from './folder.ts';
import { lineRanges, newline, parseLine } from './lines.ts';
import type { RunLine } from './record.ts';
import { RunView } from './run-view.ts';

/** Bytes read of either end at first, and at most, to find the lines that a list shows. */
const chunk = 2 ** 14;
const most = 2 ** 22;

/** Opens a file and closes it again; undefined if it is no file, is gone or cannot be read. */
export function withFile<Result>(
  path: string,
  use: (file: number, stats: Stats) => Result,
): Result | undefined {
  let file: number | undefined;
  try {
    // Opening a pipe of that name would block the process otherwise; Windows has none.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    return stats.isFile() ? use(file, stats) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The bytes of a file in a range, as far as there are any. */
export function readRange(file: number, begin: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - begin));
  let filled = 0;
  while (filled < bytes.length) {
    const read = readSync(file, bytes, filled, bytes.length - filled, begin + filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

/** What a list shows of a record: its first lines and its last, however long it is. */
export function outlineOf(id: string, file: number, size: number): RunView {
  const view = new RunView(id);
  for (const line of [...firstLines(file, size), ...lastLines(file, size)]) view.add(line);
  return view;
}

/** The lines up to the beginning of training. */
function firstLines(file: number, size: number): RunLine[] {
  for (let length = chunk; ; length *= 2) {
    const bytes = readRange(file, 0, Math.min(length, size));
    const found: RunLine[] = [];
    for (const [begin, end] of lineRanges(bytes)) {
      const line = parseLine(bytes, begin, end);
      if (line?.event === 'begin') return [...found, line];
      if (line && line.event !== 'start' && line.event !== 'notice') return found;
      if (line) found.push(line);
    }
    if (length >= Math.min(size, most)) return found;
  }
}

/** The lines from the newest epoch or report on. */
function lastLines(file: number, size: number): RunLine[] {
  for (let length = chunk; ; length *= 2) {
    const from = Math.max(0, size - length);
    const bytes = readRange(file, from, size);
    const found: RunLine[] = [];
    // The first line of the bytes is whole only at the start of the file.
    const whole = [...lineRanges(bytes)].slice(from > 0 ? 1 : 0);
    for (const [begin, end] of whole.reverse()) {
      const line = parseLine(bytes, begin, end);
      if (line) found.unshift(line);
      if (line && ['epoch', 'report', 'begin', 'start'].includes(line.event)) return found;
    }
    if (from === 0 || length >= most) return found;
  }
}

interface LineFileOptions {
  /** Opens the file for writing, once. */
  readonly open: () => number;
  /** How long lines may wait for others, in milliseconds. */
  readonly delay: number;
  /** Called once; nothing is written afterwards. */
  readonly onFailure: (error: unknown, state: 'new' | 'empty' | 'open') => void;
}

/** Characters that wait at most. */
const fullness = 2 ** 16;

/** A file that grows line by line. A failure ends it and nothing else. */
export class LineFile {
  readonly #options: LineFileOptions;
  #state: 'new' | 'empty' | 'open' | 'closed' = 'new';
  #file: number | undefined;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LineFileOptions) {
    this.#options = options;
  }

  /** Adds a line. Before the file is open it waits. */
  append(line: object): void {
    if (this.#state === 'closed') return;
    this.#waiting += `${JSON.stringify(line)}\n`;
    if (this.#state === 'new') return;
    const { delay } = this.#options;
    if (delay === 0 || this.#waiting.length > fullness) this.#flush();
    else this.#timer ??= setTimeout(this.#flush, delay).unref();
  }

  /** Opens the file, once, and writes what waits. */
  open(): void {
    if (this.#state !== 'new') return;
    try {
      this.#file = this.#options.open();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#state = 'empty';
    // The process may end without closing the file, such as by a second Ctrl-C.
    process.once('exit', this.#flush);
    this.#flush();
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
      this.#state = 'open';
    } catch (error) {
      this.#fail(error);
    }
  };

  #fail(error: unknown): void {
    const state = this.#state;
    this.#end();
    if (state !== 'closed') this.#options.onFailure(error, state);
  }

  #end(): void {
    this.#state = 'closed';
    this.#waiting = '';
    clearTimeout(this.#timer);
    process.off('exit', this.#flush);
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    try {
      closeSync(file);
    } catch {
      // Some file systems report only now that the disk is full; what was written stays.
    }
  }
}

/** The most bytes of one call: the rest waits for the next one. */
const mostAtOnce = 2 ** 20;

/** Follows a record as it grows. */
export class RunTail {
  readonly #path: string;
  #offset = 0;
  /** Whether the offset is inside a line that is too long to belong to a record. */
  #isInside = false;

  /** From the first line of the record, or from the end that it has now. */
  constructor(folder: string, id: string, from: 'start' | 'end' = 'start') {
    this.#path = recordPath(folder, id);
    if (from === 'end') withFile(this.#path, (file, { size }) => this.#goToEnd(file, size));
  }

  /** The whole lines since the last call, up to a limit per call. */
  read(): RunLine[] {
    return (
      withFile(this.#path, (file, { size }) => {
        // Another file has replaced it.
        if (size < this.#offset) [this.#offset, this.#isInside] = [0, false];
        if (size === this.#offset) return [];
        return this.#take(readRange(file, this.#offset, Math.min(size, this.#offset + mostAtOnce)));
      }) ?? []
    );
  }

  #take(bytes: Buffer): RunLine[] {
    const lines: RunLine[] = [];
    let read = 0;
    for (const [begin, end] of lineRanges(bytes)) {
      const line = this.#isInside ? undefined : parseLine(bytes, begin, end);
      this.#isInside = false;
      if (line) lines.push(line);
      read = end + 1;
    }
    if (read === 0 && (this.#isInside || bytes.length === mostAtOnce)) {
      this.#isInside = true;
      read = bytes.length;
    }
    this.#offset += read;
    return lines;
  }

  /** Behind the last whole line; the line that is being written follows later. */
  #goToEnd(file: number, size: number): void {
    const from = Math.max(0, size - mostAtOnce);
    const last = readRange(file, from, size).lastIndexOf(newline);
    this.#offset = last < 0 ? size : from + last + 1;
    this.#isInside = last < 0 && size > 0;
  }
}
