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
  /** At least this many columns, even if the data has fewer. */
  readonly columns?: number;
  /** Bytes of text per task; default: 1 MB of LIBSVM text; of other text a few tasks per thread, 1 to 4 MB each. */
  readonly blockSize?: number;
  /** Bytes of a line of text; default: 500 MiB. */
  readonly longestLine?: number;
}

/** How data is read piece by piece. */
export interface PartsOptions extends ReadOptions {
  readonly takePart: TakePart;
  /** Called with lines of feature names behind all rows; all binary files must have the same. */
  readonly takeNames?: (lines: Uint8Array) => void | Promise<void>;
  /** Which values are also passed on as float64: those stored so, or those of text too. */
  readonly float64?: 'stored' | 'all';
  /** Whether labels may be texts; labels then change until all parts are read. Default: false. */
  readonly takesTexts?: boolean;
  /** Whether this is a shard: names for columns, and labels that are texts, are errors. */
  readonly isShard?: boolean;
  /** How much of the input has been read, 0 … 1; not for standard input. */
  readonly onProgress?: (fraction: number) => void;
}

export interface InputFile {
  readonly path: string;
  /** Bytes; 0 for standard input and pipes, which can only be read from beginning to end. */
  readonly size: number;
  readonly regular: boolean;
  /** Its bytes, where they are in memory and in no file. */
  readonly content?: () => AsyncIterable<Uint8Array>;
}

/**
 * Bytes [start, end) of a file; start may be negative and end behind the file. A piece has the lines
 * that begin in it, and what cannot be cut (a binary section, a compressed file) if it has the middle
 * of it. Adjacent pieces have every row once, in order.
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

/** An error of the receiver of the rows, say a full disk: no fault of the input. */
class ReceiverError extends Error {}

/** Reads pieces in order. The first fault of the input is reported, at any number of threads. */
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
    await reader.passNames();
  } catch (error) {
    throw error instanceof ReceiverError ? error.cause : error;
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
        throw new ReceiverError('the receiver failed', { cause });
      }
    };
  const { takePart, takeNames } = options;
  const takers = { takePart: guard(takePart), ...(takeNames && { takeNames: guard(takeNames) }) };
  return { ...options, ...takers };
}
