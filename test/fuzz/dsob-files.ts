import { crc32 } from 'node:zlib';
import {
  decodeSectionHeader,
  encodeFileHeader,
  encodeSectionHeader,
  encodeTrailer,
  fileHeaderBytes,
  type SectionHeader,
  type SectionLocation,
  sectionHeaderBytes,
  trailerBytes,
} from '../../src/data/binary/layout.ts';
import { headBytes } from '../../src/data/binary/rows.ts';
import { encodeIndex } from '../../src/data/binary/sections.ts';
import { BinaryWriter } from '../../src/data/binary/writer.ts';
import type { DatasetPart } from '../../src/data/dataset.ts';
import type { Random } from '../../src/math/random.ts';
import { pick } from './draw.ts';
import { changeWord } from './model-files.ts';
import { few, mutateBytes } from './mutate.ts';

export interface Section {
  readonly header: SectionHeader;
  readonly body: Uint8Array;
}

/** A valid file in its parts; the columns are those of the index. */
export interface DsobSeed {
  readonly bytes: Uint8Array;
  readonly sections: readonly Section[];
  readonly columns: number;
}

const allColumns = 3000;

function rowsOf(weighted: boolean): DatasetPart {
  return {
    labels: Float64Array.of(1, -1, 2.5, 0),
    rowOffsets: Int32Array.of(0, 2, 2, 5, 6),
    indices: Int32Array.of(0, 7, 1, 200, 2999, 5),
    values: Float32Array.of(0.5, -1, 3e38, 1e-45, 2, 0.1),
    ...(weighted && { weights: Float64Array.of(1, 0, 2, 0.5) }),
  };
}

async function seedOf(pack: boolean, weighted: boolean, names: number): Promise<DsobSeed> {
  const chunks: Uint8Array[] = [];
  const write = async (data: string | Uint8Array) => void chunks.push(Buffer.from(data));
  const writer = new BinaryWriter({ write }, { pack, ...(names > 0 && { values: 'float64' }) });
  await writer.add(rowsOf(weighted));
  for (let first = 0; first < names; first += 4) {
    const lines = Array.from({ length: Math.min(4, names - first) }, (_, at) => `n${first + at}\n`);
    await writer.addNames(Buffer.from(lines.join('')));
  }
  await writer.finish(allColumns);
  const bytes = new Uint8Array(Buffer.concat(chunks));
  return { bytes, sections: sectionsOf(bytes), columns: allColumns };
}

export async function dsobSeeds(): Promise<DsobSeed[]> {
  return [
    await seedOf(false, false, 0),
    await seedOf(true, false, 0),
    await seedOf(false, true, 10),
    await seedOf(true, true, 40),
  ];
}

function sectionsOf(bytes: Uint8Array): Section[] {
  const sections: Section[] = [];
  for (let offset = fileHeaderBytes; ; ) {
    const end = offset + sectionHeaderBytes;
    const header = decodeSectionHeader(bytes.subarray(offset, end), offset);
    if (header.kind === 'INDX') return sections;
    sections.push({ header, body: bytes.slice(end, end + header.length) });
    offset = end + header.length;
  }
}

/** With the checksums of what it holds. */
export function sealed({ header, body }: Section): Section {
  const head = header.kind === 'ROWS' ? Math.min(headBytes(header), body.length) : 0;
  const checksums = {
    headChecksum: crc32(body.subarray(0, head)),
    checksum: crc32(body.subarray(head)),
  };
  return { header: { ...header, ...checksums }, body };
}

const numbers = [
  0,
  1,
  2,
  3,
  4,
  7,
  8,
  16,
  2999,
  3000,
  2 ** 27,
  2 ** 31 - 2,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
];
const fields = ['length', 'first', 'count', 'entries', 'used', 'flags'] as const;

function changeSection(random: Random, sections: Section[], others: readonly Section[]): void {
  const at = random.below(sections.length);
  const { header, body } = sections[at];
  const way = random.below(8);
  if (way < 3) {
    const field = pick(random, fields);
    const value =
      random.below(2) === 0 ? pick(random, numbers) : header[field] + random.below(3) - 1;
    sections[at] = { header: { ...header, [field]: Math.max(0, value) }, body };
  } else if (way < 6) sections[at] = { header, body: changeWord(random, body) };
  else if (way === 6) {
    const changed = mutateBytes(random, body, pick(random, others).body);
    const padded = new Uint8Array(8 * Math.ceil(changed.length / 8));
    padded.set(changed);
    const length = random.below(2) === 0 ? header.length : padded.length;
    sections[at] = { header: { ...header, length }, body: padded };
  } else if (random.below(2) === 0) sections.splice(at, 1);
  else sections.splice(random.below(sections.length + 1), 0, pick(random, others));
}

type Totals = Parameters<typeof encodeIndex>[0]['totals'];

/** A file of these sections, with an index that lists them. */
export function fileOf(
  sections: readonly Section[],
  columns: number,
  forge: (totals: Totals) => Totals = (totals) => totals,
): Uint8Array {
  const locations: SectionLocation[] = [];
  const pieces: Uint8Array[] = [encodeFileHeader()];
  let offset = fileHeaderBytes;
  const sums = { ROWS: 0, NAME: 0, COLS: 0, INDX: 0, entries: 0 };
  for (const { header, body } of sections) {
    locations.push({ offset, header });
    pieces.push(encodeSectionHeader(header), body);
    offset += sectionHeaderBytes + body.length;
    sums[header.kind] += header.count;
    if (header.kind === 'ROWS') sums.entries += header.entries;
  }
  const totals = forge({ rows: sums.ROWS, columns, nonzeros: sums.entries, names: sums.NAME });
  const index = encodeIndex({ totals, sections: locations }).bytes;
  const size = offset + index.length + trailerBytes;
  return Buffer.concat([...pieces, index, encodeTrailer({ indexOffset: offset, size })]);
}

/** A forged .dsob file; most have the right checksums. */
export function forgedDsob(random: Random, seeds: readonly DsobSeed[]): Uint8Array {
  const seed = pick(random, seeds);
  const other = pick(random, seeds);
  const way = random.below(64);
  if (way === 0) return seed.bytes;
  if (way < 4) return mutateBytes(random, seed.bytes, other.bytes);
  const sections = [...seed.sections];
  for (let count = few(random); count > 0 && sections.length > 0; count -= 1) {
    changeSection(random, sections, other.sections);
  }
  const forged = pick(random, ['rows', 'columns', 'nonzeros', 'names']);
  const isForged = random.below(8) === 0;
  return fileOf(sections.map(sealed), seed.columns, (totals) =>
    isForged ? { ...totals, [forged]: pick(random, numbers) } : totals,
  );
}
