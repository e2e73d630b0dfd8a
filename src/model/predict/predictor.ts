import {
  type FeatureSink,
  type FieldFeatures,
  largestValue,
  type NamedRow,
  RowEncoder,
} from '../../data/fields/row-encoder.ts';
import { orderRow } from '../../data/fields/row-order.ts';
import { rowRules } from '../../data/fields/row-rules.ts';
import { DataError, UsageError } from '../../errors.ts';
import { hashedColumn } from '../../math/murmur.ts';
import { type Label, type Model, vectorCount } from '../model.ts';
import { becomeProbabilities, givesProbabilities, labelAt, meanOf } from './predict.ts';

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
export class RowBuffer implements FeatureSink {
  indices: Int32Array = new Int32Array(64);
  values: Float32Array = new Float32Array(64);
  count = 0;

  readonly #columns: number;
  readonly #names: ReadonlyMap<string, number>;
  readonly #hashBits: number | undefined;
  readonly #encoder: RowEncoder;
  readonly #warnings: string[] = [];
  #furtherWarnings = 0;
  #prefixes: { categories: ReadonlySet<string>; parts: ReadonlySet<string> } | undefined;

  constructor(model: Pick<Model, 'columns' | 'featureNames' | 'recipe'>) {
    this.#columns = model.columns;
    this.#names = new Map(model.featureNames?.map((name, column) => [name, column]));
    this.#hashBits = model.recipe?.hashBits;
    this.#encoder = new RowEncoder(rowRules(model), this);
  }

  /** What the model could not use of the last row. */
  get warnings(): readonly string[] {
    if (this.#furtherWarnings === 0) return [...this.#warnings];
    return [...this.#warnings, `and ${this.#furtherWarnings} more of this kind`];
  }

  read(row: Row): void {
    this.count = 0;
    this.#warnings.length = 0;
    this.#furtherWarnings = 0;
    if (Object(row) !== row) {
      throw new DataError(`the row is ${JSON.stringify(row)}; expected an object`);
    }
    if (isList(row)) this.#readValues(row);
    else if (isList(row.indices) && isList(row.values)) this.#readValues(row.values, row.indices);
    else if (this.#names.size > 0 || this.#hashBits !== undefined)
      this.#encoder.encode(row as NamedRow);
    else throw new DataError('the model has no feature names; expected indices and values');
    this.count = orderRow(this.indices, this.values, 0, this.count, true);
  }

  column(name: string): number {
    const column = this.#names.get(name);
    if (column !== undefined) return column;
    return this.#hashBits === undefined ? -1 : hashedColumn(name, this.#hashBits);
  }

  warn(text: string): void {
    if (this.#warnings.length < mostWarnings) this.#warnings.push(text);
    else this.#furtherWarnings++;
  }

  featuresOf(name: string): FieldFeatures {
    if (this.#hashBits !== undefined) return allFeatures;
    this.#prefixes ??= prefixesOf(this.#names.keys());
    const { categories, parts } = this.#prefixes;
    return {
      number: this.#names.has(name),
      categories: categories.has(name),
      parts: parts.has(name),
    };
  }

  value(column: number, value: number): void {
    if (column >= this.#columns || value === 0) return;
    if (this.count === this.indices.length) this.#grow();
    this.indices[this.count] = column;
    this.values[this.count++] = value;
  }

  /** Without indices there is a value for every column. */
  #readValues(values: ArrayLike<number>, indices?: ArrayLike<number>): void {
    if (indices && indices.length !== values.length) {
      throw new DataError(`${indices.length} indices with ${values.length} values`);
    }
    if (!indices && values.length < this.#columns) {
      this.warn(`the list has ${values.length} of ${this.#columns} values`);
    }
    for (let entry = 0; entry < values.length; entry++) {
      const column = indices ? indices[entry] : entry;
      const value = values[entry];
      if (!(Number.isInteger(column) && column >= 0)) {
        throw new DataError(`the index ${column}; expected a whole number from 0`);
      }
      if (!(Math.abs(value) <= largestValue)) {
        throw new DataError(`the value of ${column} is ${value}; expected a number below 3.4e38`);
      }
      if (column >= this.#columns && value !== 0) {
        this.warn(`the index ${column}: the model has ${this.#columns} columns`);
      }
      this.value(column, value);
    }
  }

  #grow(): void {
    const { indices, values } = this;
    this.indices = new Int32Array(2 * indices.length);
    this.values = new Float32Array(2 * values.length);
    this.indices.set(indices);
    this.values.set(values);
  }
}

const mostWarnings = 10;
/** Hashes have a column for every name. */
const allFeatures: FieldFeatures = { number: true, categories: true, parts: true };

/** Fields of features such as `city=Paris`, and of those such as `sizes[0]` or `place.height`. */
function prefixesOf(names: Iterable<string>) {
  const categories = new Set<string>();
  const parts = new Set<string>();
  for (const name of names) {
    for (const { 0: mark, index } of name.matchAll(/[=.[]/g)) {
      if (mark !== '=') parts.add(name.slice(0, index));
      else if (name.slice(index) !== '=?') categories.add(name.slice(0, index));
    }
  }
  return { categories, parts };
}

function isList(row: unknown): row is ArrayLike<number> {
  return Array.isArray(row) || ArrayBuffer.isView(row);
}

/** What scores and predictions depend on. */
export type ScoringModel = Pick<
  Model,
  | 'task'
  | 'loss'
  | 'classes'
  | 'multiLabel'
  | 'columns'
  | 'weights'
  | 'intercepts'
  | 'recipe'
  | 'featureNames'
  | 'unitRows'
  | 'calibration'
  | 'threshold'
>;

export interface PredictorOptions {
  /** Whether to refuse rows that have warnings; default false. */
  readonly strict?: boolean;
}

/**
 * Scores rows one at a time, with the bits that `predict` of the library has for a data set of the
 * same rows. It works in buffers of its own, so a row costs no more memory than its result.
 */
export class Predictor {
  readonly task: Model['task'];
  /** In the order of scores and probabilities; undefined in regression. */
  readonly classes: readonly Label[] | undefined;
  readonly columns: number;
  /** Whether `probabilities` has an answer. */
  readonly givesProbabilities: boolean;
  readonly #strict: boolean;
  readonly #model: ScoringModel;
  readonly #buffer: RowBuffer;
  readonly #scores: Float64Array;

  constructor(model: ScoringModel, { strict = false }: PredictorOptions = {}) {
    this.#strict = strict;
    this.task = model.task;
    this.classes = model.classes;
    this.columns = model.columns;
    this.givesProbabilities = givesProbabilities(model);
    this.#model = model;
    this.#buffer = new RowBuffer(model);
    this.#scores = new Float64Array(vectorCount(model));
  }

  /**
   * What the model could not use of the last row: fields and categories that the training data does
   * not have, and missing values where it had none.
   */
  get warnings(): readonly string[] {
    return this.#buffer.warnings;
  }

  /** u = ⟨w, x⟩ + b, of a model with one vector of weights: two classes, or regression. */
  score(row: Row): number {
    if (this.#scores.length > 1) {
      throw new UsageError(`a row has ${this.#scores.length} scores; call scores(row)`);
    }
    return this.#score(row)[0];
  }

  /** The scores of all vectors of weights: one per class, or a single one as `score` has it. */
  scores(row: Row): number[] {
    return [...this.#score(row)];
  }

  /**
   * The class, or in regression the value. Of a model that gives several labels: all classes of the
   * row, separated by commas.
   */
  predict(row: Row): Label {
    const scores = this.#score(row);
    return this.classes
      ? labelAt(this.#model, this.classes, scores, 0)
      : meanOf(this.#model, scores[0]);
  }

  /** By class; of one label they sum to 1. */
  probabilities(row: Row): number[] {
    if (!this.givesProbabilities) {
      throw new UsageError('probabilities need the logistic loss, or a calibrated model');
    }
    const scores = this.#score(row);
    becomeProbabilities(this.#model, scores);
    if (scores.length > 1 || this.#model.multiLabel) return [...scores];
    return [1 - scores[0], scores[0]];
  }

  /** The same operations in the same order as in score.ts: the bits are the same. */
  #score(row: Row): Float64Array {
    const buffer = this.#buffer;
    buffer.read(row);
    if (this.#strict && buffer.warnings.length > 0) throw new DataError(buffer.warnings.join('; '));
    const { indices, values, count } = buffer;
    const { weights, intercepts, columns, unitRows } = this.#model;
    const scores = this.#scores;
    let length = 1;
    if (unitRows) {
      let square = 0;
      for (let entry = 0; entry < count; entry++) square += values[entry] * values[entry];
      if (square > 0) length = Math.sqrt(square);
    }
    for (let vector = 0; vector < scores.length; vector++) {
      const first = vector * columns;
      let sum = 0;
      for (let entry = 0; entry < count; entry++) {
        sum += weights[first + indices[entry]] * values[entry];
      }
      const score = sum / length + intercepts[vector];
      if (!Number.isFinite(score)) {
        throw new DataError(`the score is ${score}: values times weights overflow`);
      }
      scores[vector] = score;
    }
    return scores;
  }
}
