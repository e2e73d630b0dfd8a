import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { ByteChunks } from '../read/byte-blocks.ts';
import { largestIndex } from '../read/line-error.ts';
import {
  CorruptFile,
  checkFileHeader,
  damaged,
  decodeSectionHeader,
  decodeTrailer,
  type EncodedSection,
  encodeSectionHeader,
  failure,
  fileHeaderBytes,
  type SectionHeader,
  type SectionKind,
  type SectionLocation,
  sealSection,
  sectionHeaderBytes,
  setUint64,
  trailerBytes,
  uint64At,
  viewOf,
} from './layout.ts';
import { allocate, checkRowsFit, type Reserve } from './rows.ts';

interface Totals {
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  readonly names: number;
}

export interface BinaryIndex {
  readonly totals: Totals;
  /** All sections but the index, in the order of the file. */
  readonly sections: readonly SectionLocation[];
}

const totalsBytes = 40;
/** An offset and a header per section. */
const entryBytes = 8 + sectionHeaderBytes;

export function encodeIndex({ totals, sections }: BinaryIndex): EncodedSection {
  const count = sections.length;
  const bytes = new Uint8Array(sectionHeaderBytes + totalsBytes + entryBytes * count);
  const view = viewOf(bytes);
  let position = sectionHeaderBytes;
  const { rows, columns, nonzeros, names } = totals;
  for (const total of [rows, columns, nonzeros, names, count]) {
    setUint64(view, position, total);
    position += 8;
  }
  for (const { offset, header } of sections) {
    setUint64(view, position, offset);
    bytes.set(encodeSectionHeader(header), position + 8);
    position += entryBytes;
  }
  return sealSection(bytes, { kind: 'INDX', first: 0, count, entries: 0, used: 0 });
}

/** Decodes and checks the index, whose section begins at `offset`. */
export function decodeIndex(header: SectionHeader, body: Uint8Array, offset: number): BinaryIndex {
  const { kind, count, length } = header;
  const fail = failure(offset, 'the index of the file');
  if (kind !== 'INDX') fail(`a section of kind ${kind} in its place`);
  if (crc32(body) !== header.checksum) fail(damaged('the index'));
  const view = viewOf(body);
  const [rows, columns, nonzeros, names, listed] = [0, 8, 16, 24, 32].map((position) =>
    uint64At(view, position),
  );
  if (listed !== count || length !== totalsBytes + entryBytes * count) {
    fail(`${length} bytes for ${count} sections`);
  }
  const sections = Array.from({ length: count }, (_, number): SectionLocation => {
    const position = totalsBytes + entryBytes * number;
    const bytes = body.subarray(position + 8, position + entryBytes);
    const at = offset + sectionHeaderBytes + position + 8;
    return { offset: uint64At(view, position), header: decodeSectionHeader(bytes, at) };
  });
  const index = { totals: { rows, columns, nonzeros, names }, sections };
  checkIndex(index, offset);
  return index;
}

/** Sections follow one another without gaps, in order of their kinds, and add up to the totals. */
function checkIndex({ totals, sections }: BinaryIndex, indexOffset: number): void {
  const fail = failure(indexOffset, 'the index of the file');
  const order: readonly SectionKind[] = ['ROWS', 'NAME', 'COLS'];
  const sums = { rows: 0, nonzeros: 0, names: 0 };
  let next = fileHeaderBytes;
  let lastKind = 0;
  let nextColumn = 0;
  for (const [number, section] of sections.entries()) {
    const { offset, header } = section;
    const { kind, first, count, entries } = header;
    const rank = order.indexOf(kind);
    if (offset !== next) fail(`section ${number + 1} at byte ${offset}; expected byte ${next}`);
    if (rank < lastKind) fail(`section ${number + 1} is of kind ${kind}, out of order`);
    const expected = kind === 'ROWS' ? sums.rows : kind === 'NAME' ? sums.names : first;
    if (first !== expected || first < (kind === 'COLS' ? nextColumn : 0)) {
      fail(`section ${number + 1} (${kind}) begins with number ${first}; expected ${expected}`);
    }
    if (kind === 'ROWS') checkRowsFit(section);
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

const smallestFile = fileHeaderBytes + sectionHeaderBytes + trailerBytes;
/** A single read returns at most 2³¹ − 1 bytes. */
const largestRead = 2 ** 30;

/** Memory that every section reuses: what was read last is overwritten. */
export function reusedMemory(): Reserve {
  const buffers = new Map<string, SharedArrayBuffer>();
  return (bytes, purpose) => {
    const found = buffers.get(purpose);
    if (found && found.byteLength >= bytes) return found;
    // Sections are of about the same size: a little more than needed is enough for most of them.
    const buffer = new SharedArrayBuffer(Math.ceil(1.25 * bytes));
    buffers.set(purpose, buffer);
    return buffer;
  };
}

/** A .dsob file, open for reading any of its sections. The methods throw `CorruptFile`. */
export class BinaryFile {
  readonly size: number;
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Sizes of the data and where everything is, from a few reads. */
  readIndex(): BinaryIndex {
    checkFileHeader(this.#read(0, Math.min(fileHeaderBytes, this.size)));
    if (this.size < smallestFile) {
      throw new CorruptFile(this.size, 'the file ends too early; is it truncated?');
    }
    const end = this.size - trailerBytes;
    const { indexOffset } = decodeTrailer(this.#read(end, trailerBytes), this.size);
    if (!(indexOffset >= fileHeaderBytes && indexOffset + sectionHeaderBytes <= end)) {
      throw new CorruptFile(
        end,
        `the index is said to be at byte ${indexOffset}, outside of the file`,
      );
    }
    const header = decodeSectionHeader(this.#read(indexOffset, sectionHeaderBytes), indexOffset);
    if (indexOffset + sectionHeaderBytes + header.length !== end) {
      throw new CorruptFile(
        indexOffset,
        `an index of ${header.length} bytes does not end at ${end}`,
      );
    }
    const body = this.#read(indexOffset + sectionHeaderBytes, header.length);
    return decodeIndex(header, body, indexOffset);
  }

  /** The first bytes behind the header of a section, which must be the header in the index. */
  body(
    { offset, header }: SectionLocation,
    bytes = header.length,
    reserve = allocate,
  ): Uint8Array<SharedArrayBuffer> {
    const whole = this.#read(offset, sectionHeaderBytes + bytes, reserve);
    const expected = encodeSectionHeader(header);
    if (!expected.every((byte, index) => whole[index] === byte)) {
      throw new CorruptFile(offset, 'the header of the section is not the one that the index has');
    }
    return whole.subarray(sectionHeaderBytes);
  }

  #read(offset: number, length: number, reserve = allocate): Uint8Array<SharedArrayBuffer> {
    const bytes = new Uint8Array(reserve(length, 'body'), 0, length);
    for (let filled = 0; filled < length; ) {
      const step = Math.min(length - filled, largestRead);
      const count = readSync(this.#file, bytes, filled, step, offset + filled);
      if (count === 0)
        throw new CorruptFile(offset + filled, 'the file ends here; is it truncated?');
      filled += count;
    }
    return bytes;
  }
}

/** More than sections have, but for rows of very many entries. */
const atOnce = 2 ** 25;

function enlarged(
  bytes: Uint8Array<SharedArrayBuffer>,
  length: number,
): Uint8Array<SharedArrayBuffer> {
  const larger = new Uint8Array(new SharedArrayBuffer(length));
  larger.set(bytes);
  return larger;
}

/** Exact numbers of bytes from a stream that comes in chunks of any size. */
export class ByteQueue {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);
  position = 0;

  constructor(chunks: ByteChunks) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next bytes, on shared memory of their own. */
  async take(length: number): Promise<Uint8Array<SharedArrayBuffer>> {
    // The length comes from the data: memory is taken as its bytes arrive.
    let bytes = new Uint8Array(new SharedArrayBuffer(Math.min(length, atOnce)));
    for (let filled = 0; filled < length; ) {
      if (!(await this.#more())) {
        throw new CorruptFile(this.position + filled, 'the data ends here; is it truncated?');
      }
      if (filled === bytes.length) bytes = enlarged(bytes, Math.min(length, 2 * filled));
      const count = Math.min(bytes.length - filled, this.#rest.length);
      bytes.set(this.#rest.subarray(0, count), filled);
      this.#rest = this.#rest.subarray(count);
      filled += count;
    }
    this.position += length;
    return bytes;
  }

  async atEnd(): Promise<boolean> {
    return !(await this.#more());
  }

  async #more(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return false;
      this.#rest = next.value;
    }
    return true;
  }
}
