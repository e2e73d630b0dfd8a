import { Buffer, isUtf8 } from 'node:buffer';
import { grown } from '../dataset.ts';
import { LineError } from '../read/line-error.ts';

const newline = 10;

export const notUtf8 = 'not UTF-8 text; expected that encoding (iconv makes it)';

/** Bytes start … end - 1 as a text; they may be in shared memory. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

/** The scanners rely on a last line end; and a plain Uint8Array keeps their code monomorphic. */
export function endWithNewline(text: Uint8Array): Uint8Array {
  if (text.length === 0 || text[text.length - 1] === newline) {
    return new Uint8Array(text.buffer, text.byteOffset, text.length);
  }
  const bytes = new Uint8Array(text.length + 1);
  bytes.set(text);
  bytes[text.length] = newline;
  return bytes;
}

/** Names of another encoding would become the same question marks: better none of them. */
export function checkEncoding(text: Uint8Array): void {
  if (isUtf8(text)) return;
  let line = 1;
  for (let start = 0; start < text.length; line += 1) {
    const found = text.indexOf(newline, start);
    const end = found < 0 ? text.length : found;
    if (!isUtf8(text.subarray(start, end))) break;
    start = end + 1;
  }
  throw new LineError(line, notUtf8);
}

const carriageReturn = 13;
const quoteMark = 34;

/** Finds the values of one record of CSV after the other; there must be a line end at the end. */
export class RecordSplitter {
  /** Where the values of the last record begin and end, without their quotes. */
  starts = new Int32Array(64);
  ends = new Int32Array(64);
  count = 0;
  /** Lines that the last record takes: more than one if there are line ends inside of quotes. */
  lines = 0;
  readonly #delimiter: number;

  constructor(delimiter: number) {
    this.#delimiter = delimiter;
  }

  /** Splits the record that begins at a position; returns the position behind its line end. */
  split(bytes: Uint8Array, start: number, line: number): number {
    const delimiter = this.#delimiter;
    let position = start;
    this.count = 0;
    this.lines = 1;
    for (;;) {
      let byte = bytes[position];
      if (byte === quoteMark) position = this.#quoted(bytes, position, line);
      else {
        const from = position;
        while (byte !== delimiter && byte !== newline && byte !== quoteMark) {
          position += 1;
          byte = bytes[position];
        }
        if (byte === quoteMark) {
          throw new LineError(
            line,
            'a quote inside a value that does not start with one; expected the value in quotes, and its own quotes twice',
          );
        }
        const ended = byte === newline && position > from && bytes[position - 1] === carriageReturn;
        this.#add(from, ended ? position - 1 : position);
      }
      position += 1;
      if (bytes[position - 1] === newline) return position;
    }
  }

  /** The last record's value, as a text. */
  text(bytes: Uint8Array, field: number): string {
    const start = this.starts[field];
    const text = textOf(bytes, start, this.ends[field]);
    const isQuoted = start > 0 && bytes[start - 1] === quoteMark;
    return isQuoted ? text.replaceAll('""', '"') : text;
  }

  /** A value in quotes; returns the position of the delimiter or line end behind it. */
  #quoted(bytes: Uint8Array, start: number, line: number): number {
    const from = start + 1;
    let position = from;
    for (; ; position += 1) {
      const byte = bytes[position];
      if (byte === newline) {
        if (position + 1 >= bytes.length) throw new LineError(line, 'a quote that is never closed');
        this.lines += 1;
      }
      if (byte !== quoteMark) continue;
      if (bytes[position + 1] !== quoteMark) break;
      position += 1;
    }
    this.#add(from, position);
    position += 1;
    if (bytes[position] === carriageReturn && bytes[position + 1] === newline) position += 1;
    if (bytes[position] === newline || bytes[position] === this.#delimiter) return position;
    throw new LineError(line, 'text behind a closing quote; expected the end of the value');
  }

  #add(start: number, end: number): void {
    if (this.count === this.starts.length) {
      this.starts = grown(this.starts, 2 * this.count);
      this.ends = grown(this.ends, 2 * this.count);
    }
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.count += 1;
  }
}

/** Whether nothing but blanks is on the line that begins at a position. */
export function isBlankLine(bytes: Uint8Array, start: number): boolean {
  let position = start;
  while (bytes[position] === 32 || bytes[position] === carriageReturn) position += 1;
  return bytes[position] === newline;
}

/** In a longer record, a quote counts as never closed. */
export const longestRecord = 1 << 26;

/** Where the last whole record of a block ends, behind an even number of quotes; 0 if none does. */
export function lastRecordEnd(block: Uint8Array): number {
  if (!block.includes(quoteMark)) return block.lastIndexOf(newline) + 1;
  const end = recordEnds(block, Number.POSITIVE_INFINITY).end;
  if (end > 0 || block.length < longestRecord) return end;
  return block.lastIndexOf(newline) + 1;
}

/** Counts records up to `most`; `end` is behind the last one. Blank lines do not count. */
export function recordEnds(block: Uint8Array, most: number): { records: number; end: number } {
  let records = 0;
  let end = 0;
  let inside = false;
  for (let position = 0; position < block.length; position += 1) {
    const byte = block[position];
    if (byte === quoteMark) inside = !inside;
    else if (byte === newline && !inside) {
      if (!isBlankLine(block, end)) records += 1;
      end = position + 1;
      if (records === most) break;
    }
  }
  return { records, end };
}
