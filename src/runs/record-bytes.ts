import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { parseLine } from '../reporting/records/lines.ts';
import type { RunLine } from '../reporting/records/record.ts';
import { type Outline, take } from './outline.ts';

const newline = 10;

/** How much is read of either end at first, and at most, to find the lines that a list shows. */
const chunk = 2 ** 14;
const most = 2 ** 22;

/** Opens a file and closes it again; undefined if it is none, is gone or cannot be read. */
export function withFile<Result>(
  path: string,
  use: (file: number, stats: Stats) => Result,
): Result | undefined {
  let file: number | undefined;
  try {
    // A pipe of that name would not let go of the process otherwise; Windows has none.
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
export function outlineOf(file: number, size: number): Outline {
  const outline: Outline = {};
  for (const line of firstLines(file, size)) take(outline, line);
  for (const line of lastLines(file, size)) take(outline, line);
  return outline;
}

/** The lines up to that which says that training begins, or that it has begun. */
function firstLines(file: number, size: number): RunLine[] {
  for (let length = chunk; ; length *= 2) {
    const bytes = readRange(file, 0, Math.min(length, size));
    const found: RunLine[] = [];
    let begin = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, begin)) {
      const line = parseLine(bytes, begin, end);
      if (line?.event === 'begin') return [...found, line];
      if (line && line.event !== 'start' && line.event !== 'notice') return found;
      if (line) found.push(line);
      begin = end + 1;
    }
    if (length >= Math.min(size, most)) return found;
  }
}

/** The lines from the newest that tells how far training has come. */
function lastLines(file: number, size: number): RunLine[] {
  for (let length = chunk; ; length *= 2) {
    const from = Math.max(0, size - length);
    const bytes = readRange(file, from, size);
    const found: RunLine[] = [];
    let end = bytes.lastIndexOf(newline);
    while (end >= 0) {
      const before = end === 0 ? -1 : bytes.lastIndexOf(newline, end - 1);
      // The first line of the bytes has a beginning only if they are the beginning of the file.
      if (before < 0 && from > 0) break;
      const line = parseLine(bytes, before + 1, end);
      if (line) found.unshift(line);
      if (line && ['epoch', 'report', 'begin', 'start'].includes(line.event)) return found;
      end = before;
    }
    if (from === 0 || length >= most) return found;
  }
}
