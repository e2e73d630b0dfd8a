/**
 * A run of consecutive rows in compressed sparse row form. Row i holds the entries
 * rowOffsets[i] … rowOffsets[i+1]-1; column indices are 0-based, ascending and distinct inside a
 * row. All arrays are on SharedArrayBuffers, so that threads see them without a copy.
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
  /** Largest column index + 1, or more if requested. */
  readonly columns: number;
  readonly nonzeros: number;
  /** Things a person should know about the input ("qid: ignored on 120 lines"). */
  readonly notices: readonly string[];
  /** What the columns are called, by column, where the input has names. */
  readonly featureNames?: readonly string[];
  /** Labels as they were written, where they are not numbers: `labels` are positions in this list. */
  readonly labelNames?: readonly string[];
  /** How the fields of the input became columns, where they are not columns already. */
  readonly recipe?: Recipe;
  /** Access to entries that stay on disk: parts then have labels and offsets alone. */
  readonly stored?: StoredEntries;
}

interface StoredEntries {
  /** The folder of the data. */
  readonly folder: string;
  /** All rows in their order, with their entries; a part is valid until the next one. */
  scan(): Iterable<DatasetPart>;
  /** How many entries each of `columns` columns has, in memory that threads share. */
  countColumns(columns: number): Int32Array;
}

/**
 * How named values became columns. It is saved with a model, so that other data is read the same
 * way: a field that held categories holds categories, even if all of them look like numbers.
 *
 * A number in field `age` is the feature `age`; a category `Paris` in field `city` is the feature
 * `city=Paris` with value 1; a missing value is the feature `age=?` with value 1.
 */
export interface Recipe {
  /** Columns are hashes of feature names with this many bits; otherwise positions in `featureNames`. */
  readonly hashBits?: number;
  /** Fields of tables and JSON objects by name, in order of appearance. */
  readonly fields?: readonly RecipeField[];
  /** What became of missing values; default `indicator`. */
  readonly missing?: 'indicator' | 'zero' | 'error';
  /** Texts that meant a missing value, besides those that always do. */
  readonly missingValues?: readonly string[];
}

export interface RecipeField {
  readonly name: string;
  readonly kind: 'number' | 'category' | 'label' | 'weight' | 'ignored';
  /** Texts of a field of numbers are dates, which become days since 1970-01-01 UTC. */
  readonly date?: true;
  /** The field is ignored because it differs in every row. */
  readonly identifier?: true;
}

/** What columns and labels mean; other data can be read to mean the same. */
export type DatasetSchema = Pick<Dataset, 'featureNames' | 'labelNames' | 'recipe'>;
/** Its name in the library. */
export type Likeness = DatasetSchema;

/** Whether any row may count other than 1. */
export function isWeighted({ parts = [] }: Partial<Pick<Dataset, 'parts'>>): boolean {
  return parts.some(({ weights }) => weights !== undefined);
}

/** How much each row counts, in order, in memory that threads share; undefined where all count 1. */
export function rowWeights(dataset: Pick<Dataset, 'parts' | 'rows'>): Float64Array | undefined {
  if (!isWeighted(dataset)) return undefined;
  const all = new Float64Array(new SharedArrayBuffer(8 * dataset.rows));
  let row = 0;
  for (const { weights, labels } of dataset.parts) {
    if (weights) all.set(weights, row);
    else all.fill(1, row, row + labels.length);
    row += labels.length;
  }
  return all;
}

/** The first row whose weight is not a finite number ≥ 0; −1 if there is none. */
export function badWeight(weights: ArrayLike<number>): number {
  for (let row = 0; row < weights.length; row += 1) {
    if (!(weights[row] >= 0 && weights[row] < Infinity)) return row;
  }
  return -1;
}

type NumberArray = Int32Array | Float32Array | Float64Array;

/** A longer array that begins with the old one. */
export function grown<Numbers extends NumberArray | Uint8Array<ArrayBuffer>>(
  old: Numbers,
  length: number,
): Numbers {
  const larger = new (old.constructor as new (length: number) => Numbers)(length);
  larger.set(old);
  return larger;
}

/** From this size on memory is worth pages of its own. */
const worthPages = 1 << 17;

/** Memory whose pages the system gets back when it is dropped: those of growable buffers, if of any. */
function sharedBuffer(bytes: number): SharedArrayBuffer {
  return bytes < worthPages
    ? new SharedArrayBuffer(bytes)
    : new SharedArrayBuffer(bytes, { maxByteLength: bytes });
}

/** A copy in shared memory of exactly the size needed. */
function sharedCopy<Numbers extends NumberArray>(
  type: {
    new (buffer: SharedArrayBuffer, offset: number, length: number): Numbers;
    readonly BYTES_PER_ELEMENT: number;
  },
  source: ArrayLike<number>,
): Numbers {
  const buffer = sharedBuffer(source.length * type.BYTES_PER_ELEMENT);
  const copy = new type(buffer, 0, source.length);
  copy.set(source);
  return copy;
}

export const sharedInt32 = (source: ArrayLike<number>) => sharedCopy(Int32Array, source);
export const sharedFloat32 = (source: ArrayLike<number>) => sharedCopy(Float32Array, source);
export const sharedFloat64 = (source: ArrayLike<number>) => sharedCopy(Float64Array, source);

/** A copy of the first `rows` rows in shared memory; the arrays may be longer. */
export function sharedPart(part: DatasetPart, rows = part.labels.length): DatasetPart {
  const { rowOffsets, labels, indices, values, weights } = part;
  const entries = rowOffsets[rows];
  return {
    rowOffsets: sharedInt32(rowOffsets.subarray(0, rows + 1)),
    labels: sharedFloat64(labels.subarray(0, rows)),
    indices: sharedInt32(indices.subarray(0, entries)),
    values: sharedFloat32(values.subarray(0, entries)),
    ...(weights && { weights: sharedFloat64(weights.subarray(0, rows)) }),
  };
}

export function countNonzeros(parts: readonly DatasetPart[]): number {
  return parts.reduce((sum, { values }) => sum + values.length, 0);
}
