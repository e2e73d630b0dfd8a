import { closeSync, openSync, readSync } from 'node:fs';

const newline = 10;
const lookAhead = 1 << 16;
const largestRead = 1 << 26;

/** Kept between ranges, one per thread: a fresh buffer would cost as much as reading the file. */
let buffer = new Uint8Array(0);

/** A file that gets shorter while it is being read. */
export class FileChanged extends Error {}

export interface FileRange {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  /** Size of the whole file. */
  readonly size: number;
}

/**
 * The lines whose first byte lies in [start, end), whole, the last one with a line end. The bytes
 * are valid until the next call.
 */
export function readLines(range: FileRange): Uint8Array {
  const file = openSync(range.path, 'r');
  try {
    // The byte before the range tells whether a line starts with the range.
    const from = Math.max(0, range.start - 1);
    const inside = range.end - from;
    let filled = fill(file, from, 0, Math.min(inside + lookAhead, range.size - from));
    const first = range.start === 0 ? 0 : buffer.subarray(0, inside).indexOf(newline) + 1;
    if (first >= inside || (range.start > 0 && first === 0)) return buffer.subarray(0, 0);
    let last = buffer.subarray(0, filled).indexOf(newline, inside - 1);
    while (last < 0 && from + filled < range.size) {
      const step = Math.min(filled, largestRead, range.size - from - filled);
      const end = fill(file, from, filled, filled + step);
      last = buffer.subarray(0, end).indexOf(newline, filled);
      filled = end;
    }
    if (last >= 0) return buffer.subarray(first, last + 1);
    reserve(filled + 1);
    buffer[filled] = newline;
    return buffer.subarray(first, filled + 1);
  } finally {
    closeSync(file);
  }
}

/** Fills buffer[filled … target) from the file, which starts at `origin` in the buffer's terms. */
function fill(file: number, origin: number, filled: number, target: number): number {
  reserve(target);
  let position = filled;
  while (position < target) {
    const count = readSync(file, buffer, position, target - position, origin + position);
    if (count === 0) throw new FileChanged('the file became shorter while it was being read');
    position += count;
  }
  return position;
}

function reserve(length: number): void {
  if (buffer.length >= length) return;
  const larger = new Uint8Array(
    Math.max(length, Math.min(2 * buffer.length, length + largestRead)),
  );
  larger.set(buffer);
  buffer = larger;
}
