import { crc32 } from 'node:zlib';
import { countLines } from '../read/byte-blocks.ts';
import {
  damaged,
  type EncodedSection,
  failure,
  padded,
  type SectionLocation,
  sealSection,
  sectionHeaderBytes,
  viewOf,
} from './layout.ts';

/** Columns are counted in pages, which are allocated with their first entry. */
const pageBits = 10;
const pageColumns = 1 << pageBits;
/** The approximate limit of a section. */
const sectionBytes = 1 << 22;

/** Counts the entries of every column, in memory that grows with the columns that occur. */
export class ColumnCounter {
  /** Tables of pages: 2^20 columns a table. */
  readonly #tables: (Uint32Array | undefined)[][] = Array.from({ length: 1 << 12 }, () => []);

  add(indices: Int32Array, entries: number): void {
    const tables = this.#tables;
    for (let entry = 0; entry < entries; entry += 1) {
      const column = indices[entry];
      const table = tables[column >>> (2 * pageBits)];
      const number = (column >>> pageBits) & (pageColumns - 1);
      const page = number < table.length ? table[number] : undefined;
      (page ?? newPage(table, number))[column & (pageColumns - 1)] += 1;
    }
  }

  /** Sections of runs: a page each, without the zeros at either end. */
  *sections(): Generator<EncodedSection> {
    let runs: CountedRun[] = [];
    let bytes = 0;
    for (const run of this.#runs()) {
      runs.push(run);
      bytes += 8 + 4 * run.counts.length;
      if (bytes < sectionBytes) continue;
      yield encodeCounts(runs, bytes);
      runs = [];
      bytes = 0;
    }
    if (runs.length > 0) yield encodeCounts(runs, bytes);
  }

  *#runs(): Generator<CountedRun> {
    for (const [high, table] of this.#tables.entries()) {
      for (const [low, counts] of table.entries()) {
        if (counts === undefined) continue;
        let from = 0;
        let to = pageColumns;
        while (counts[from] === 0) from += 1;
        while (counts[to - 1] === 0) to -= 1;
        const first = ((high << pageBits) + low) * pageColumns + from;
        yield { first, counts: counts.subarray(from, to) };
      }
    }
  }
}

function newPage(table: (Uint32Array | undefined)[], number: number): Uint32Array {
  // Without holes, which make an array slow.
  while (table.length <= number) table.push(undefined);
  const page = new Uint32Array(pageColumns);
  table[number] = page;
  return page;
}

/** Counts of the columns first, first + 1, …; columns in no run have no entries. */
export interface CountedRun {
  readonly first: number;
  readonly counts: Uint32Array;
}

function encodeCounts(runs: readonly CountedRun[], used: number): EncodedSection {
  const bytes = new Uint8Array(sectionHeaderBytes + padded(used));
  const view = viewOf(bytes);
  let position = sectionHeaderBytes;
  let entries = 0;
  for (const { first, counts } of runs) {
    view.setUint32(position, first, true);
    view.setUint32(position + 4, counts.length, true);
    position += 8;
    for (const count of counts) {
      view.setUint32(position, count, true);
      position += 4;
    }
    entries += counts.length;
  }
  const { first } = runs[0];
  return sealSection(bytes, { kind: 'COLS', first, count: runs.length, entries, used });
}

export function decodeCounts({ header, offset }: SectionLocation, body: Uint8Array): CountedRun[] {
  const { first, count, entries, used } = header;
  const fail = failure(offset, `the section of counts of columns from ${first + 1}`);
  if (crc32(body) !== header.checksum || header.headChecksum !== 0) fail(damaged('its counts'));
  if (padded(used) !== header.length || used !== 8 * count + 4 * entries) {
    fail(`${used} bytes for ${count} runs of ${entries} columns`);
  }
  const view = viewOf(body);
  const runs: CountedRun[] = [];
  let next = first;
  let position = 0;
  for (let run = 0; run < count; run += 1) {
    const start = position + 8 <= used ? view.getUint32(position, true) : -1;
    const length = position + 8 <= used ? view.getUint32(position + 4, true) : 0;
    position += 8;
    if (start < next || position + 4 * length > used) fail(`its run ${run + 1} does not fit`);
    const counts = new Uint32Array(length);
    for (let column = 0; column < length; column += 1, position += 4) {
      counts[column] = view.getUint32(position, true);
    }
    runs.push({ first: start, counts });
    next = start + length;
  }
  if (position !== used) fail(`its runs take ${position} bytes; expected ${used}`);
  return runs;
}

const newline = 10;
const carriageReturn = 13;

/** Names of the features `first` (from 0) and following, a line of UTF-8 each. */
export function encodeNames(first: number, lines: Uint8Array): EncodedSection {
  const used = lines.length;
  const bytes = new Uint8Array(sectionHeaderBytes + padded(used));
  bytes.set(lines, sectionHeaderBytes);
  return sealSection(bytes, { kind: 'NAME', first, count: countLines(lines), entries: 0, used });
}

export function decodeNames({ header, offset }: SectionLocation, body: Uint8Array): Uint8Array {
  const { first, count, used, length } = header;
  const fail = failure(offset, `the section of names from ${first + 1}`);
  if (crc32(body) !== header.checksum || header.headChecksum !== 0) fail(damaged('its text'));
  const lines = body.subarray(0, used);
  if (padded(used) !== length || lines.at(-1) !== newline || countLines(lines) !== count) {
    fail(`its text is not ${count} lines`);
  }
  return lines;
}

/** Whole lines that end with a line feed each, however they ended before. */
export function plainLines(text: Uint8Array): Uint8Array {
  const ended = text.at(-1) === newline;
  if (ended && !text.includes(carriageReturn)) return text;
  const lines = new Uint8Array(text.length + 1);
  let length = 0;
  for (let position = 0; position < text.length; position += 1) {
    const next = position + 1 < text.length ? text[position + 1] : newline;
    if (text[position] === carriageReturn && next === newline) continue;
    lines[length++] = text[position];
  }
  if (!ended) lines[length++] = newline;
  return lines.subarray(0, length);
}
