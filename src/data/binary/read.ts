import { DataError } from '../../errors.ts';
import type { DatasetPart } from '../dataset.ts';
import type { ByteChunks } from '../read/byte-blocks.ts';
import type { TaskQueue, TaskRunner } from '../read/tasks.ts';
import { decodeCounts, decodeNames } from './columns.ts';
import {
  CorruptFile,
  checkFileHeader,
  decodeSectionHeader,
  decodeTrailer,
  fileHeaderBytes,
  sectionHeaderBytes,
  trailerBytes,
} from './layout.ts';
import { decodeRows } from './rows.ts';
import {
  BinaryFile,
  type BinaryIndex,
  ByteQueue,
  decodeIndex,
  type SectionLocation,
} from './sections.ts';

export interface SectionPayload {
  readonly path: string;
  readonly place: SectionLocation;
  /** Of the whole data set. */
  readonly columns: number;
  /** Whether float64 values are wanted as such. */
  readonly wide: boolean;
}

/** Errors travel as data, as those of text do. */
export type SectionOutcome =
  | { readonly part: DatasetPart; readonly wide?: Float64Array }
  | { readonly names: Uint8Array }
  /** Sum of the counts of columns. */
  | { readonly counted: number }
  | { readonly failure: string };

/** Reads and checks one section. */
export function readSection({ path, place, columns, wide }: SectionPayload): SectionOutcome {
  const file = new BinaryFile(path);
  try {
    return sectionOutcome(file, place, columns, wide);
  } catch (error) {
    return { failure: (error as Error).message };
  } finally {
    file.close();
  }
}

function sectionOutcome(
  file: BinaryFile,
  place: SectionLocation,
  columns: number,
  wide: boolean,
): SectionOutcome {
  switch (place.header.kind) {
    case 'NAME':
      return { names: file.readNames(place) };
    case 'COLS':
      return { counted: totalCount(file.readCounts(place)) };
    default: {
      const rows = file.readRows(place, wide);
      checkColumns(rows.largest, columns, place.offset);
      return rows.wide ? { part: rows.part, wide: rows.wide } : { part: rows.part };
    }
  }
}

export function checkColumns(largest: number, columns: number, offset: number): void {
  if (largest < columns) return;
  throw new CorruptFile(
    offset,
    `column ${largest + 1} in a section; the file has ${columns} columns`,
  );
}

export function totalCount(runs: readonly { readonly counts: Uint32Array }[]): number {
  let total = 0;
  for (const { counts } of runs) for (const count of counts) total += count;
  return total;
}

/** What becomes of the rows, in order; the next ones wait for it. */
export type TakePart = (part: DatasetPart, wide?: Float64Array) => void | Promise<void>;

export interface BinarySink {
  readonly takePart: TakePart;
  /** Lines with names of features, in order, behind the rows. */
  readonly takeNames?: ((lines: Uint8Array) => void | Promise<void>) | undefined;
  /** Whether values stored as float64 are wanted as such. */
  readonly wide: boolean;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

export interface BinaryPiece {
  readonly path: string;
  /** Which of the sections to read. */
  readonly wants: (place: SectionLocation) => boolean;
  readonly runner: TaskRunner;
}

/**
 * Has sections of a file read and checked by the runner, and returns the index with
 * those sections alone. The queue may still be busy then.
 */
export async function queueSections(
  { path, wants, runner }: BinaryPiece,
  queue: TaskQueue,
  sink: BinarySink,
): Promise<BinaryIndex> {
  const { totals, sections: all } = await explained(path, () => indexOf(path));
  const sections = all.filter(wants);
  let counted = 0;
  const take = async (outcome: SectionOutcome): Promise<void> => {
    if ('failure' in outcome) throw new DataError(`${path}: ${outcome.failure}`);
    if ('part' in outcome) await sink.takePart(outcome.part, outcome.wide);
    else if ('names' in outcome) await sink.takeNames?.(outcome.names);
    else counted += outcome.counted;
  };
  for (const [number, place] of sections.entries()) {
    const payload: SectionPayload = { path, place, columns: totals.columns, wide: sink.wide };
    await queue.run(() => runner.run<SectionOutcome>('read-section', payload), take);
    sink.onProgress?.(number / sections.length);
  }
  if (sections.length === all.length) {
    queue.after(() => explained(path, () => checkSum(counted, totals.nonzeros)));
  }
  return { totals, sections };
}

function indexOf(path: string): BinaryIndex {
  const file = new BinaryFile(path);
  try {
    return file.readIndex();
  } finally {
    file.close();
  }
}

function checkSum(counted: number, nonzeros: number): void {
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
    if (header.kind === 'INDX') {
      const index = decodeIndex(header, body, offset);
      await checkEnd(bytes, offset);
      checkSeen(index, seen, offset);
      checkColumns(largest, index.totals.columns, offset);
      checkSum(counted, index.totals.nonzeros);
      return index;
    }
    if (header.kind === 'ROWS') {
      const rows = decodeRows(header, body, offset, sink.wide);
      largest = Math.max(largest, rows.largest);
      await sink.takePart(rows.part, rows.wide);
    } else if (header.kind === 'NAME') {
      const lines = decodeNames(header, body, offset);
      await sink.takeNames?.(lines);
    } else {
      counted += totalCount(decodeCounts(header, body, offset));
    }
    seen.push({ offset, header });
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
  const text = (places: readonly SectionLocation[]) => JSON.stringify(places);
  if (text(index.sections) === text(seen)) return;
  throw new CorruptFile(offset, 'the index lists other sections than there are');
}

async function explained<Result>(
  name: string,
  read: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CorruptFile)) throw error;
    throw new DataError(`${name}: ${error.message}`, { cause: error });
  }
}
