import { DataError, UsageError } from '../../errors.ts';
import { hashedColumn } from '../../math/murmur.ts';
import { type DatasetPart, type DatasetSchema, sharedFloat32, sharedInt32 } from '../dataset.ts';
import { quote } from '../read/line-error.ts';
import { clashMessage, type FeatureSource, type NameClash } from './feature-source.ts';
import { DistinctCount, type LabelList } from './label-list.ts';
import { datesOf, type FieldOptions } from './options.ts';
import type { NamedRows } from './row-builder.ts';
import { orderRow } from './row-order.ts';

/** The column of a name that has none. */
const dropped = -1;

/** As many as the engine's maps can hold. */
const mostNames = 2 ** 24 - 1;
const mostHashBits = 30;

/** Gives names their columns. */
interface Vocabulary {
  readonly columns: number;
  /** By column; absent where columns are hashes. */
  readonly featureNames?: readonly string[];
  /** Names must come in the order in which the input has them. */
  columnOf(name: string, source: FeatureSource): number;
  /** Whether names must come from one source each: hashes need not, and count as two features. */
  readonly isStrict?: boolean;
  /** Notices at the end; `lost` values had a name without a column. */
  notices?(lost: number): string[];
}

function vocabularyFor({ hashBits, like }: FieldOptions): Vocabulary {
  if (hashBits !== undefined) checkHashBits(hashBits, like);
  const bits = like?.recipe?.hashBits ?? hashBits;
  if (bits !== undefined) return new HashedNames(bits);
  return like ? new KnownNames(like) : new ListedNames();
}

function checkHashBits(bits: number, like?: DatasetSchema): void {
  if (!(Number.isInteger(bits) && bits >= 1 && bits <= mostHashBits)) {
    throw new UsageError(
      `hashes of ${bits} bits; expected a whole number from 1 to ${mostHashBits}`,
    );
  }
  if (!like || like.recipe?.hashBits === bits) return;
  const found = like.recipe?.hashBits;
  const trained = found === undefined ? 'names of features' : `hashes of ${found} bits`;
  throw new UsageError(`hashes of ${bits} bits; the model was trained with ${trained}`);
}

/** A new name gets the next column. */
class ListedNames implements Vocabulary {
  readonly isStrict = true;
  readonly featureNames: string[] = [];
  readonly #sources: FeatureSource[] = [];
  readonly #columns = new Map<string, number>();

  get columns(): number {
    return this.featureNames.length;
  }

  columnOf(name: string, source: FeatureSource): number {
    const known = this.#columns.get(name);
    if (known !== undefined) {
      const first = this.#sources[known];
      if (first !== source) throw new DataError(clashMessage({ name, sources: [first, source] }));
      return known;
    }
    if (this.#columns.size === mostNames) {
      throw new DataError(
        `feature ${quote(name)} is one too many: there is room for ${mostNames} names (use --hash BITS, which stores none)`,
      );
    }
    const column = this.featureNames.push(name) - 1;
    this.#sources.push(source);
    this.#columns.set(name, column);
    return column;
  }
}

/** Names of other data have the same columns as there; other names have none. */
class KnownNames implements Vocabulary {
  readonly isStrict = true;
  readonly featureNames: readonly string[];
  readonly #columns: ReadonlyMap<string, number>;
  /** By column, of those that have been met. */
  readonly #sources = new Map<number, FeatureSource>();
  /** Fields of dates, by the feature of their missing value; and those that lack one for the first time. */
  readonly #dates: ReadonlyMap<string, string>;
  readonly #undated = new Set<string>();
  #unknown: string | undefined;

  constructor(like: DatasetSchema) {
    this.featureNames = like.featureNames ?? [];
    this.#dates = new Map([...datesOf(like)].map((name) => [`${name}=?`, name]));
    this.#columns = new Map(this.featureNames.map((name, column) => [name, column]));
  }

  get columns(): number {
    return this.featureNames.length;
  }

  columnOf(name: string, source: FeatureSource): number {
    const known = this.#columns.get(name);
    if (known !== undefined) {
      const first = this.#sources.get(known) ?? source;
      if (first !== source) throw new DataError(clashMessage({ name, sources: [first, source] }));
      this.#sources.set(known, source);
      return known;
    }
    this.#unknown ??= name;
    const date = this.#dates.get(name);
    if (date !== undefined) this.#undated.add(date);
    return dropped;
  }

  notices(lost: number): string[] {
    if (lost === 0 || this.#unknown === undefined) return [];
    const values = lost === 1 ? '1 value' : `${lost} values`;
    const which = `that the training data does not have, such as ${quote(this.#unknown)}`;
    const undated = [...this.#undated].map(
      (name) =>
        `rows without a date in ${quote(name)}, which never happened in the training data: taken for 1970-01-01`,
    );
    return [`ignored ${values} of features ${which}`, ...undated];
  }
}

/** The column is a hash of the name, whatever that comes from. */
class HashedNames implements Vocabulary {
  readonly columns: number;
  readonly #bits: number;
  readonly #distinct = new DistinctCount();
  /** A bit for each column that has a name. */
  readonly #taken: Uint8Array;
  #used = 0;

  constructor(bits: number) {
    this.#bits = bits;
    this.columns = 2 ** bits;
    this.#taken = new Uint8Array(Math.ceil(this.columns / 8));
  }

  columnOf(name: string, source: FeatureSource): number {
    const column = hashedColumn(name, this.#bits);
    const bit = 1 << (column & 7);
    if ((this.#taken[column >>> 3] & bit) === 0) this.#used += 1;
    this.#taken[column >>> 3] |= bit;
    this.#distinct.add(`${source} ${name}`);
    return column;
  }

  notices(): string[] {
    const { count, exact } = this.#distinct;
    const about = exact ? '' : 'about ';
    const features = `hashed ${about}${count} features into ${this.#used} of 2^${this.#bits} columns`;
    const clashes = Math.max(0, count - this.#used);
    const share = clashes === 0 ? 'none' : `${about}${clashes}`;
    return [
      `${features}: ${share} of them ${clashes === 1 ? 'shares' : 'share'} the column of another`,
    ];
  }
}

/** What comes before a clash of names, which may have a fault of its own. */
function rowsBefore({ clash: _, further: __, ...rows }: NamedRows, clash: NameClash): NamedRows {
  return {
    ...rows,
    names: rows.names.slice(0, clash.names),
    labels: rows.labels.subarray(0, clash.rows),
    rowOffsets: rows.rowOffsets.subarray(0, clash.rows + 1),
    ordered: false,
  };
}

/** Rows up to this length are sorted while they are read. */
const shortRow = 32;

/** Gives blocks of rows, in the order of the input, their final columns and labels. */
export class Assembler {
  readonly vocabulary: Vocabulary;
  readonly #labels: LabelList;
  #lost = 0;
  #rows = 0;

  constructor(options: FieldOptions, labels: LabelList) {
    this.vocabulary = vocabularyFor(options);
    this.#labels = labels;
  }

  /** The rows with their final columns. Labels may be rewritten once more: see `LabelList`. */
  add(rows: NamedRows): DatasetPart {
    const { rowOffsets, labels, weights, names, sources, clash } = rows;
    if (clash && this.vocabulary.isStrict) {
      this.add(rowsBefore(rows, clash));
      throw new DataError(clashMessage(clash));
    }
    const columns = names.map((name, k) => this.vocabulary.columnOf(name, sources?.[k] ?? 0));
    for (const { name, source } of rows.further ?? []) this.vocabulary.columnOf(name, source);
    this.#labels.add(labels, rows.labelTexts);
    const same = rows.ordered && columns.every((column, position) => column === position);
    const entries = same ? rows : this.#remap(rows, columns);
    this.#rows += labels.length;
    const { indices, values } = entries;
    return { rowOffsets, labels, indices, values, ...(weights && { weights }) };
  }

  notices(): string[] {
    return this.vocabulary.notices?.(this.#lost) ?? [];
  }

  /** Rewrites the rows in their own buffers, which end where the entries do. */
  #remap(rows: NamedRows, columns: readonly number[]): Pick<DatasetPart, 'indices' | 'values'> {
    const { rowOffsets, indices, values } = rows;
    const table = Int32Array.from(columns);
    let end = 0;
    let from = 0;
    for (let row = 0; row + 1 < rowOffsets.length; row += 1) {
      const start = end;
      const to = rowOffsets[row + 1];
      const isShort = to - from <= shortRow;
      let irregular = !isShort;
      for (let entry = from; entry < to; entry += 1) {
        const column = table[indices[entry]];
        if (column === dropped) continue;
        const value = values[entry];
        let slot = end;
        if (isShort) {
          // What is moved has been read already: rows only get shorter.
          for (; slot > start && indices[slot - 1] > column; slot -= 1) {
            indices[slot] = indices[slot - 1];
            values[slot] = values[slot - 1];
          }
        }
        if (slot > start && indices[slot - 1] === column) irregular = true;
        indices[slot] = column;
        values[slot] = value;
        end += 1;
      }
      this.#lost += to - from - (end - start);
      if (irregular) {
        end = orderRow(indices, values, start, end, true);
        this.#checkSums(values, start, end, row);
      }
      from = to;
      rowOffsets[row + 1] = end;
    }
    if (end === indices.length) return rows;
    // Copies: views would hold on to all of the memory.
    return {
      indices: sharedInt32(indices.subarray(0, end)),
      values: sharedFloat32(values.subarray(0, end)),
    };
  }

  #checkSums(values: Float32Array, start: number, end: number, row: number): void {
    for (let entry = start; entry < end; entry += 1) {
      if (Number.isFinite(values[entry])) continue;
      throw new DataError(
        `row ${this.#rows + row + 1}: the values of one feature add up to more than 3.4e38`,
      );
    }
  }
}
