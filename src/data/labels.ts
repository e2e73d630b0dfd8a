import { DataError } from '../errors.ts';
import type { Dataset } from './dataset.ts';

/** A label as it was written in the data. */
export type Label = number | string;

/** What the labels of a classification mean. */
export interface Classes {
  /**
   * In the order of the model's vectors: numbers ascend, texts are in the order of their code units.
   * Of two, the first is the negative class.
   */
  readonly classes: readonly Label[];
  /** A row may belong to any number of classes: its label lists them, with commas between. */
  readonly multiLabel: boolean;
}

/** More distinct labels than this are not classes. */
const mostClasses = 100_000;
const shownLabels = 3;

/** The classes of a data set with one label a row. */
export function classesOf(dataset: Dataset): readonly Label[] {
  return classesFrom(distinctLabels(dataset), dataset, false).classes;
}

/** The classes, given the distinct labels of the data: numbers, or positions in the label names. */
export function classesFrom(
  labels: readonly number[],
  { name, labelNames }: Pick<Dataset, 'name' | 'labelNames'>,
  multiLabel: boolean,
): Classes {
  if (multiLabel) return { classes: listedClasses(labels, labelNames, name), multiLabel };
  const classes = labelNames
    ? labels.map((label) => labelNames[label]).sort()
    : [...labels].sort((left, right) => left - right);
  checkCount(classes, name);
  if (classes.length > 2 && !classes.every(isClassLike)) {
    throw new DataError(
      `${name}: labels ${listed(classes)} are not whole numbers; classes are two numbers, whole numbers or words (use a regression loss, as --loss square, for real-valued labels)`,
    );
  }
  return { classes, multiLabel };
}

const isClassLike = (label: Label) => typeof label === 'string' || Number.isInteger(label);

function checkCount(classes: readonly Label[], name: string): void {
  if (classes.length < 2) {
    const label = classes.length === 0 ? 'no labels' : `all labels are ${classes[0]}`;
    throw new DataError(`${name}: ${label}; classification needs at least two classes`);
  }
  if (classes.length > mostClasses) {
    throw new DataError(
      `${name}: labels ${listed(classes)} (more than ${mostClasses} classes); use a regression loss, as --loss square, for real-valued labels`,
    );
  }
}

function listed(classes: readonly Label[]): string {
  const more = classes.length > shownLabels ? ', …' : '';
  return `${classes.slice(0, shownLabels).join(', ')}${more}`;
}

/** The labels that a text lists; none for the empty one. */
function labelsIn(text: string): string[] {
  return text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
}

/** The classes that rows list, numbers where all of them are. */
function listedClasses(
  labels: readonly number[],
  labelNames: readonly string[] | undefined,
  name: string,
): readonly Label[] {
  const texts = labelNames
    ? labels.flatMap((label) => labelsIn(labelNames[label]))
    : labels.map(String);
  const distinct = [...new Set(texts)].sort();
  if (distinct.length === 0) throw new DataError(`${name}: no row has a label`);
  const numbers = distinct.map(Number);
  if (!numbers.every(Number.isFinite)) return distinct;
  return [...new Set(numbers)].sort((left, right) => left - right);
}

/** In no order; the search ends as soon as there are too many for classes. */
export function distinctLabels(dataset: Dataset): number[] {
  const found = new Set<number>();
  let first = NaN;
  let second = NaN;
  for (const { labels } of dataset.parts) {
    for (let row = 0; row < labels.length && found.size <= mostClasses; row += 1) {
      const label = labels[row];
      // Nearly every row repeats one of two labels: a quick comparison spares the set.
      if (label === first || label === second) continue;
      second = first;
      first = label;
      found.add(label);
    }
  }
  return [...found];
}

/** Words cannot be fitted by a loss for numbers. */
export function checkNumbers({ name, labelNames, parts }: Dataset, loss: string): void {
  const [first] = parts;
  if (!labelNames || !first) return;
  const word = labelNames.find((text) => text.trim() === '' || !Number.isFinite(Number(text)));
  throw new DataError(
    `${name}: ${word === undefined ? 'labels are texts' : `label ${JSON.stringify(word)} is not a number`}; the ${loss} loss is for numbers (hinge and logistic are for classes)`,
  );
}

/** What the solvers fit: for each vector of a model one number per row, in the order of the rows. */
export interface Targets {
  /** -1 or +1 by class, or in regression the labels themselves; in memory that threads share. */
  of(vector: number): Float64Array;
  /** The class of each row; absent in regression, or where rows have several classes. */
  readonly codes?: Int32Array;
}

/** Without classes (regression) the labels themselves are fitted. `firstRow` is for messages. */
export function targetsOf(dataset: Dataset, classes: Classes | undefined, firstRow = 0): Targets {
  if (!classes) {
    const labels = joinedLabels(dataset);
    return { of: () => labels };
  }
  const encoder = new LabelEncoder(dataset, classes, firstRow);
  const codes = new Int32Array(dataset.rows);
  let row = 0;
  for (const { labels } of dataset.parts) {
    for (let local = 0; local < labels.length; local += 1) {
      codes[row] = encoder.codeOf(labels[local], row);
      row += 1;
    }
  }
  return {
    of: (vector) => encoder.signs(codes, vector),
    ...(!classes.multiLabel && { codes }),
  };
}

function joinedLabels(dataset: Dataset): Float64Array {
  const all = sharedNumbers(dataset.rows);
  let row = 0;
  for (const { labels } of dataset.parts) {
    all.set(labels, row);
    row += labels.length;
  }
  return all;
}

function sharedNumbers(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}

/** Gives every distinct label a code, and knows which classes it means. */
class LabelEncoder {
  readonly #dataset: Dataset;
  readonly #classes: Classes;
  readonly #firstRow: number;
  readonly #indices: ReadonlyMap<string, number>;
  readonly #codes = new Map<number, number>();
  /** By code: the classes of the rows that have it. */
  readonly #members: (readonly number[])[] = [];

  constructor(dataset: Dataset, classes: Classes, firstRow: number) {
    this.#dataset = dataset;
    this.#classes = classes;
    this.#firstRow = firstRow;
    this.#indices = new Map(classes.classes.map((label, index) => [String(label), index]));
    // A class is its own code.
    if (!classes.multiLabel) this.#members = classes.classes.map((_, index) => [index]);
  }

  codeOf(label: number, row: number): number {
    const known = this.#codes.get(label);
    if (known !== undefined) return known;
    const { labelNames } = this.#dataset;
    const text = labelNames ? labelNames[label] : String(label);
    const code = this.#classes.multiLabel
      ? this.#members.push(labelsIn(text).map((one) => this.#classOf(one, row))) - 1
      : this.#classOf(text, row);
    this.#codes.set(label, code);
    return code;
  }

  #classOf(text: string, row: number): number {
    const index = this.#indices.get(text) ?? this.#indices.get(String(Number(text)));
    if (index !== undefined) return index;
    const { classes } = this.#classes;
    const known =
      classes.length === 2 ? `${classes[0]} or ${classes[1]}` : `one of ${listed(classes)}`;
    throw new DataError(
      `${this.#dataset.name}: row ${this.#firstRow + row + 1} has label ${text}; expected ${known}, as in the training data`,
    );
  }

  /** +1 for the rows of a vector's class, -1 for all others. */
  signs(codes: Int32Array, vector: number): Float64Array {
    const { classes, multiLabel } = this.#classes;
    const positive = classes.length === 2 && !multiLabel ? 1 : vector;
    const sign = Float64Array.from(this.#members, (some) => (some.includes(positive) ? 1 : -1));
    const all = sharedNumbers(codes.length);
    for (let row = 0; row < codes.length; row += 1) all[row] = sign[codes[row]];
    return all;
  }
}
