import type { Dataset } from '../../data/dataset.ts';
import { DataError } from '../../errors.ts';

/** LIBLINEAR keeps labels in a C int. */
const labelLimit = 2 ** 31;

/**
 * The labels of a classification in the order of LIBLINEAR: as rows bring them, but +1 in front of
 * -1 where these are all. Of two labels the first is the positive side.
 */
export function labelsInOrder({ name, parts, labelNames }: Dataset): number[] {
  if (labelNames) {
    const text = JSON.stringify(labelNames.find((label) => !/^[+-]?[0-9]+$/.test(label)));
    throw new DataError(`${name}: label ${text}; LIBLINEAR has whole numbers for labels`);
  }
  const found = new Set<number>();
  for (const { labels } of parts) {
    for (const label of labels) if (!found.has(label)) found.add(label);
  }
  const foreign = [...found].find(
    (label) => !Number.isInteger(label) || Math.abs(label) >= labelLimit,
  );
  if (foreign !== undefined) {
    throw new DataError(
      `${name}: label ${foreign}; wanted whole numbers (-s 11, 12 and 13 fit real labels)`,
    );
  }
  const labels = [...found];
  return labels.length === 2 && labels[0] === -1 && labels[1] === 1 ? [1, -1] : labels;
}
