import { recordPath } from '../reporting/records/folder.ts';
import { parseLine } from '../reporting/records/lines.ts';
import type { RunLine } from '../reporting/records/record.ts';
import { readRange, withFile } from './record-bytes.ts';

const newline = 10;

/** The most bytes of one call: the rest waits for the next one. */
const most = 2 ** 20;

/** Follows a record as it grows. */
export class RunTail {
  readonly #path: string;
  #offset = 0;
  /** Whether the offset is inside of a line that is too long to be one of ours. */
  #isInside = false;

  /** From the first line of the record, or from the end that it has now. */
  constructor(folder: string, id: string, from: 'start' | 'end' = 'start') {
    this.#path = recordPath(folder, id);
    if (from === 'end') withFile(this.#path, (file, { size }) => this.#goToEnd(file, size));
  }

  /** The whole lines since the last call, as far as they are not too many for one. */
  read(): RunLine[] {
    return (
      withFile(this.#path, (file, { size }) => {
        if (size < this.#offset) this.#restart();
        if (size === this.#offset) return [];
        return this.#take(readRange(file, this.#offset, Math.min(size, this.#offset + most)));
      }) ?? []
    );
  }

  /** Somebody has put another file in its place. */
  #restart(): void {
    this.#offset = 0;
    this.#isInside = false;
  }

  #take(bytes: Buffer): RunLine[] {
    const lines: RunLine[] = [];
    let begin = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, begin)) {
      const line = this.#isInside ? undefined : parseLine(bytes, begin, end);
      this.#isInside = false;
      if (line) lines.push(line);
      begin = end + 1;
    }
    if (begin === 0 && (this.#isInside || bytes.length === most)) {
      this.#isInside = true;
      begin = bytes.length;
    }
    this.#offset += begin;
    return lines;
  }

  /** Behind the last whole line: that which is being written is still to come. */
  #goToEnd(file: number, size: number): void {
    const from = Math.max(0, size - most);
    const last = readRange(file, from, size).lastIndexOf(newline);
    this.#offset = last < 0 ? size : from + last + 1;
    this.#isInside = last < 0 && size > 0;
  }
}
