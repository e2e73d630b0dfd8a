import {
  largestValue,
  type NamedRow,
  RowEncoder,
  rowRules,
} from '../../data/fields/row-encoder.ts';
import { orderRow } from '../../data/fields/row-order.ts';
import { DataError } from '../../errors.ts';
import { hashedColumn } from '../../math/murmur.ts';
import type { Model } from '../model.ts';

/** Values by column, counted from 0; a column that comes twice is added up. */
export interface SparseRow {
  readonly indices: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** A row to be scored: named values, sparse values, or a value for every column. */
export type Row = NamedRow | SparseRow | ArrayLike<number>;

/**
 * A row as columns and values, in memory that is used again for the next row: ascending columns,
 * values as float32, as the data of a training run has them.
 */
export class RowBuffer {
  indices: Int32Array = new Int32Array(64);
  values: Float32Array = new Float32Array(64);
  count = 0;

  readonly #columns: number;
  readonly #names: ReadonlyMap<string, number>;
  readonly #hashBits: number | undefined;
  readonly #encoder: RowEncoder;

  constructor(model: Pick<Model, 'columns' | 'featureNames' | 'recipe'>) {
    this.#columns = model.columns;
    this.#names = new Map(model.featureNames?.map((name, column) => [name, column]));
    this.#hashBits = model.recipe?.hashBits;
    this.#encoder = new RowEncoder(rowRules(model), this);
  }

  read(row: Row): void {
    this.count = 0;
    if (Object(row) !== row) {
      throw new DataError(`the row is ${JSON.stringify(row)}; expected an object`);
    }
    if (isList(row)) this.#readDense(row);
    else if (isList(row.indices) && isList(row.values)) this.#readSparse(row.indices, row.values);
    else this.#readNamed(row as NamedRow);
    this.count = orderRow(this.indices, this.values, 0, this.count, true);
  }

  column(name: string): number {
    const column = this.#names.get(name);
    if (column !== undefined) return column;
    return this.#hashBits === undefined ? -1 : hashedColumn(name, this.#hashBits);
  }

  value(column: number, value: number): void {
    if (column >= this.#columns || value === 0) return;
    if (this.count === this.indices.length) this.#grow();
    this.indices[this.count] = column;
    this.values[this.count++] = value;
  }

  #readDense(row: ArrayLike<number>): void {
    for (let column = 0; column < row.length; column++) this.#checkedValue(column, row[column]);
  }

  #readSparse(indices: ArrayLike<number>, values: ArrayLike<number>): void {
    if (indices.length !== values.length) {
      throw new DataError(`${indices.length} indices with ${values.length} values`);
    }
    for (let index = 0; index < indices.length; index++) {
      const column = indices[index];
      if (!(Number.isInteger(column) && column >= 0)) {
        throw new DataError(`the index ${column}; expected a whole number from 0`);
      }
      this.#checkedValue(column, values[index]);
    }
  }

  #readNamed(row: NamedRow): void {
    if (this.#names.size === 0 && this.#hashBits === undefined) {
      throw new DataError('the model has no feature names; expected indices and values');
    }
    this.#encoder.encode(row);
  }

  #checkedValue(column: number, value: number): void {
    if (!(Math.abs(value) <= largestValue)) {
      throw new DataError(`the value of ${column} is ${value}; expected a number below 3.4e38`);
    }
    this.value(column, value);
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
