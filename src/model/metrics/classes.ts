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

/**
 * Finds the index of a label among the classes, −1 for one that is not there. Numbers are compared
 * by value, texts as they are written; a number and a text by what they say, so that data whose
 * labels were read one way fits a model whose labels were read the other way.
 */
function finderOf(classes: readonly Label[]): (label: Label) => number {
  const texts = new Map(classes.map((label, index) => [String(label), index]));
  const numbers = new Map(classes.map((label, index) => [label, index]));
  return (label) => {
    if (typeof label === 'number') return numbers.get(label) ?? texts.get(String(label)) ?? -1;
    return texts.get(label) ?? (label.trim() === '' ? undefined : numbers.get(Number(label))) ?? -1;
  };
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
  const unknown = new Map<Label, number>();
  const indices = labels.map((label, row) => {
    const index = known ? known[label] : find(label);
    if (index < 0) note(unknown, labelNames ? labelNames[label] : label, row);
    return index;
  });
  rejectUnknown(unknown, classes, name);
  return new Int32Array(indices);
}

/** The same where a text may name several classes, separated by commas, or none. */
export function classSets(classes: readonly Label[], dataset: Dataset): ClassSets {
  const find = finderOf(classes);
  const labels = labelsOf(dataset);
  const unknown = new Map<Label, number>();
  const sets = new Map<number, readonly number[]>();
  const offsets = new Float64Array(labels.length + 1);
  for (let row = 0; row < labels.length; row++) {
    const label = labels[row];
    let indices = sets.get(label);
    if (indices === undefined) {
      const written = splitLabel(dataset.labelNames ? dataset.labelNames[label] : label);
      for (const one of written) if (find(one) < 0) note(unknown, one, row);
      indices = [...new Set(written.map(find))];
      sets.set(label, indices);
    }
    offsets[row + 1] = offsets[row] + indices.length;
  }
  rejectUnknown(unknown, classes, dataset.name);
  const indices = new Int32Array(offsets[labels.length]);
  for (let row = 0; row < labels.length; row++) indices.set(sets.get(labels[row])!, offsets[row]);
  return { offsets, indices };
}

function splitLabel(label: Label): readonly Label[] {
  if (typeof label === 'number') return [label];
  return label.split(',').flatMap((text) => text.trim() || []);
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
    throw new DataError(`${name}: row ${row + 1} has label ${found}; a regression needs numbers`);
  });
}

/** Remembers the first row of a label that the model does not know, for a few labels. */
function note(unknown: Map<Label, number>, label: Label, row: number): void {
  if (unknown.size <= shown && !unknown.has(label)) unknown.set(label, row);
}

function rejectUnknown(
  unknown: ReadonlyMap<Label, number>,
  classes: readonly Label[],
  name: string,
): void {
  if (unknown.size === 0) return;
  const [firstRow] = unknown.values();
  const found = [...unknown.keys()];
  const all = classes.length > shown ? ` (${classes.length} in all)` : '';
  throw new DataError(
    `${name}: the model does not know label${found.length > 1 ? 's' : ''} ${listed(found)} ` +
      `(first in row ${firstRow + 1}); its classes are ` +
      `${classes.length === 2 ? classes.map(quoted).join(' and ') : listed(classes)}${all}`,
  );
}

function listed(labels: readonly Label[]): string {
  const more = labels.length > shown ? ', …' : '';
  return `${labels.slice(0, shown).map(quoted).join(', ')}${more}`;
}

function quoted(label: Label): string {
  return typeof label === 'number' ? String(label) : JSON.stringify(label);
}
