import { DataError } from '../errors.ts';
import type { Dataset } from './dataset.ts';

/** How many distinct labels a complaint looks for before it says "more than". */
const countedLabels = 1000;
const shownLabels = 3;

/** The two labels of a classification problem, the negative class (the smaller one) first. */
export function classesOf(dataset: Dataset): readonly [number, number] {
  const found = distinctLabels(dataset, 3);
  if (found.length === 2) return [found[0], found[1]];
  if (found.length < 2) {
    const label = found.length === 0 ? 'no labels' : `all labels are ${found[0]}`;
    throw new DataError(`${dataset.name}: ${label}; binary classification wants exactly two`);
  }
  const all = distinctLabels(dataset, countedLabels + 1);
  const shown = all.slice(0, shownLabels).join(', ');
  const more = all.length > shownLabels ? ', …' : '';
  const count = all.length > countedLabels ? `more than ${countedLabels}` : `${all.length}`;
  throw new DataError(
    `${dataset.name}: labels ${shown}${more} (${count} classes); binary classification wants ` +
      'exactly two (use a regression loss for real-valued labels)',
  );
}

/** Ascending; the search ends with the row that brings the `limit`-th. */
function distinctLabels(dataset: Dataset, limit: number): number[] {
  const found = new Set<number>();
  let first = NaN;
  let second = NaN;
  for (const { labels } of dataset.parts) {
    for (let row = 0; row < labels.length && found.size < limit; row += 1) {
      const label = labels[row];
      // Nearly every row repeats one of two labels: those do not trouble the set.
      if (label === first || label === second) continue;
      second = first;
      first = label;
      found.add(label);
    }
  }
  return [...found].sort((left, right) => left - right);
}

/**
 * What the solvers fit, one number per row in the order of the rows: -1 or +1 by class, or with
 * no classes (regression) the labels themselves.
 */
export function targets(
  dataset: Dataset,
  task: 'classification' | 'regression',
  classes?: readonly [number, number],
): Float64Array {
  const bytes = dataset.rows * Float64Array.BYTES_PER_ELEMENT;
  const all = new Float64Array(new SharedArrayBuffer(bytes));
  let row = 0;
  for (const { labels } of dataset.parts) {
    all.set(labels, row);
    row += labels.length;
  }
  if (task === 'classification') replaceLabels(all, classes ?? classesOf(dataset), dataset.name);
  return all;
}

function replaceLabels(
  labels: Float64Array,
  [negative, positive]: readonly [number, number],
  name: string,
): void {
  for (let row = 0; row < labels.length; row += 1) {
    const label = labels[row];
    if (label !== negative && label !== positive) {
      const wanted = `${negative} or ${positive}, as in the training data`;
      throw new DataError(`${name}: row ${row + 1} has label ${label}; expected ${wanted}`);
    }
    labels[row] = label === positive ? 1 : -1;
  }
}
