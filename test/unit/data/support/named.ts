import type { Dataset } from '../../../../src/data/dataset.ts';

/** The rows as names and values. */
export function namesAndValues({ parts, featureNames = [] }: Dataset): Record<string, number>[] {
  return parts.flatMap(({ labels, rowOffsets, indices, values }) =>
    Array.from(labels, (_, row) => {
      const named: Record<string, number> = {};
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
        named[featureNames[indices[entry]]] = values[entry];
      }
      return named;
    }),
  );
}

/** The labels, as texts where they are such. */
export function labelsOf({ parts, labelNames }: Dataset): (number | string)[] {
  const labels = parts.flatMap((part) => [...part.labels]);
  return labelNames ? labels.map((label) => labelNames[label]) : labels;
}

/** The weights of all rows. */
export function weightsOf({ parts }: Dataset): number[] {
  return parts.flatMap(({ labels, weights }) => [...(weights ?? labels.map(() => 1))]);
}
