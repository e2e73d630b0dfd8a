import { DataError } from '../errors.ts';
import type { Dataset } from './dataset.ts';

/** How many distinct labels a complaint looks for before it says "more than". */
const countedLabels = 1000;
const shownLabels = 3;

/** So many distinct labels are enough to say that there are too many. */
export const enoughLabels = countedLabels + 1;

/** The two labels of a classification problem, the negative class (the smaller one) first. */
export function classesOf(dataset: Dataset): readonly [number, number] {
  return classesFrom(distinctLabels(dataset, enoughLabels), dataset.name);
}

/** The same, given the distinct labels of the data. */
export function classesFrom(labels: readonly number[], name: string): readonly [number, number] {
  const found = [...labels].sort((left, right) => left - right);
  if (found.length === 2) return [found[0], found[1]];
  if (found.length < 2) {
    const label = found.length === 0 ? 'no labels' : `all labels are ${found[0]}`;
    throw new DataError(`${name}: ${label}; binary classification wants exactly two`);
  }
  const shown = found.slice(0, shownLabels).join(', ');
  const more = found.length > shownLabels ? ', …' : '';
  const count = found.length > countedLabels ? `more than ${countedLabels}` : `${found.length}`;
  throw new DataError(
    `${name}: labels ${shown}${more} (${count} classes); binary classification wants ` +
      'exactly two (use a regression loss for real-valued labels)',
  );
}

/** In no order; the search ends with the row that brings the `limit`-th. */
export function distinctLabels(dataset: Dataset, limit: number): number[] {
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
  return [...found];
}

/**
 * What the solvers fit, one number per row in the order of the rows: -1 or +1 by class, or with
 * no classes (regression) the labels themselves. `firstRow` is for messages.
 */
export function targets(
  dataset: Dataset,
  task: 'classification' | 'regression',
  classes?: readonly [number, number],
  firstRow = 0,
): Float64Array {
  const bytes = dataset.rows * Float64Array.BYTES_PER_ELEMENT;
  const all = new Float64Array(new SharedArrayBuffer(bytes));
  let row = 0;
  for (const { labels } of dataset.parts) {
    all.set(labels, row);
    row += labels.length;
  }
  if (task === 'classification') {
    replaceLabels(all, classes ?? classesOf(dataset), dataset.name, firstRow);
  }
  return all;
}

function replaceLabels(
  labels: Float64Array,
  [negative, positive]: readonly [number, number],
  name: string,
  firstRow: number,
): void {
  for (let row = 0; row < labels.length; row += 1) {
    const label = labels[row];
    if (label !== negative && label !== positive) {
      const wanted = `${negative} or ${positive}, as in the training data`;
      throw new DataError(
        `${name}: row ${firstRow + row + 1} has label ${label}; expected ${wanted}`,
      );
    }
    labels[row] = label === positive ? 1 : -1;
  }
}
