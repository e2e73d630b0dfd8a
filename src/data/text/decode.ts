import { Buffer, isUtf8 } from 'node:buffer';
import { LineError } from '../read/line-error.ts';

const newline = 10;

export const notUtf8 = 'not UTF-8 text; expected that encoding (iconv makes it)';

/** Bytes start … end - 1 as a text; they may lie on shared memory. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

/** Whole lines with a line end behind the last one. */
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
