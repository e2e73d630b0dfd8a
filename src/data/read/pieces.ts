import { stat } from 'node:fs/promises';
import { DataError } from '../../errors.ts';
import { explainAccess } from '../../files.ts';
import type { TakePart } from '../binary/read.ts';
import type { FieldOptions } from '../fields/options.ts';
import type { LibsvmOptions } from '../text/libsvm.ts';
import type { Collector } from './collector.ts';
import { PieceReader } from './piece-reader.ts';
import { standardInput } from './sources.ts';
import type { TaskRunner } from './tasks.ts';

export interface ReadOptions extends LibsvmOptions, FieldOptions {
  /** Where to parse; default: the calling thread. */
  readonly runner?: TaskRunner;
  /** At least so many columns, even if the data has fewer. */
  readonly columns?: number;
  /** Bytes of text per task; default: a few tasks per thread, 1 to 4 MB each. */
  readonly blockSize?: number;
}

/** Reading piece by piece: what becomes of the pieces, and what is to be known of them. */
export interface PartsOptions extends ReadOptions {
  readonly takePart: TakePart;
  /**
   * Lines with names of features, behind all rows, if the data has some. Binary files that have
   * names must have the same ones.
   */
  readonly takeNames?: (lines: Uint8Array) => void | Promise<void>;
  /**
   * Which values are wanted as float64 as well: those that binary data holds so, or those of text
   * too; default: none.
   */
  readonly wide?: 'stored' | 'all';
  /**
   * Whether labels may be texts: parts then keep being changed until all of them have been read.
   * Default: a label that is no number is an error.
   */
  readonly takesTexts?: boolean;
  /** Whether the rows are a share of them: formats with names, or labels that are texts, are errors. */
  readonly isShare?: boolean;
  /** How much of the input has been read, 0 … 1; not for standard input. */
  readonly onProgress?: (fraction: number) => void;
}

export interface InputFile {
  readonly path: string;
  /** Bytes; 0 for standard input and pipes, which can only be read from beginning to end. */
  readonly size: number;
  readonly regular: boolean;
}

/**
 * Bytes [start, end) of a file, of which start may be negative and end lie behind the file. A piece
 * holds the lines that begin in it, and what cannot be cut (a section of binary data, a compressed
 * file) if it holds the middle of that: pieces side by side have every row once, in order.
 */
export interface Piece {
  readonly file: InputFile;
  readonly start: number;
  readonly end: number;
}

/** What is known of a file without opening it. */
export async function inputFile(path: string): Promise<InputFile> {
  if (path === standardInput) return { path, size: 0, regular: false };
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) {
      const pattern = `${path.replace(/\/+$/, '')}/*`;
      throw new DataError(`${path}: a directory; expected a file (did you mean '${pattern}'?)`);
    }
    const regular = stats.isFile();
    return { path, size: regular ? stats.size : 0, regular };
  } catch (error) {
    throw explainAccess(error, path);
  }
}

export async function inputFiles(paths: readonly string[]): Promise<InputFile[]> {
  const files: InputFile[] = [];
  for (const path of paths) files.push(await inputFile(path));
  return files;
}

export function wholePiece(file: InputFile): Piece {
  return { file, start: 0, end: Number.POSITIVE_INFINITY };
}

/** An error of whoever takes the rows, say a full disk: no fault of the input. */
class Refusal extends Error {}

/**
 * Reads pieces one after the other, in memory for a few blocks of them. Of several faults the first
 * one in the order of the input is reported, whatever the number of threads.
 */
export async function readPieces(
  pieces: readonly Piece[],
  options: PartsOptions,
): Promise<Collector> {
  const reader = new PieceReader(pieces, guarded(options));
  try {
    try {
      for (const piece of pieces) await reader.read(piece);
    } finally {
      // Also after an error: a fault in what came before it comes first.
      await reader.finish();
    }
    await reader.handNamesOn();
  } catch (error) {
    throw error instanceof Refusal ? error.cause : error;
  }
  return reader.collector;
}

function guarded(options: PartsOptions): PartsOptions {
  const guard =
    <Given extends unknown[]>(take: (...given: Given) => void | Promise<void>) =>
    async (...values: Given) => {
      try {
        await take(...values);
      } catch (cause) {
        throw new Refusal('refused', { cause });
      }
    };
  const { takePart, takeNames } = options;
  const takers = { takePart: guard(takePart), ...(takeNames && { takeNames: guard(takeNames) }) };
  return { ...options, ...takers };
}
