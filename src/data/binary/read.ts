import { DataError } from '../../errors.ts';
import type { DatasetPart } from '../dataset.ts';
import type { ByteChunks } from '../read/byte-blocks.ts';
import { withName } from '../read/line-error.ts';
import type { TaskQueue, TaskRunner } from '../read/tasks.ts';
import { decodeCounts, decodeNames } from './columns.ts';
import {
  CorruptFile,
  checkFileHeader,
  decodeSectionHeader,
  decodeTrailer,
  fileHeaderBytes,
  type SectionLocation,
  sectionHeaderBytes,
  trailerBytes,
} from './layout.ts';
import { type DecodedRows, decodeRows } from './rows.ts';
import { BinaryFile, type BinaryIndex, ByteQueue, decodeIndex } from './sections.ts';

interface SectionPayload {
  readonly path: string;
  readonly section: SectionLocation;
  /** Of the whole data set. */
  readonly columns: number;
  /** Whether float64 values are returned as such. */
  readonly float64: boolean;
}

type SectionContent =
  | DecodedRows
  | { readonly names: Uint8Array }
  /** Sum of the counts of columns. */
  | { readonly counted: number };

/** Errors are returned as data, as for text. */
type SectionOutcome = SectionContent | { readonly failure: string };

export function readSection({ path, section, columns, float64 }: SectionPayload): SectionOutcome {
  const file = new BinaryFile(path);
  try {
    const content = decodeSection(section, file.body(section), float64);
    if ('part' in content) checkColumns(content.largest, columns, section.offset);
    return content;
  } catch (error) {
    return { failure: (error as Error).message };
  } finally {
    file.close();
  }
}

function decodeSection(
  section: SectionLocation,
  body: Uint8Array<SharedArrayBuffer>,
  float64: boolean,
): SectionContent {
  const { kind } = section.header;
  if (kind === 'NAME') return { names: decodeNames(section, body) };
  if (kind === 'COLS') return { counted: totalCount(decodeCounts(section, body)) };
  return decodeRows(section, body, float64);
}

export function checkColumns(largest: number, columns: number, offset: number): void {
  if (largest < columns) return;
  const message = `column ${largest + 1} in a section; the file has ${columns} columns`;
  throw new CorruptFile(offset, message);
}

export function totalCount(runs: readonly { readonly counts: Uint32Array }[]): number {
  let total = 0;
  for (const { counts } of runs) for (const count of counts) total += count;
  return total;
}

/** Called with the rows in order; the next rows wait for it. */
export type TakePart = (part: DatasetPart, float64?: Float64Array) => void | Promise<void>;

export interface BinarySink {
  readonly takePart: TakePart;
  /** Lines with names of features, in order, behind the rows. */
  readonly takeNames?: ((lines: Uint8Array) => void | Promise<void>) | undefined;
  /** Whether values stored as float64 are passed on as such. */
  readonly float64: boolean;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/** Passes on the rows or names of a section; returns the sum of its counts of columns. */
async function passOn(content: SectionContent, sink: BinarySink): Promise<number> {
  if ('part' in content) await sink.takePart(content.part, content.float64);
  else if ('names' in content) await sink.takeNames?.(content.names);
  else return content.counted;
  return 0;
}

interface BinaryPiece {
  readonly path: string;
  /** Which of the sections to read. */
  readonly selects: (section: SectionLocation) => boolean;
  readonly runner: TaskRunner;
}

/** Starts tasks that read and check the sections; returns their index without waiting for them. */
export async function queueSections(
  { path, selects, runner }: BinaryPiece,
  queue: TaskQueue,
  sink: BinarySink,
): Promise<BinaryIndex> {
  const { float64 } = sink;
  const { totals, sections: all } = openBinary(path, (file) => file.readIndex());
  const sections = all.filter(selects);
  let counted = 0;
  const take = async (outcome: SectionOutcome): Promise<void> => {
    if ('failure' in outcome) throw new DataError(`${path}: ${outcome.failure}`);
    const count = await passOn(outcome, sink);
    counted += count;
  };
  for (const [number, section] of sections.entries()) {
    const payload: SectionPayload = { path, section, columns: totals.columns, float64 };
    await queue.run(() => runner.run<SectionOutcome>('read-section', payload), take);
    sink.onProgress?.(number / sections.length);
  }
  if (sections.length === all.length) {
    queue.after(() => explained(path, () => checkSum(counted, totals.nonzeros)));
  }
  return { totals, sections };
}

/** Opens a file, reads from it and closes it; adds the path to a `CorruptFile`. */
export function openBinary<Result>(path: string, read: (file: BinaryFile) => Result): Result {
  const file = new BinaryFile(path);
  try {
    return read(file);
  } catch (error) {
    throw withName(path, error, CorruptFile);
  } finally {
    file.close();
  }
}

export function checkSum(counted: number, nonzeros: number): void {
  if (counted === nonzeros) return;
  throw new CorruptFile(0, `the counts of the columns add up to ${counted}; expected ${nonzeros}`);
}

/** The same from a stream, one section after the other. */
export async function readBinaryStream(
  chunks: ByteChunks,
  name: string,
  sink: BinarySink,
): Promise<BinaryIndex> {
  return explained(name, () => readSections(new ByteQueue(chunks), sink));
}

async function readSections(bytes: ByteQueue, sink: BinarySink): Promise<BinaryIndex> {
  checkFileHeader(await bytes.take(fileHeaderBytes));
  const seen: SectionLocation[] = [];
  let largest = -1;
  let counted = 0;
  for (;;) {
    const offset = bytes.position;
    const header = decodeSectionHeader(await bytes.take(sectionHeaderBytes), offset);
    const body = await bytes.take(header.length);
    const section = { offset, header };
    if (header.kind === 'INDX') {
      const index = decodeIndex(header, body, offset);
      await checkEnd(bytes, offset);
      checkSeen(index, seen, offset);
      checkColumns(largest, index.totals.columns, offset);
      checkSum(counted, index.totals.nonzeros);
      return index;
    }
    const content = decodeSection(section, body, sink.float64);
    if ('part' in content) largest = Math.max(largest, content.largest);
    const count = await passOn(content, sink);
    counted += count;
    seen.push(section);
  }
}

async function checkEnd(bytes: ByteQueue, indexOffset: number): Promise<void> {
  const trailer = await bytes.take(trailerBytes);
  const end = bytes.position;
  if (decodeTrailer(trailer, end).indexOffset !== indexOffset) {
    throw new CorruptFile(end - trailerBytes, 'the index is not where the trailer says');
  }
  if (!(await bytes.atEnd())) throw new CorruptFile(end, 'more bytes behind the end of the data');
}

function checkSeen(index: BinaryIndex, seen: readonly SectionLocation[], offset: number): void {
  if (JSON.stringify(index.sections) === JSON.stringify(seen)) return;
  throw new CorruptFile(offset, 'the index lists other sections than there are');
}

async function explained<Result>(
  name: string,
  read: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw withName(name, error, CorruptFile);
  }
}
