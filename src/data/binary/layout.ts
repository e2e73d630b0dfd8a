import { crc32 } from 'node:zlib';

/*
 * The frame of a .dsob file, little-endian; docs/data-format.md has every byte. A file header, then
 * sections, the last of which is the index, then a trailer that says where the index begins. The
 * length of every part is a multiple of eight, so that arrays can be used where they are.
 */

/** Not text, and damaged by whatever changes line ends: the first eight bytes of a file. */
export const magic = Uint8Array.from([0x89, 0x64, 0x73, 0x6f, 0x62, 0x0d, 0x0a, 0x1a]);
const version = 1;
export const fileHeaderBytes = 16;
export const sectionHeaderBytes = 48;
export const trailerBytes = 32;
const trailerTag = Uint8Array.from(Buffer.from('dsob end'));

export type SectionKind = 'ROWS' | 'NAME' | 'COLS' | 'INDX';

/** Flags of a section of rows. */
export const float64Values = 1;
export const packedIndices = 2;
export const weightedRows = 4;

const rowFlags = float64Values | packedIndices | weightedRows;

export interface SectionHeader {
  readonly kind: SectionKind;
  readonly flags: number;
  /** Bytes behind the header; a multiple of eight. */
  readonly length: number;
  /** Row, feature or column, from 0, that the section begins with. */
  readonly first: number;
  /** Rows, names, runs of columns, or sections in an index. */
  readonly count: number;
  /** Non-zeros of the rows; of columns, how many columns are counted. */
  readonly entries: number;
  /** Bytes that the indices of rows, or the text of names, take up before they are padded. */
  readonly used: number;
  /** CRC-32 of the labels, offsets and weights of rows; 0 in other sections. */
  readonly headChecksum: number;
  /** CRC-32 of everything else. */
  readonly checksum: number;
}

/** A section as the index lists it. */
export interface SectionLocation {
  readonly offset: number;
  readonly header: SectionHeader;
}

export interface EncodedSection {
  readonly header: SectionHeader;
  /** With the header. */
  readonly bytes: Uint8Array;
}

/** What is wrong with a file and at which byte; the reader adds the name of the file. */
export class CorruptFile extends Error {
  constructor(offset: number, message: string) {
    super(`byte ${offset}: ${message}`);
  }
}

export type Fail = (message: string) => never;

/** Throws an error about the part of the file that begins at `offset`. */
export function failure(offset: number, part: string): Fail {
  return (message) => {
    throw new CorruptFile(offset, `${part}: ${message}`);
  };
}

export function isBinary(head: Uint8Array): boolean {
  return magic.every((byte, index) => head[index] === byte);
}

export function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

export function encodeFileHeader(): Uint8Array {
  const bytes = new Uint8Array(fileHeaderBytes);
  bytes.set(magic);
  viewOf(bytes).setUint32(8, version, true);
  return seal(bytes);
}

export function checkFileHeader(bytes: Uint8Array): void {
  if (!isBinary(bytes)) throw new CorruptFile(0, 'not the first bytes of dsob data');
  if (!isSealed(bytes)) throw new CorruptFile(0, damaged('the file header'));
  const found = viewOf(bytes).getUint32(8, true);
  if (found === version) return;
  const message = `version ${found} of the format; this program reads version ${version}`;
  throw new CorruptFile(8, message);
}

/** Writes the header of a section; the first `headBytes` of its body have their own checksum. */
export function sealSection(
  bytes: Uint8Array,
  fields: Pick<SectionHeader, 'kind' | 'first' | 'count' | 'entries' | 'used'>,
  flags = 0,
  headBytes = 0,
): EncodedSection {
  const body = bytes.subarray(sectionHeaderBytes);
  const header: SectionHeader = {
    ...fields,
    flags,
    length: body.length,
    headChecksum: crc32(body.subarray(0, headBytes)),
    checksum: crc32(body.subarray(headBytes)),
  };
  bytes.set(encodeSectionHeader(header));
  return { header, bytes };
}

export function encodeSectionHeader(header: SectionHeader): Uint8Array {
  const bytes = new Uint8Array(sectionHeaderBytes);
  const view = viewOf(bytes);
  bytes.set(Buffer.from(header.kind, 'latin1'));
  view.setUint32(4, header.flags, true);
  setUint64(view, 8, header.length);
  setUint64(view, 16, header.first);
  view.setUint32(24, header.count, true);
  view.setUint32(28, header.entries, true);
  view.setUint32(32, header.used, true);
  view.setUint32(36, header.headChecksum, true);
  view.setUint32(40, header.checksum, true);
  return seal(bytes);
}

/** The header in 48 bytes at `offset` of the file. */
export function decodeSectionHeader(bytes: Uint8Array, offset: number): SectionHeader {
  if (!isSealed(bytes)) throw new CorruptFile(offset, damaged('the header of a section'));
  const view = viewOf(bytes);
  const header: SectionHeader = {
    kind: Buffer.from(bytes.subarray(0, 4)).toString('latin1') as SectionKind,
    flags: view.getUint32(4, true),
    length: uint64At(view, 8),
    first: uint64At(view, 16),
    count: view.getUint32(24, true),
    entries: view.getUint32(28, true),
    used: view.getUint32(32, true),
    headChecksum: view.getUint32(36, true),
    checksum: view.getUint32(40, true),
  };
  const fault = headerFault(header);
  if (fault) throw new CorruptFile(offset, fault);
  return header;
}

function headerFault({ kind, flags, length }: SectionHeader): string | undefined {
  if (!['ROWS', 'NAME', 'COLS', 'INDX'].includes(kind)) {
    return `a section of kind ${JSON.stringify(kind)}, unknown to version 1`;
  }
  if ((flags & ~(kind === 'ROWS' ? rowFlags : 0)) !== 0) {
    return `flags ${flags} in a section of kind ${kind}, which does not have them`;
  }
  if (length % 8 === 0 && length <= 2 ** 32) return undefined;
  return `a section of ${length} bytes; expected a multiple of 8 up to 2^32`;
}

interface Trailer {
  readonly indexOffset: number;
  /** Of the whole file. */
  readonly size: number;
}

export function encodeTrailer({ indexOffset, size }: Trailer): Uint8Array {
  const bytes = new Uint8Array(trailerBytes);
  const view = viewOf(bytes);
  setUint64(view, 0, indexOffset);
  setUint64(view, 8, size);
  bytes.set(trailerTag, 16);
  return seal(bytes);
}

/** The last 32 bytes of a file of `size` bytes. */
export function decodeTrailer(bytes: Uint8Array, size: number): Trailer {
  const offset = size - trailerBytes;
  if (!(isSealed(bytes) && trailerTag.every((byte, index) => bytes[16 + index] === byte))) {
    throw new CorruptFile(offset, 'not the end of dsob data; the file is truncated or damaged');
  }
  const view = viewOf(bytes);
  const trailer = { indexOffset: uint64At(view, 0), size: uint64At(view, 8) };
  if (trailer.size === size) return trailer;
  throw new CorruptFile(offset, `the file has ${size} bytes; expected ${trailer.size}`);
}

export function damaged(what: string): string {
  return `the checksum of ${what} does not match; the file is damaged`;
}

/** The last four bytes become the checksum of those in front of them. */
function seal(bytes: Uint8Array): Uint8Array {
  const end = bytes.length - 4;
  viewOf(bytes).setUint32(end, crc32(bytes.subarray(0, end)), true);
  return bytes;
}

function isSealed(bytes: Uint8Array): boolean {
  const end = bytes.length - 4;
  return viewOf(bytes).getUint32(end, true) === crc32(bytes.subarray(0, end));
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** 64-bit counts; a float64 holds all that occur in files exactly. */
export function setUint64(view: DataView, offset: number, value: number): void {
  view.setBigUint64(offset, BigInt(value), true);
}

export function uint64At(view: DataView, offset: number): number {
  return Number(view.getBigUint64(offset, true));
}
