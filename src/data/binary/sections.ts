import { crc32 } from 'node:zlib';
import { largestIndex } from '../read/line-error.ts';
import {
  Damage,
  damaged,
  decodeSectionHeader,
  encodeSectionHeader,
  fileHeaderBytes,
  type SectionHeader,
  type SectionKind,
  sectionHeaderBytes,
  setWide,
  viewOf,
  wideAt,
} from './layout.ts';

export interface EncodedSection {
  readonly header: SectionHeader;
  /** Header and all. */
  readonly bytes: Uint8Array;
}

/** A section as the index knows it. */
export interface SectionPlace {
  readonly offset: number;
  readonly header: SectionHeader;
}

/** Sizes of the whole data set. */
export interface Totals {
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  readonly names: number;
}

export interface BinaryIndex {
  readonly totals: Totals;
  /** All sections but the index, in the order of the file. */
  readonly sections: readonly SectionPlace[];
}

const totalsBytes = 40;
const placeBytes = 8 + sectionHeaderBytes;

export function encodeIndex({ totals, sections }: BinaryIndex): EncodedSection {
  const length = totalsBytes + placeBytes * sections.length;
  const bytes = new Uint8Array(sectionHeaderBytes + length);
  const view = viewOf(bytes);
  let place = sectionHeaderBytes;
  const { rows, columns, nonzeros, names } = totals;
  for (const total of [rows, columns, nonzeros, names, sections.length]) {
    setWide(view, place, total);
    place += 8;
  }
  for (const { offset, header } of sections) {
    setWide(view, place, offset);
    bytes.set(encodeSectionHeader(header), place + 8);
    place += placeBytes;
  }
  const header: SectionHeader = {
    kind: 'INDX',
    flags: 0,
    length,
    first: 0,
    count: sections.length,
    entries: 0,
    used: 0,
    headChecksum: 0,
    checksum: crc32(bytes.subarray(sectionHeaderBytes)),
  };
  bytes.set(encodeSectionHeader(header));
  return { header, bytes };
}

/** The index whose section begins at `offset`, checked against itself and its place in the file. */
export function decodeIndex(header: SectionHeader, body: Uint8Array, offset: number): BinaryIndex {
  const { kind, count, length } = header;
  const fail = failure(offset);
  if (kind !== 'INDX') fail(`a section of kind ${kind} in its place`);
  if (crc32(body) !== header.checksum) fail(damaged('the index'));
  const view = viewOf(body);
  const [rows, columns, nonzeros, names, listed] = [0, 8, 16, 24, 32].map((place) =>
    wideAt(view, place),
  );
  if (listed !== count || length !== totalsBytes + placeBytes * count) {
    fail(`${length} bytes for ${count} sections`);
  }
  const sections = Array.from({ length: count }, (_, number): SectionPlace => {
    const place = totalsBytes + placeBytes * number;
    const bytes = body.subarray(place + 8, place + placeBytes);
    const at = offset + sectionHeaderBytes + place + 8;
    return { offset: wideAt(view, place), header: decodeSectionHeader(bytes, at) };
  });
  const index = { totals: { rows, columns, nonzeros, names }, sections };
  checkIndex(index, offset);
  return index;
}

function failure(offset: number): (message: string) => never {
  return (message) => {
    throw new Damage(offset, `the index of the file: ${message}`);
  };
}

/** Sections lie side by side, in order of their kinds, and add up to the totals. */
function checkIndex({ totals, sections }: BinaryIndex, indexOffset: number): void {
  const fail = failure(indexOffset);
  const order: readonly SectionKind[] = ['ROWS', 'NAME', 'COLS'];
  const sums = { rows: 0, nonzeros: 0, names: 0 };
  let next = fileHeaderBytes;
  let lastKind = 0;
  let nextColumn = 0;
  for (const [number, { offset, header }] of sections.entries()) {
    const { kind, first, count, entries } = header;
    const rank = order.indexOf(kind);
    if (offset !== next) fail(`section ${number + 1} at byte ${offset}; expected byte ${next}`);
    if (rank < lastKind) fail(`section ${number + 1} is of kind ${kind}, out of order`);
    const expected = kind === 'ROWS' ? sums.rows : kind === 'NAME' ? sums.names : first;
    if (first !== expected || first < (kind === 'COLS' ? nextColumn : 0)) {
      fail(`section ${number + 1} (${kind}) begins with number ${first}; expected ${expected}`);
    }
    if (kind === 'ROWS') sums.nonzeros += entries;
    if (kind === 'ROWS') sums.rows += count;
    if (kind === 'NAME') sums.names += count;
    if (kind === 'COLS') nextColumn = first + entries;
    lastKind = rank;
    next += sectionHeaderBytes + header.length;
  }
  if (next !== indexOffset) fail(`the sections end at byte ${next}; expected ${indexOffset}`);
  for (const what of ['rows', 'nonzeros', 'names'] as const) {
    if (sums[what] !== totals[what]) {
      fail(`its sections have ${sums[what]} ${what}; expected ${totals[what]}`);
    }
  }
  if (totals.columns > largestIndex + 1) fail(`${totals.columns} columns`);
}
