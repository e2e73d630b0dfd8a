import type { Dataset } from '../../../../src/data/dataset.ts';

/** All rows in one piece, however the dataset is cut into parts; values as bit patterns. */
export function flat(dataset: Dataset) {
  const labels: number[] = [];
  const lengths: number[] = [];
  const indices: number[] = [];
  const bits: number[] = [];
  for (const part of dataset.parts) {
    labels.push(...part.labels);
    for (let row = 0; row < part.labels.length; row += 1) {
      lengths.push(part.rowOffsets[row + 1] - part.rowOffsets[row]);
    }
    indices.push(...part.indices);
    bits.push(...new Int32Array(part.values.buffer));
  }
  const { rows, columns, nonzeros, notices } = dataset;
  return { labels, lengths, indices, bits, rows, columns, nonzeros, notices };
}

/** Rows as [label, [index, value], …]. */
export function rowsOf(dataset: Dataset) {
  return dataset.parts.flatMap(({ labels, rowOffsets, indices, values }) =>
    Array.from(labels, (label, row) => {
      const entries = [];
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
        entries.push([indices[entry], values[entry]]);
      }
      return [label, ...entries];
    }),
  );
}
