import type { TakePart } from '../binary/read.ts';
import type { FieldOptions } from '../fields/options.ts';
import type { LibsvmOptions } from '../text/libsvm.ts';
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
