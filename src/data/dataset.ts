import type { Recipe } from './recipe.ts';

/**
 * A run of consecutive rows in compressed sparse row form. Row i holds the entries
 * rowOffsets[i] … rowOffsets[i+1]-1; column indices are 0-based, ascending and distinct inside a
 * row. All arrays lie on SharedArrayBuffers, so that threads see them without a copy.
 */
export interface DatasetPart {
  readonly rowOffsets: Int32Array;
  readonly labels: Float64Array;
  readonly indices: Int32Array;
  readonly values: Float32Array;
  /** How much each row counts, finite and at least 0; 1 for all rows where it is absent. */
  readonly weights?: Float64Array;
}

/** Rows in input order, in one or more parts; the split into parts carries no meaning. */
export interface Dataset {
  /** Where the data came from, for messages: a file name, `standard input`, `array`. */
  readonly name: string;
  readonly parts: readonly DatasetPart[];
  readonly rows: number;
  /** Largest column index + 1 (or more, when the caller says so). */
  readonly columns: number;
  readonly nonzeros: number;
  /** Things a person should know about the input ("qid: ignored on 120 lines"). */
  readonly notices: readonly string[];
  /** What the columns are called, by column, where the input has names. */
  readonly featureNames?: readonly string[];
  /** Labels as they were written, where they are not numbers: `labels` are places in this list. */
  readonly labelNames?: readonly string[];
  /** How the fields of the input became columns, where they are not columns already. */
  readonly recipe?: Recipe;
  /**
   * Where the entries are, if they are left on disk; parts then have labels and offsets, but no
   * indices and values.
   */
  readonly stored?: StoredEntries;
}

/** Entries on disk. */
export interface StoredEntries {
  /** The folder of the data. */
  readonly folder: string;
  /** All rows in their order, with their entries; a part is good until the next one is asked for. */
  scan(): Iterable<DatasetPart>;
  /** How many entries each of `columns` columns has, in memory that threads share. */
  countColumns(columns: number): Int32Array;
}
