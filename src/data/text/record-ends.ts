import { isBlankLine } from './records.ts';

const newline = 10;
const quoteMark = 34;

/** A record with a longer value in quotes is taken for one whose quote is never closed. */
export const longestRecord = 1 << 26;

/**
 * Where the last whole record of a block of CSV ends, which begins with a record; 0 if there is
 * none. A line end counts if the number of quotes in front of it is even.
 */
export function lastRecordEnd(block: Uint8Array): number {
  if (!block.includes(quoteMark)) return block.lastIndexOf(newline) + 1;
  const end = recordEnds(block, Number.POSITIVE_INFINITY).end;
  if (end > 0 || block.length < longestRecord) return end;
  return block.lastIndexOf(newline) + 1;
}

/**
 * Counts the records of a block, up to a number of them; `end` is behind the last one. Blank lines
 * are none.
 */
export function recordEnds(block: Uint8Array, most: number): { records: number; end: number } {
  let records = 0;
  let end = 0;
  let inside = false;
  for (let place = 0; place < block.length; place += 1) {
    const byte = block[place];
    if (byte === quoteMark) inside = !inside;
    else if (byte === newline && !inside) {
      if (!isBlankLine(block, end)) records += 1;
      end = place + 1;
      if (records === most) break;
    }
  }
  return { records, end };
}
