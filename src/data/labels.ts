import { closest, DataError, UsageError } from '../errors.ts';
import type { Dataset } from './dataset.ts';
import { numberOf } from './fields/options.ts';

/** A label as it was written in the data. */
export type Label = number | string;

/** What the labels of a classification mean. */
export interface Classes {
  /**
   * In the order of the model's vectors: numbers ascend, texts are in the order of their code units.
   * Of two, the first is the negative class, whatever their order would be.
   */
  readonly classes: readonly Label[];
  /** A row may belong to any number of classes: its label lists them, with commas between. */
  readonly multiLabel: boolean;
}

/** More distinct labels than this are not classes. */
const mostClasses = 100_000;
const shownLabels = 3;

/** The classes of a data set with one label a row. */
export function classesOf(dataset: Dataset, positive?: Label): readonly Label[] {
  return classesFrom(countLabels(dataset), dataset, { positive }).classes;
}

export interface ClassOptions {
  readonly multiLabel?: boolean | undefined;
  /** Of two classes the positive one; default: as `orderPair` decides. */
  readonly positive?: Label | undefined;
}

/** The classes, given how often each label occurs: a number, or a position in the label names. */
export function classesFrom(
  counts: ReadonlyMap<number, number>,
  { name, labelNames }: Pick<Dataset, 'name' | 'labelNames'>,
  { multiLabel = false, positive }: ClassOptions = {},
): Classes {
  const labels = [...counts.keys()];
  if (multiLabel) {
    checkPositive(positive, []);
    return { classes: listedClasses(labels, labelNames, name), multiLabel };
  }
  const ordered = labelNames
    ? labels.sort((left, right) => (labelNames[left] < labelNames[right] ? -1 : 1))
    : labels.sort((left, right) => left - right);
  const classes = labelNames ? ordered.map((label) => labelNames[label]) : ordered;
  checkCount(classes, name);
  checkPositive(positive, classes);
  if (classes.length === 2) {
    const [first, second] = ordered.map((label) => counts.get(label)!);
    const isFirst = isFirstPositive(classes, [first, second], positive);
    return { classes: isFirst ? classes.toReversed() : classes, multiLabel };
  }
  if (!classes.every(isClassLike)) {
    throw new DataError(
      `${name}: labels ${listed(classes)} are not whole numbers; classes are two numbers, whole numbers or words (use a regression loss, as --loss square, for real-valued labels)`,
    );
  }
  return { classes, multiLabel };
}

/** Labels whose names say which of the two is meant by a yes. */
const namedPairs: Readonly<Record<string, readonly string[]>> = {
  '1': ['0', '-1'],
  true: ['false'],
  yes: ['no'],
};

const isNamed = (positive: Label, negative: Label) =>
  namedPairs[String(positive).toLowerCase()]?.includes(String(negative).toLowerCase()) ?? false;

/** Whether the names of two classes say which one is positive: 1 against 0 or −1, true, yes. */
export function areNamed([first, second]: readonly Label[]): boolean {
  return isNamed(first, second) || isNamed(second, first);
}

export function isSameLabel(left: Label, right: Label): boolean {
  if (String(left) === String(right)) return true;
  const number = numberOf(String(right));
  return !Number.isNaN(number) && String(left) === String(number);
}

/**
 * Whether the first of two classes is the positive one: the one that is asked for; else the one
 * that its name makes so; else the rarer one, of equal ones the second.
 */
export function isFirstPositive(
  [first, second]: readonly Label[],
  counts: readonly [number, number],
  positive?: Label,
): boolean {
  if (positive !== undefined) return isSameLabel(first, positive);
  if (areNamed([first, second])) return isNamed(first, second);
  return counts[0] < counts[1];
}

/** Refuses a positive class that the data does not have; only two classes have one. */
export function checkPositive(positive: Label | undefined, classes: readonly Label[]): void {
  if (positive === undefined) return;
  if (classes.length !== 2) {
    const found = classes.length === 0 ? 'rows may have several' : `there are ${classes.length}`;
    throw new UsageError(`a positive class is for two classes; ${found}`);
  }
  if (classes.some((label) => isSameLabel(label, positive))) return;
  const meant = closest(String(positive), classes.map(String));
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  throw new UsageError(
    `the positive class is ${positive}; the classes are ${classes[0]} and ${classes[1]}${hint}`,
  );
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

/** How many rows have each label, in no order; ends as soon as there are too many for classes. */
export function countLabels({ parts }: Pick<Dataset, 'parts'>): Map<number, number> {
  const counts = new Map<number, number>();
  const add = (label: number, rows: number): void => {
    if (rows > 0) counts.set(label, (counts.get(label) ?? 0) + rows);
  };
  let first = NaN;
  let second = NaN;
  let firstRows = 0;
  let secondRows = 0;
  for (const { labels } of parts) {
    for (let row = 0; row < labels.length && counts.size <= mostClasses; row += 1) {
      const label = labels[row];
      // Nearly every row repeats one of two labels: a quick comparison spares the map.
      if (label === first) firstRows += 1;
      else if (label === second) secondRows += 1;
      else {
        add(second, secondRows);
        second = first;
        secondRows = firstRows;
        first = label;
        firstRows = 1;
      }
    }
  }
  add(first, firstRows);
  add(second, secondRows);
  return counts;
}

/** The counts of several parts of the rows together. */
export function sumCounts(
  all: readonly (readonly (readonly [label: number, rows: number])[])[],
): Map<number, number> {
  const counts = new Map<number, number>();
  for (const [label, rows] of all.flat()) counts.set(label, (counts.get(label) ?? 0) + rows);
  return counts;
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
