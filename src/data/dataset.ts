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

/**
 * How named values became columns. It is kept with a model, so that other data is read the same
 * way: a field that held categories holds categories, though all of them may look like numbers.
 *
 * A number in field `age` is the feature `age`; a category `Paris` in field `city` is the feature
 * `city=Paris` with value 1; a missing value is the feature `age=?` with value 1.
 */
export interface Recipe {
  /** Columns are hashes of feature names in so many bits; otherwise places in `featureNames`. */
  readonly hashBits?: number;
  /** Fields of tables and JSON objects by name, in the order they were met. */
  readonly fields?: readonly RecipeField[];
  /** What became of missing values; default `indicator`. */
  readonly missing?: 'indicator' | 'zero' | 'error';
  /** Texts that meant a missing value, besides those that always do. */
  readonly missingValues?: readonly string[];
}

export interface RecipeField {
  readonly name: string;
  readonly kind: 'number' | 'category' | 'label' | 'weight' | 'ignored';
}

/** What data has to share with other data to mean the same by its columns and labels. */
export interface Likeness {
  readonly featureNames?: readonly string[];
  readonly labelNames?: readonly string[];
  readonly recipe?: Recipe;
}

/** Whether any row may count other than 1. */
export function isWeighted({ parts = [] }: Partial<Pick<Dataset, 'parts'>>): boolean {
  return parts.some(({ weights }) => weights !== undefined);
}

/** How much each row counts, in order, in memory that threads share; undefined where all count 1. */
export function rowWeights(dataset: Pick<Dataset, 'parts' | 'rows'>): Float64Array | undefined {
  if (!isWeighted(dataset)) return undefined;
  const all = new Float64Array(new SharedArrayBuffer(8 * dataset.rows));
  let row = 0;
  for (const part of dataset.parts) {
    fillWeights(part, all.subarray(row, row + part.labels.length));
    row += part.labels.length;
  }
  return all;
}

function fillWeights({ weights }: DatasetPart, target: Float64Array): void {
  if (weights) target.set(weights);
  else target.fill(1);
}

/** The first row whose weight is not a finite number ≥ 0; −1 if there is none. */
export function badWeight(weights: ArrayLike<number>): number {
  for (let row = 0; row < weights.length; row += 1) {
    if (!(weights[row] >= 0 && weights[row] < Infinity)) return row;
  }
  return -1;
}

/*
 * Copies on SharedArrayBuffers of exactly the size needed, so that threads see the data without
 * another copy.
 */

export function sharedInt32(source: ArrayLike<number>): Int32Array {
  const copy = new Int32Array(new SharedArrayBuffer(source.length * Int32Array.BYTES_PER_ELEMENT));
  copy.set(source);
  return copy;
}

export function sharedFloat32(source: ArrayLike<number>): Float32Array {
  const bytes = source.length * Float32Array.BYTES_PER_ELEMENT;
  const copy = new Float32Array(new SharedArrayBuffer(bytes));
  copy.set(source);
  return copy;
}

export function sharedFloat64(source: ArrayLike<number>): Float64Array {
  const bytes = source.length * Float64Array.BYTES_PER_ELEMENT;
  const copy = new Float64Array(new SharedArrayBuffer(bytes));
  copy.set(source);
  return copy;
}
