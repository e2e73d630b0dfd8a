import type { Dataset } from '../../data/dataset.ts';
import { DataError } from '../../errors.ts';
import type { Label } from '../model.ts';

/** How many labels or classes a message names. */
const shown = 5;

/** The classes of rows, of any number each: those of row i are `indices[offsets[i] … ]`. */
export interface ClassSets {
  readonly offsets: Float64Array;
  readonly indices: Int32Array;
}

/** Where a label is among the classes; −1 for one that is not. */
type Finder = (label: Label) => number;

/**
 * Numbers are compared by value, texts as they are written; a number and a text by what they say,
 * so that data whose labels were read one way fits a model whose labels were read the other way.
 */
function finderOf(classes: readonly Label[]): Finder {
  const texts = new Map(classes.map((label, index) => [String(label), index]));
  const numbers = new Map<number, number>();
  for (const [index, label] of classes.entries()) {
    if (typeof label === 'number') numbers.set(label, index);
  }
  return (label) => {
    const direct = typeof label === 'number' ? numbers.get(label) : texts.get(label);
    if (direct !== undefined) return direct;
    const other = typeof label === 'number' ? texts.get(String(label)) : numberIn(label, numbers);
    return other ?? -1;
  };
}

function numberIn(text: string, numbers: ReadonlyMap<number, number>): number | undefined {
  return text.trim() === '' ? undefined : numbers.get(Number(text));
}

/** The labels of all rows, in input order: numbers, or indices into `labelNames`. */
export function labelsOf(dataset: Dataset): Float64Array {
  const labels = new Float64Array(dataset.rows);
  let row = 0;
  for (const part of dataset.parts) {
    labels.set(part.labels, row);
    row += part.labels.length;
  }
  return labels;
}

/** The index of each row's class; throws a DataError for labels the model does not know. */
export function classIndices(
  classes: readonly Label[],
  { labelNames, name }: Pick<Dataset, 'labelNames' | 'name'>,
  labels: Float64Array,
): Int32Array {
  const find = finderOf(classes);
  const known = labelNames?.map(find);
  const foreign = new ForeignLabels(classes, name);
  const indices = new Int32Array(labels.length);
  for (let row = 0; row < labels.length; row++) {
    const label = labels[row];
    indices[row] = known ? known[label] : find(label);
    if (indices[row] < 0) foreign.add(labelNames ? labelNames[label] : label, row);
  }
  foreign.refuse();
  return indices;
}

/** The same where a text may name several classes, separated by commas, or none. */
export function classSets(classes: readonly Label[], dataset: Dataset): ClassSets {
  const find = finderOf(classes);
  const labels = labelsOf(dataset);
  const foreign = new ForeignLabels(classes, dataset.name);
  const sets = new Map<number, readonly number[]>();
  const offsets = new Float64Array(labels.length + 1);
  for (let row = 0; row < labels.length; row++) {
    const label = labels[row];
    let indices = sets.get(label);
    if (indices === undefined) {
      const written = splitLabel(dataset.labelNames ? dataset.labelNames[label] : label);
      for (const one of written) if (find(one) < 0) foreign.add(one, row);
      indices = [...new Set(written.map(find))];
      sets.set(label, indices);
    }
    offsets[row + 1] = offsets[row] + indices.length;
  }
  foreign.refuse();
  const indices = new Int32Array(offsets[labels.length]);
  for (let row = 0; row < labels.length; row++) indices.set(sets.get(labels[row])!, offsets[row]);
  return { offsets, indices };
}

function splitLabel(label: Label): readonly Label[] {
  if (typeof label === 'number') return [label];
  return label
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** Labels as numbers, for regression. */
export function labelNumbers(dataset: Dataset): Float64Array {
  const labels = labelsOf(dataset);
  const { labelNames, name } = dataset;
  if (labelNames === undefined) return labels;
  const numbers = labelNames.map((text) => (text.trim() === '' ? NaN : Number(text)));
  return labels.map((label, row) => {
    if (Number.isFinite(numbers[label])) return numbers[label];
    const found = JSON.stringify(labelNames[label]);
    throw new DataError(`${name}: row ${row + 1} has label ${found}; a regression wants numbers`);
  });
}

/** Labels that the model does not know, for one message about all of them. */
class ForeignLabels {
  readonly #classes: readonly Label[];
  readonly #name: string;
  readonly #found = new Set<Label>();
  #firstRow = 0;

  constructor(classes: readonly Label[], name: string) {
    this.#classes = classes;
    this.#name = name;
  }

  add(label: Label, row: number): void {
    if (this.#found.size === 0) this.#firstRow = row + 1;
    if (this.#found.size <= shown) this.#found.add(label);
  }

  refuse(): void {
    const count = this.#found.size;
    if (count === 0) return;
    const names = [...this.#found].slice(0, shown).map(quoted).join(', ');
    const more = count > shown ? ', …' : '';
    throw new DataError(
      `${this.#name}: the model does not know label${count > 1 ? 's' : ''} ${names}${more} ` +
        `(first in row ${this.#firstRow}); its classes are ${listed(this.#classes)}`,
    );
  }
}

function listed(classes: readonly Label[]): string {
  if (classes.length === 2) return classes.map(quoted).join(' and ');
  const more = classes.length > shown ? `, … (${classes.length} in all)` : '';
  return `${classes.slice(0, shown).map(quoted).join(', ')}${more}`;
}

function quoted(label: Label): string {
  return typeof label === 'number' ? String(label) : JSON.stringify(label);
}
