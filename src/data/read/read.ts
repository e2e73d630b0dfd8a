import { DataError, UsageError } from '../../errors.ts';
import { isStored, namesOfStored } from '../binary/stored.ts';
import type { Dataset, DatasetPart } from '../dataset.ts';
import { hashText } from '../fingerprint.ts';
import { formatOfName } from '../text/formats.ts';
import { type DatasetShape, datasetOf } from './collector.ts';
import { nameLines, withStoredNames } from './feature-names.ts';
import {
  type InputFile,
  inputFiles,
  type PartsOptions,
  type Piece,
  type ReadOptions,
  readPieces,
  wholePiece,
} from './pieces.ts';
import { type DataSource, filesOfSource, titleOfSource } from './sources.ts';

export type { DatasetShape } from './collector.ts';
export type { PartsOptions, ReadOptions } from './pieces.ts';

/**
 * Reads data of any format from files (plain, gzip or zstd) or, for `-`, from standard input. Every
 * fault of the input is a DataError; the first one is reported, at any number of threads.
 */
export async function readDataset(source: DataSource, options: ReadOptions = {}): Promise<Dataset> {
  const parts: DatasetPart[] = [];
  const takePart = (part: DatasetPart) => void parts.push(part);
  const lines: Uint8Array[] = [];
  const takeNames = (more: Uint8Array) => void lines.push(more);
  const taking = { ...options, takePart, takeNames, takesTexts: true };
  const dataset = datasetOf(await readShape(source, taking), parts);
  return lines.length === 0 ? dataset : withStoredNames(dataset, lines, options.like);
}

/** The same, but passes on the rows in memory for a few pieces of the input. */
export async function readParts(source: DataSource, options: PartsOptions): Promise<DatasetShape> {
  const shape = await readShape(source, options);
  const { featureNames } = shape;
  if (featureNames && options.takeNames) {
    for (const lines of nameLines(featureNames)) await options.takeNames(lines);
  }
  return shape;
}

async function readShape(source: DataSource, options: PartsOptions): Promise<DatasetShape> {
  if (isParquet(source, options)) {
    // Few runs need it.
    const { readParquet } = await import('../tables/parquet.ts');
    return readParquet(source, options);
  }
  const files = await inputFiles(filesOfSource(source));
  const collector = await readPieces(files.map(wholePiece), options);
  return collector.checkedShape(titleOfSource(source));
}

/** By name alone: Parquet is read from its end. */
function isParquet(source: DataSource, { format }: PartsOptions): boolean {
  if (format !== undefined) return format === 'parquet';
  return filesOfSource(source).every((path) => formatOfName(path) === 'parquet');
}

export interface ShardOptions extends ReadOptions {
  /** Which of the processes this is, from 0. */
  readonly rank: number;
  readonly ranks: number;
  readonly onProgress?: (fraction: number) => void;
}

export interface FileShard {
  /** The rows of this process, possibly none, and the columns that are in use there. */
  readonly dataset: Dataset;
  /** See `listFiles`. */
  readonly listing: string;
}

/** What the files are, by number, size and a hash of names and sizes: the same in all processes. */
export async function listFiles(source: DataSource): Promise<string> {
  return listingOf(await inputFiles(filesOfSource(source)));
}

function listingOf(files: readonly InputFile[]): string {
  const hash = hashText(JSON.stringify(files.map(({ path, size }) => [path, size])));
  const count = files.length === 1 ? '1 file' : `${files.length} files`;
  return `${count} of ${totalBytes(files)} bytes, listing ${hash.slice(0, 8)}`;
}

/**
 * Reads the part of the data that belongs to one of several processes. The files, concatenated, are
 * cut into runs of bytes of equal length, one per process, so that every row is read by exactly one
 * process, in order of rank. Standard input and pipes are read by process 0.
 */
export async function readShard(source: DataSource, options: ShardOptions): Promise<FileShard> {
  const { rank, ranks } = options;
  if (!(Number.isInteger(rank) && rank >= 0 && rank < ranks)) {
    throw new UsageError(
      `rank ${rank} of ${ranks}; expected a whole number from 0 to ${ranks - 1}`,
    );
  }
  const files = await inputFiles(filesOfSource(source));
  checkRegular(files, ranks);
  const parts: DatasetPart[] = [];
  const collector = await readPieces(piecesOf(files, rank, ranks), {
    ...options,
    isShard: ranks > 1,
    takesTexts: true,
    takePart: (part) => void parts.push(part),
  });
  const dataset = datasetOf(collector.shape(titleOfSource(source)), parts);
  const notices = [...dataset.notices, ...unevenness(collector.uncut, files, ranks)];
  // Every process knows them, though they are in the part of one.
  const isRereadable = files.every(({ regular }) => regular) && isStored(source);
  const featureNames = isRereadable ? namesOfStored(source) : undefined;
  return {
    dataset: { ...dataset, notices, ...(featureNames && { featureNames }) },
    listing: listingOf(files),
  };
}

/** What process 0 reads must come first. */
function checkRegular(files: readonly InputFile[], ranks: number): void {
  const other = files.find(({ regular }) => !regular);
  if (!other || files.length === 1 || ranks === 1) return;
  const rule = 'several processes can read several files only if all of them are such';
  throw new DataError(`${other.path}: not a regular file; ${rule}`);
}

function piecesOf(files: readonly InputFile[], rank: number, ranks: number): Piece[] {
  const total = totalBytes(files);
  const begin = boundary(total, rank, ranks);
  const end = boundary(total, rank + 1, ranks);
  const pieces: Piece[] = [];
  let offset = 0;
  for (const file of files) {
    const piece = { file, start: begin - offset, end: end - offset };
    // Empty files have no rows, but may have faults.
    if (file.size === 0 && rank === 0) pieces.push(wholePiece(file));
    if (begin < end && piece.start < file.size && piece.end > 0) pieces.push(piece);
    offset += file.size;
  }
  return pieces;
}

/** ⌊rank · total / ranks⌋, without the product, which may have more than 53 bits. */
function boundary(total: number, rank: number, ranks: number): number {
  const rest = total % ranks;
  return ((total - rest) / ranks) * rank + Math.floor((rest * rank) / ranks);
}

function totalBytes(files: readonly InputFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Files that cannot be cut and are far larger than what a process should have to read. */
function unevenness(
  uncut: readonly InputFile[],
  files: readonly InputFile[],
  ranks: number,
): string[] {
  const fair = totalBytes(files) / ranks;
  const large = uncut.filter(({ size }) => ranks > 1 && size > 1.5 * fair);
  if (large.length === 0) return [];
  const which = files.length === 1 ? '' : `${large[0].path} is `;
  const alone = `${which}compressed, so one of ${ranks} processes reads all of it`;
  return [`${alone}; part files, or one plain file, would be read by all at once`];
}
