import { crc32 } from 'node:zlib';
import {
  Damage,
  damaged,
  encodeSectionHeader,
  padded,
  type SectionHeader,
  sectionHeaderBytes,
} from './layout.ts';
import type { EncodedSection } from './sections.ts';

const newline = 10;
const carriageReturn = 13;

/** Names of features from the one with number `first` (from 0) on, a line of UTF-8 each. */
export function encodeNames(first: number, lines: Uint8Array): EncodedSection {
  const length = padded(lines.length);
  const bytes = new Uint8Array(sectionHeaderBytes + length);
  bytes.set(lines, sectionHeaderBytes);
  const header: SectionHeader = {
    kind: 'NAME',
    flags: 0,
    length,
    first,
    count: countLines(lines),
    entries: 0,
    used: lines.length,
    headChecksum: 0,
    checksum: crc32(bytes.subarray(sectionHeaderBytes)),
  };
  bytes.set(encodeSectionHeader(header));
  return { header, bytes };
}

/** The lines of a section, as they were written. */
export function decodeNames(header: SectionHeader, body: Uint8Array, offset: number): Uint8Array {
  const { first, count, used, length } = header;
  const fail = (message: string): never => {
    throw new Damage(offset, `the section of names from ${first + 1}: ${message}`);
  };
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
  for (let place = 0; place < text.length; place += 1) {
    const next = place + 1 < text.length ? text[place + 1] : newline;
    if (text[place] === carriageReturn && next === newline) continue;
    lines[length++] = text[place];
  }
  if (!ended) lines[length++] = newline;
  return lines.subarray(0, length);
}

function countLines(lines: Uint8Array): number {
  let count = 0;
  for (let place = lines.indexOf(newline); place >= 0; place = lines.indexOf(newline, place + 1)) {
    count += 1;
  }
  return count;
}
