import { orderRow } from '../data/fields/row-order.ts';
import type { Recipe, RecipeField } from '../data/recipe.ts';
import { DataError } from '../errors.ts';
import { hashedColumn } from '../math/murmur.ts';

/** Values by column, counted from 0; a column that comes twice is added up. */
export interface SparseRow {
  readonly indices: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** A value of a named row; null is a missing one. */
export type NamedValue =
  | number
  | string
  | boolean
  | null
  | undefined
  | readonly NamedValue[]
  | { readonly [name: string]: NamedValue };

/** Values by field, as in the training data, or by the name of the feature. */
export type NamedRow = Readonly<Record<string, NamedValue>>;

/** A row to be scored: named values, sparse values, or a value for every column. */
export type Row = NamedRow | SparseRow | ArrayLike<number>;

/** What the columns of a model mean. */
export interface Columns {
  readonly columns: number;
  readonly featureNames?: readonly string[];
  readonly recipe?: Recipe;
}

const largestValue = 3.4028234663852886e38;
const decimal = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;
/** Texts that mean a missing value, as in tables. */
const missingTexts = ['', 'NA', 'N/A', 'NaN', 'null', 'NULL', '?'];
/** Objects inside objects end here, as in JSON lines. */
const deepest = 32;
/** So many hashed names are remembered, and none that is longer: memory is bounded by that. */
const rememberedNames = 1 << 16;
const rememberedLength = 100;

/**
 * Turns a row into columns and values, in buffers that are used again for the next row: ascending
 * columns, values as float32, as the data of a training run has them.
 */
export class RowReader {
  indices: Int32Array = new Int32Array(64);
  values: Float32Array = new Float32Array(64);
  count = 0;

  readonly #columns: number;
  readonly #places: Map<string, number>;
  readonly #hashBits: number | undefined;
  readonly #kinds: ReadonlyMap<string, RecipeField['kind']>;
  /** Tables name all of their fields, and what else there is means nothing. */
  readonly #closed: boolean;
  readonly #missing: NonNullable<Recipe['missing']>;
  readonly #absent: ReadonlySet<string>;

  constructor({ columns, featureNames, recipe }: Columns) {
    this.#columns = columns;
    this.#places = new Map(featureNames?.map((name, column) => [name, column]));
    this.#hashBits = recipe?.hashBits;
    this.#kinds = new Map(recipe?.fields?.map(({ name, kind }) => [name, kind]));
    this.#closed = this.#hashBits !== undefined && [...this.#kinds.values()].includes('number');
    this.#missing = recipe?.missing ?? 'indicator';
    this.#absent = new Set([...missingTexts, ...(recipe?.missingValues ?? [])]);
  }

  read(row: Row): void {
    this.count = 0;
    if (Object(row) !== row)
      throw new DataError(`the row is ${JSON.stringify(row)}; wanted an object`);
    if (isList(row)) this.#readDense(row);
    else if (isList(row.indices) && isList(row.values)) this.#readSparse(row.indices, row.values);
    else this.#readNamed(row as NamedRow);
    this.count = orderRow(this.indices, this.values, 0, this.count, true);
  }

  #readDense(row: ArrayLike<number>): void {
    for (let column = 0; column < row.length; column++) this.#add(column, row[column], column);
  }

  #readSparse(indices: ArrayLike<number>, values: ArrayLike<number>): void {
    if (indices.length !== values.length) {
      throw new DataError(`${indices.length} indices with ${values.length} values`);
    }
    for (let entry = 0; entry < indices.length; entry++) {
      const column = indices[entry];
      if (!(Number.isInteger(column) && column >= 0)) {
        throw new DataError(`the index ${column}; wanted a whole number from 0`);
      }
      this.#add(column, values[entry], column);
    }
  }

  #readNamed(row: NamedRow): void {
    if (this.#places.size === 0 && this.#hashBits === undefined) {
      throw new DataError('the model has no names of features; wanted indices');
    }
    this.#addObject(row, '', 0);
  }

  /** Names as in JSON lines: `address.city` inside `address`; those of `features` stand alone. */
  #addObject(object: NamedRow, prefix: string, depth: number): void {
    for (const key in object) {
      const value = object[key];
      if (depth === 0 && key === 'features' && isObject(value)) {
        this.#addObject(value, '', depth + 1);
      } else this.#addValue(value, prefix === '' ? key : `${prefix}.${key}`, depth);
    }
  }

  #addValue(value: NamedValue, name: string, depth: number): void {
    if (depth > deepest) throw new DataError(`nested deeper than ${deepest} levels`);
    const kind = this.#kinds.get(name);
    const category = kind === 'category';
    if (kind === undefined ? this.#closed : !category && kind !== 'number') return;
    if (this.#isMissing(value, name, kind)) this.#addMissing(name);
    else if (isArray(value)) {
      value.forEach((item, place) => {
        if (typeof item === 'string' || (category && typeof item === 'number')) {
          this.#addCategory(name, item);
        } else this.#addValue(item, `${name}[${place}]`, depth + 1);
      });
    } else if (typeof value === 'object') this.#addObject(value, name, depth + 1);
    else if (category || (kind === undefined && typeof value === 'string')) {
      this.#addCategory(name, value);
    } else {
      const isNumber = typeof value !== 'string' || decimal.test(value);
      this.#add(this.#columnOf(name), isNumber ? Number(value) : NaN, name);
    }
  }

  /** In fields of tables some texts mean that a value is missing, unless they are known ones. */
  #isMissing(
    value: NamedValue,
    name: string,
    kind: RecipeField['kind'] | undefined,
  ): value is null | undefined {
    if (typeof value === 'number') return this.#absent.has(String(value));
    if (typeof value !== 'string') return value == null;
    if (kind === undefined || !this.#absent.has(value.trim())) return false;
    return value === '?' || this.#hashBits !== undefined || !this.#places.has(`${name}=${value}`);
  }

  #addMissing(name: string): void {
    if (this.#missing === 'error') throw new DataError(`${name} has no value; wanted one`);
    if (this.#missing === 'indicator') this.#addCategory(name, '?');
  }

  #addCategory(name: string, value: number | string | boolean): void {
    this.#add(this.#columnOf(`${name}=${value}`), 1, name);
  }

  /** −1 for a name that has no column. */
  #columnOf(name: string): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    if (this.#hashBits === undefined) return -1;
    const column = hashedColumn(name, this.#hashBits);
    if (name.length > rememberedLength) return column;
    if (this.#places.size >= rememberedNames) this.#places.clear();
    this.#places.set(name, column);
    return column;
  }

  #add(column: number, value: number, name: string | number): void {
    if (!(Math.abs(value) <= largestValue)) {
      throw new DataError(`the value of ${name} is ${value}; wanted a number below 3.4e38`);
    }
    if (column < 0 || column >= this.#columns || value === 0) return;
    if (this.count === this.indices.length) this.#grow();
    this.indices[this.count] = column;
    this.values[this.count++] = value;
  }

  #grow(): void {
    const { indices, values } = this;
    this.indices = new Int32Array(2 * indices.length);
    this.values = new Float32Array(2 * values.length);
    this.indices.set(indices);
    this.values.set(values);
  }
}

function isList(row: unknown): row is ArrayLike<number> {
  return Array.isArray(row) || ArrayBuffer.isView(row);
}

function isArray(value: NamedValue): value is readonly NamedValue[] {
  return Array.isArray(value);
}

function isObject(value: NamedValue): value is NamedRow {
  return typeof value === 'object' && value !== null && !isArray(value);
}
