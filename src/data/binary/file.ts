import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type CountedRun, decodeCounts } from './columns.ts';
import {
  checkFileHeader,
  Damage,
  decodeSectionHeader,
  decodeTrailer,
  encodeSectionHeader,
  fileHeaderBytes,
  sectionHeaderBytes,
  trailerBytes,
} from './layout.ts';
import { decodeNames } from './names.ts';
import {
  type DecodedRows,
  decodeRowHeads,
  decodeRows,
  headBytes,
  type Purpose,
  type Reserve,
  type RowHeads,
  reserveAnew,
} from './rows.ts';
import { type BinaryIndex, decodeIndex, type SectionPlace } from './sections.ts';

const smallestFile = fileHeaderBytes + sectionHeaderBytes + trailerBytes;
/** A single read returns at most 2³¹ − 1 bytes. */
const largestRead = 2 ** 30;

/** Memory that is used again from section to section: what was read last is overwritten. */
export class SectionRoom {
  readonly #buffers = new Map<Purpose, SharedArrayBuffer>();

  readonly reserve: Reserve = (bytes, purpose) => {
    const found = this.#buffers.get(purpose);
    if (found && found.byteLength >= bytes) return found;
    // Sections are of about the same size: a little more than asked for lasts for most of them.
    const buffer = new SharedArrayBuffer(Math.ceil(1.25 * bytes));
    this.#buffers.set(purpose, buffer);
    return buffer;
  };
}

/**
 * A .dsob file, open for reading any of its sections, by any number of threads or machines, each
 * with its own. The methods throw `Damage`.
 */
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
      throw new Damage(this.size, 'the file ends too early; is it truncated?');
    }
    const end = this.size - trailerBytes;
    const { indexOffset } = decodeTrailer(this.#read(end, trailerBytes), this.size);
    if (!(indexOffset >= fileHeaderBytes && indexOffset + sectionHeaderBytes <= end)) {
      throw new Damage(end, `the index is said to be at byte ${indexOffset}, outside of the file`);
    }
    const header = decodeSectionHeader(this.#read(indexOffset, sectionHeaderBytes), indexOffset);
    if (indexOffset + sectionHeaderBytes + header.length !== end) {
      throw new Damage(indexOffset, `an index of ${header.length} bytes does not end at ${end}`);
    }
    const body = this.#read(indexOffset + sectionHeaderBytes, header.length);
    return decodeIndex(header, body, indexOffset);
  }

  /** Rows with all of their entries, in arrays on shared memory: of their own, or in a room. */
  readRows(place: SectionPlace, wantWide = false, room?: SectionRoom): DecodedRows {
    const { header, offset } = place;
    const body = this.#body(place, header.length, room?.reserve);
    return decodeRows(header, body, offset, wantWide, room?.reserve);
  }

  /** Labels, offsets (the lengths of the rows) and weights, without reading the entries. */
  readRowHeads(place: SectionPlace): RowHeads {
    const body = this.#body(place, headBytes(place.header));
    const { places: _, ...heads } = decodeRowHeads(place.header, body, place.offset);
    return heads;
  }

  /** How many entries each column has. */
  readCounts(place: SectionPlace): CountedRun[] {
    return decodeCounts(place.header, this.#body(place), place.offset);
  }

  /** Names of features, a line each. */
  readNames(place: SectionPlace): Uint8Array {
    return decodeNames(place.header, this.#body(place), place.offset);
  }

  /** What follows the header of a section, which has to be the one that the index knows. */
  #body(
    { offset, header }: SectionPlace,
    bytes = header.length,
    reserve = reserveAnew,
  ): Uint8Array<SharedArrayBuffer> {
    const whole = this.#read(offset, sectionHeaderBytes + bytes, reserve);
    const expected = encodeSectionHeader(header);
    if (!expected.every((byte, place) => whole[place] === byte)) {
      throw new Damage(offset, 'the header of the section is not the one that the index has');
    }
    return whole.subarray(sectionHeaderBytes);
  }

  #read(offset: number, length: number, reserve = reserveAnew): Uint8Array<SharedArrayBuffer> {
    const bytes = new Uint8Array(reserve(length, 'body'), 0, length);
    for (let filled = 0; filled < length; ) {
      const step = Math.min(length - filled, largestRead);
      const count = readSync(this.#file, bytes, filled, step, offset + filled);
      if (count === 0) throw new Damage(offset + filled, 'the file ends here; is it truncated?');
      filled += count;
    }
    return bytes;
  }
}
