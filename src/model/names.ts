import { DataError } from '../errors.ts';

/**
 * Names of features as they lie in a model file: one JSON string per line. JSON has no newline
 * inside a string, so a newline always ends a name.
 */
const newline = 0x0a;

/** Names are turned into bytes so many at a time, and bytes into names. */
const namesTogether = 2 ** 16;
const bytesTogether = 2 ** 16;

/** The lines, in pieces to be written one after the other. */
export function encodeNames(names: readonly string[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < names.length; start += namesTogether) {
    let text = '';
    const end = Math.min(start + namesTogether, names.length);
    for (let index = start; index < end; index++) text += `${JSON.stringify(names[index])}\n`;
    pieces.push(Buffer.from(text));
  }
  return pieces;
}

/** The names in the lines; `columns` are wanted. `file` is for messages. */
export function decodeNames(bytes: Uint8Array, columns: number, file: string): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: string[] = [];
  let start = 0;
  while (start < buffer.length) {
    const end = endOfLine(buffer, start + bytesTogether);
    for (const name of parseLines(buffer.toString('utf8', start, end), names.length, file)) {
      names.push(name);
    }
    start = end;
  }
  if (names.length !== columns) {
    throw new DataError(
      `${file}: ${names.length} names of features; wanted one for each of ${columns} columns`,
    );
  }
  return names;
}

/** Behind the first newline at or after `from`, or the end. */
function endOfLine(buffer: Buffer, from: number): number {
  if (from >= buffer.length) return buffer.length;
  const found = buffer.indexOf(newline, from);
  return found < 0 ? buffer.length : found + 1;
}

/** Many lines as one list of JSON, which is several times as fast as line by line. */
function parseLines(lines: string, before: number, file: string): string[] {
  let names: unknown[] = [];
  try {
    if (lines.endsWith('\n')) names = JSON.parse(`[${lines.slice(0, -1).replaceAll('\n', ',')}]`);
  } catch {
    names = [];
  }
  if (names.length > 0 && names.every((name) => typeof name === 'string')) return names;
  throw new DataError(
    `${file}: the names of features from ${before + 1} on are not JSON strings, one per line`,
  );
}
